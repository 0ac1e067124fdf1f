import { AgedHeads } from './aging.js';
import type { Group } from './group.js';
import type { Shape } from './place.js';

/** Groups beyond which empty ones are looked for. */
const GROUPS_KEPT = 256;

/** The groups of one shape, and the best of them. */
export class ShapeGroups {
  readonly byWindow = new Map<number, Map<number, Group>>();
  readonly heads: AgedHeads<Group>;
  /** Tasks become ready in the window that is, so its groups are nearly always the ones asked for. */
  recentWindow = NaN;
  recent: Map<number, Group> | undefined = undefined;
  private groups = 0;
  private purgeAt = GROUPS_KEPT;

  constructor(
    readonly shape: Shape,
    maxBoost: number,
  ) {
    this.heads = new AgedHeads(maxBoost);
  }

  *all(): Iterable<Group> {
    for (const levels of this.byWindow.values()) yield* levels.values();
  }

  lookAt(window: number): void {
    this.recentWindow = window;
    this.recent = this.byWindow.get(window);
  }

  add(group: Group, window: number): Group {
    this.purge();
    let levels = this.byWindow.get(window);
    if (levels === undefined) {
      levels = new Map();
      this.byWindow.set(window, levels);
    }
    if (!levels.has(group.level)) this.groups += 1;
    levels.set(group.level, group);
    this.lookAt(window);
    return group;
  }

  /** Forgets the groups without tasks, once there are many: aging leaves one behind for each window. */
  private purge(): void {
    if (this.groups <= this.purgeAt) return;
    for (const [window, levels] of this.byWindow) {
      for (const [level, group] of levels) {
        if (group.entry === undefined && group.purge()) {
          levels.delete(level);
          this.groups -= 1;
        }
      }
      if (levels.size === 0) this.byWindow.delete(window);
    }
    this.recentWindow = NaN;
    this.purgeAt = Math.max(GROUPS_KEPT, 2 * this.groups);
  }
}
