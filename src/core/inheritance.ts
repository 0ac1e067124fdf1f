import { extraOf, isFinal, type Task } from '../model/index.js';
import { Crowd } from './crowd.js';
import { type Dependencies } from './dependencies.js';
import { linkedTask, type Link } from './links.js';

/** So many dependants are looked through; where there are more they are kept in order from then on. */
const FEW = 32;

/** Told of a task whose effective level or deadline has changed, with the level it had before. */
export type Changed = (task: Task, levelBefore: number) => void;

/** Told of levels as they change, and asked to lend through resources before anybody else is told. */
export interface Lender {
  /** The task's effective level has changed; it had this one before. */
  urged(task: Task, levelBefore: number): void;
  /** All that was lent has been taken back. */
  restart(): void;
  /** Lends whatever is to be lent by now. */
  settle(): void;
}

/**
 * Effective levels and deadlines: what a more urgent task waits for is as urgent as that task, transitively.
 *
 * Updates travel against the edges and stop where no value changes. Those concerned are told once, at the end and in
 * order of submission: the order of edges differs between processes, and channels join a level in the order told.
 */
export class Inheritance {
  /** The level each changed task had before. */
  private readonly before = new Map<Task, number>();
  /** Levels lent to tasks whose waiting attempts keep what more urgent tasks lack; they count like the tasks' own. */
  private readonly lent = new Map<Task, number>();
  lender: Lender | undefined = undefined;
  /** The dependants of tasks that have many of them, from the first time on that they all had to be looked at. */
  private readonly crowds = new WeakMap<Task, Crowd>();
  private hasCrowds = false;

  constructor(
    private readonly dependencies: Dependencies,
    private readonly changed: Changed,
    /** Told before anything changes about a task. */
    private readonly changing: (task: Task) => void,
  ) {}

  /** A new task waits for these: passes its urgency on to them. */
  lend(task: Task, links: readonly Link[]): void {
    const { urgency, deadline } = task;
    for (const link of links) {
      const dependency = linkedTask(link);
      this.joins(task, dependency);
      if (urgency >= dependency.urgency && deadline >= dependency.deadline) continue;
      this.spread(task);
      return;
    }
  }

  /** The task may have become more urgent: passes that on to what it waits for. */
  spread(from: Task): void {
    this.passOn(from);
    this.tell();
  }

  /** A waiting attempt of the task keeps what tasks of this level lack; nobody is told before the lender is done. */
  lendThrough(task: Task, level: number): void {
    if (level >= task.level || level >= (this.lent.get(task) ?? Infinity)) return;
    this.lent.set(task, level);
    if (level >= task.urgency) return;
    this.set(task, level, task.deadline);
    this.passOn(task);
  }

  /** The task keeps nothing any more. */
  lendNoMore(task: Task): void {
    if (this.lent.delete(task)) this.rework([task]);
  }

  /**
   * Takes all that was lent back. A level that was lent may have come round to whoever it was lent by, through what the
   * borrower waits for, so that no look at its neighbours tells whether it is still founded.
   */
  revoke(): void {
    this.rework([]);
  }

  /** What was lent to the task, `Infinity` for nothing. */
  lentTo(task: Task): number {
    return this.lent.get(task) ?? Infinity;
  }

  private passOn(from: Task): void {
    const stack = [from];
    for (let task = stack.pop(); task !== undefined; task = stack.pop()) {
      const giver = task;
      this.dependencies.eachUnfinishedDependency(task, (dependency) => {
        this.joins(giver, dependency);
        if (this.give(giver, dependency)) stack.push(dependency);
      });
    }
  }

  /** The task waits for one more: passes its urgency on to that one, without a look at all the others it waits for. */
  extend(task: Task, dependency: Task): void {
    if (isFinal(dependency.state)) return;
    this.joins(task, dependency);
    if (this.give(task, dependency)) this.spread(dependency);
  }

  /** The task may have become less urgent, or more: works its values out anew, and those of what it waits for. */
  recompute(from: Task): void {
    this.recomputeAll([from]);
  }

  /** The task no longer waits for this one, which loses what only that need gave it. */
  withdraw(task: Task, dependency: Task): void {
    this.withdrawAll(task, [dependency]);
  }

  /** The same without telling anybody yet. */
  letGo(task: Task, dependency: Task): void {
    if (mayHaveGiven(task, dependency)) this.rework([dependency]);
  }

