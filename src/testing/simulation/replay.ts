import { Core, type CoreSnapshot } from '../../core/index.js';
import type { Fact } from '../../model/index.js';
import type { Note } from '../../runtime/recovery.js';

/** What a record of a journal says. */
export function entriesOf(body: string): readonly (Fact | Note)[] {
  return (JSON.parse(body) as unknown[]).slice(1) as (Fact | Note)[];
}

/** Lets a journal, or what came after a snapshot, happen again in a core of its own. */
export class Replay {
  /** `undefined` as long as nothing says how it begins. */
  core: Core | undefined = undefined;

  constructor(snapshot?: CoreSnapshot) {
    if (snapshot !== undefined) this.core = Core.restore(snapshot);
  }

  take(entry: Fact | Note): void {
    switch (entry.kind) {
      case 'begun':
        this.core = Core.restore(entry.snapshot);
        return;
      case 'settings': {
        const now = this.core?.snapshot();
        if (now !== undefined) this.core?.reset({ ...now, settings: { ...now.settings, ...entry.settings } });
        return;
      }
      default:
        this.core?.apply(entry);
    }
  }

  /** Everything that later decisions depend on, as plain data. */
  state(): unknown {
    return this.core === undefined ? undefined : (JSON.parse(JSON.stringify(this.core.snapshot())) as unknown);
  }
}
