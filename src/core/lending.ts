import { keptNeeds, needsOf, type Attempt, type Need, type Task } from '../model/index.js';
import type { Inheritance, Lender } from './inheritance.js';
import type { Resources } from './resources.js';
import { Wanted } from './wanted.js';

/** The tasks whose waiting attempts keep a resource, and how much of it they keep together. */
interface Kept {
  readonly by: Set<Task>;
  units: number;
}

/**
 * Urgency through resources: whoever keeps what a more urgent ready task lacks is as urgent as that task, and so is
 * what the keeper waits for.
 *
 * Only attempts that wait are lent a level, as nothing of a running one is ordered; what it would be is worked out when
 * it is asked for ({@link urgencyOf}). For each resource, ready tasks are counted by level and amount, so that the most
 * urgent one that lacks it is found without a look at those that are blocked, and keepers are looked at only when the
 * level of that one changes.
 */
export class Lending implements Lender {
  private readonly wanted = new Map<string, Wanted>();
  private readonly kept = new Map<string, Kept>();
  /** The level lent through each resource; without an entry nothing is. */
  private readonly levels = new Map<string, number>();
  /** Resources that are kept and of which something has changed since. */
  private readonly changed = new Set<string>();

  constructor(
    private readonly resources: Resources,
    private readonly inheritance: Inheritance,
  ) {}

  /** The task is ready, and may lack what it needs. */
  join(task: Task): void {
    this.count(task, task.urgency, 1);
  }

  /** The task is no longer ready. */
  leave(task: Task): void {
    this.count(task, task.urgency, -1);
  }

  urged(task: Task, levelBefore: number): void {
    if (task.state !== 'ready' || task.spec.needs.length === 0) return;
    this.count(task, levelBefore, -1);
    this.count(task, task.urgency, 1);
  }

  /** More or less of these is held than before. */
  heldChanged(needs: readonly Need[]): void {
    if (this.kept.size === 0 || needs.length === 0) return;
    for (const { resource } of needs) this.mark(resource);
  }

  capacityChanged(resource: string): void {
    this.mark(resource);
    this.tell();
  }

  /** The user's own level of a task has changed, by which it may need to be lent what it did not before. */
  levelSet(): void {
    if (this.kept.size > 0) this.restart();
  }

  /** The task's attempt has begun to wait. */
  keep(task: Task): void {
    for (const { resource, amount } of keptNeeds(task.spec)) {
      const kept = this.kept.get(resource) ?? { by: new Set(), units: 0 };
      this.kept.set(resource, kept);
      kept.by.add(task);
      kept.units += amount;
      this.inheritance.lendThrough(task, this.levels.get(resource) ?? Infinity);
      this.mark(resource);
    }
  }

  /** It has come to an end of its wait. */
  keepNoMore(task: Task): void {
    for (const { resource, amount } of keptNeeds(task.spec)) {
      const kept = this.kept.get(resource);
      if (kept?.by.delete(task) !== true) continue;
      kept.units -= amount;
      if (kept.by.size > 0) continue;
      this.kept.delete(resource);
      this.levels.delete(resource);
      this.changed.delete(resource);
    }
    this.inheritance.lendNoMore(task);
  }

  /** Those whose waiting attempts keep something of the resource. */
  keepersOf(resource: string): Iterable<Task> {
    return this.kept.get(resource)?.by ?? [];
  }

  /** How much of the resource waiting attempts keep. */
  unitsKept(resource: string): number {
    return this.kept.get(resource)?.units ?? 0;
  }

  /** How urgent it is that the attempt goes on: also for those that lack what it has, and would keep if it waited. */
  urgencyOf({ task }: Attempt): number {
    return Math.min(task.urgency, ...keptNeeds(task.spec).map(({ resource }) => this.lowest(resource)));
  }

  /**
   * To be called at the end of whatever changes who is ready, who holds what or who waits: all that follows from it is
   * worked out at once, so that nobody stands at a level in between.
   */
  tell(): void {
    if (this.changed.size > 0) this.inheritance.tell();
  }

  restart(): void {
    this.levels.clear();
    for (const resource of this.kept.keys()) this.changed.add(resource);
  }

  settle(): void {
    const { changed, levels, inheritance } = this;
    // A set is walked in the order of insertion, what is added on the way included.
    for (const resource of changed) {
      changed.delete(resource);
      const level = this.lowest(resource);
      const before = levels.get(resource) ?? Infinity;
      if (level === before) continue;
      if (level > before) {
        // Comes back here with all resources that are kept; from nothing on, what is lent only ever gets more urgent.
        levels.delete(resource);
        inheritance.revoke();
        continue;
      }
      levels.set(resource, level);
      for (const task of this.keepersOf(resource)) inheritance.lendThrough(task, level);
    }
  }

  /** The level of the most urgent ready task that lacks the resource; `Infinity` when none does. */
  lowest(resource: string): number {
    const pool = this.resources.pools.get(resource);
    if (pool === undefined) return Infinity;
    return this.wanted.get(resource)?.lowest((amount) => !pool.hasUnits(amount)) ?? Infinity;
  }

  /** Whether somebody who is ready may lack some of the resource: units that are held or kept, or tokens. */
  mayBeLacked(resource: string): boolean {
    const pool = this.resources.pools.get(resource);
    if (pool === undefined) return false;
    return pool.flow !== undefined || pool.kept > 0 || this.lowest(resource) < Infinity;
  }

  private mark(resource: string): void {
    if (this.kept.has(resource)) this.changed.add(resource);
  }

  private count(task: Task, level: number, by: 1 | -1): void {
    for (const { resource, amount } of needsOf(task)) {
      let wanted = this.wanted.get(resource);
      if (wanted === undefined) {
        wanted = new Wanted();
        this.wanted.set(resource, wanted);
      }
      if (by === 1) wanted.add(level, amount);
      else wanted.remove(level, amount);
      if (this.kept.size > 0) this.mark(resource);
    }
  }
}