  /** The task no longer waits for any of these. */
  withdrawAll(task: Task, dependencies: readonly Task[]): void {
    this.recomputeAll(dependencies.filter((dependency) => mayHaveGiven(task, dependency)));
  }

  private recomputeAll(stack: Task[]): void {
    if (stack.length > 0) this.rework(stack);
    this.tell();
  }

  private rework(stack: Task[]): void {
    if (this.lent.size > 0) {
      stack.push(...this.lent.keys());
      this.lent.clear();
      this.lender?.restart();
    }
    /** The dependant whose change has put each task of the stack there. */
    const givers: (Task | undefined)[] = stack.map(() => undefined);
    for (let task = stack.pop(); task !== undefined; task = stack.pop()) {
      const giver = givers.pop();
      if (isFinal(task.state)) continue;
      const { urgency, deadline } = this.valuesOf(task, giver);
      if (urgency === task.urgency && deadline === task.deadline) continue;
      this.set(task, urgency, deadline);
      const changed = task;
      this.dependencies.eachUnfinishedDependency(task, (dependency) => {
        this.joins(changed, dependency);
        stack.push(dependency);
        givers.push(changed);
      });
    }
  }

  /**
   * What the task inherits now. One dependant that upholds what it has is enough: those that have become more urgent
   * come by themselves, each as the giver, so that nobody looks at thousands who wait for the same task.
   */
  private valuesOf(task: Task, giver: Task | undefined): { readonly urgency: number; readonly deadline: number } {
    let urgency = Math.min(task.level, this.lentTo(task), giver?.urgency ?? Infinity);
    let deadline = Math.min(task.spec.deadline, giver?.deadline ?? Infinity);
    const upheld = (): boolean => urgency <= task.urgency && deadline <= task.deadline;
    const hear = (dependants: { readonly urgency: number; readonly deadline: number }): void => {
      urgency = Math.min(urgency, dependants.urgency);
      deadline = Math.min(deadline, dependants.deadline);
    };
    if (upheld()) return { urgency, deadline };
    const crowd = this.crowds.get(task);
    if (crowd === undefined) {
      let seen = 0;
      this.dependencies.findUnfinishedDependant(task, (dependant) => {
        seen += 1;
        hear(dependant);
        return upheld();
      });
      if (seen > FEW) this.gather(task);
    } else hear(crowd);
    return { urgency, deadline };
  }

  /** From now on the dependants of the task are kept in order. */
  private gather(task: Task): void {
    const crowd = new Crowd((dependant) => this.dependencies.isAwaitedBy(task, dependant));
    this.dependencies.eachUnfinishedDependant(task, (dependant) => {
      crowd.enter(dependant);
    });
    this.crowds.set(task, crowd);
    this.hasCrowds = true;
  }

  /** The task waits for the dependency, or does so with other values than before. */
  private joins(task: Task, dependency: Task): void {
    if (this.hasCrowds) this.crowds.get(dependency)?.enter(task);
  }

  /** Makes the dependency at least as urgent as the task; whether that is a change. */
  private give({ urgency, deadline }: Task, dependency: Task): boolean {
    if (urgency >= dependency.urgency && deadline >= dependency.deadline) return false;
    this.set(dependency, Math.min(urgency, dependency.urgency), Math.min(deadline, dependency.deadline));
    return true;
  }

  private set(task: Task, urgency: number, deadline: number): void {
    const before = task.urgency;
    if (!this.before.has(task)) this.before.set(task, before);
    this.changing(task);
    task.urgency = urgency;
    if (urgency !== before) this.lender?.urged(task, before);
    if (deadline !== task.deadline) extraOf(task).deadline = deadline;
  }

  /** Tells everybody whose values have changed, once all that follows from the changes is settled. */
  tell(): void {
    this.lender?.settle();
    if (this.before.size === 0) return;
    const told = [...this.before].sort(([x], [y]) => x.sequence - y.sequence);
    this.before.clear();
    for (const [task, levelBefore] of told) this.changed(task, levelBefore);
  }
}

function mayHaveGiven(task: Task, dependency: Task): boolean {
  if (isFinal(dependency.state)) return false;
  const level = task.urgency === dependency.urgency && task.urgency < dependency.level;
  return level || (task.deadline === dependency.deadline && task.deadline < dependency.spec.deadline);
}
