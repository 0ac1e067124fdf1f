import type { FailurePolicy } from '../../model/index.js';
import { hasEnded, lets, type WitnessedTask } from './witnessed-task.js';

/** What comes after what, and what is as urgent as what, worked out anew whenever somebody asks. */
export class WitnessedBonds {
  constructor(private readonly tasks: ReadonlyMap<string, WitnessedTask>) {}

  add(task: WitnessedTask, id: string, policy: FailurePolicy): void {
    const dependency = this.tasks.get(id);
    const passed = dependency === undefined || (hasEnded(dependency) && lets(dependency, policy));
    task.after.set(id, { policy, passed: passed || task.after.get(id)?.passed === true });
    dependency?.before.add(task.id);
  }

  remove(task: WitnessedTask, id: string): void {
    task.after.delete(id);
    this.tasks.get(id)?.before.delete(task.id);
  }

  /** From now on it comes after nothing. */
  drop(task: WitnessedTask): void {
    for (const id of [...task.after.keys()]) this.remove(task, id);
  }

  /** Those that come after it may start as far as it goes, if its end is what they ask for. */
  ended(task: WitnessedTask): void {
    for (const id of task.before) {
      const edge = this.tasks.get(id)?.after.get(task.id);
      if (edge !== undefined && lets(task, edge.policy)) edge.passed = true;
    }
  }

  /** Whether it has to wait for anything. */
  holdsUp(task: WitnessedTask): boolean {
    for (const { passed } of task.after.values()) if (!passed) return true;
    return false;
  }

  /** The lowest level among its own and those of all that wait for it. */
  levelOf(task: WitnessedTask): number {
    return this.least(task, ({ level }) => level);
  }

  /** The earliest deadline among the same. */
  deadlineOf(task: WitnessedTask): number {
    return this.least(task, ({ deadline }) => deadline);
  }

  private least(from: WitnessedTask, valueOf: (task: WitnessedTask) => number): number {
    let least = valueOf(from);
    const seen = new Set([from]);
    // A set that grows while it is walked: whoever waits for somebody in it is in it.
    for (const task of seen) {
      for (const id of task.before) {
        const dependant = this.tasks.get(id);
        if (dependant === undefined || hasEnded(dependant) || dependant.after.get(task.id)?.passed !== false) continue;
        least = Math.min(least, valueOf(dependant));
        seen.add(dependant);
      }
    }
    return least;
  }
}
