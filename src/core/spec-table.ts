import type { TaskSpec } from '../model/index.js';
import { specRecord, type SpecRecord } from './records.js';

/** So many specs are remembered: a map of a million would stop everything each time it grows. */
const REMEMBERED = 65_536;

/**
 * Specs by content: thousands of tasks may share one, also when each has come with a copy of its own. Where there are very
 * many, one may be recorded again after a while.
 */
export class SpecTable {
  readonly records: SpecRecord[] = [];
  private readonly bySpec = new Map<TaskSpec, number>();
  private readonly byContent = new Map<string, number>();
  private taken = 0;

  indexOf(spec: TaskSpec): number {
    let index = this.bySpec.get(spec);
    if (index !== undefined) return index;
    const record = specRecord(spec);
    const content = JSON.stringify(record);
    index = this.byContent.get(content);
    if (index === undefined) {
      index = this.records.push(record) - 1;
      // Both at once, so that it follows from the contents alone what is recorded again, also after a restart.
      if (this.byContent.size === REMEMBERED) {
        this.byContent.clear();
        this.bySpec.clear();
      }
      this.byContent.set(content, index);
    }
    if (this.bySpec.size === REMEMBERED) this.bySpec.clear();
    this.bySpec.set(spec, index);
    return index;
  }

  /** Those that came since the last time. */
  takeNew(): readonly SpecRecord[] {
    const fresh = this.records.slice(this.taken);
    this.taken = this.records.length;
    return fresh;
  }
}
