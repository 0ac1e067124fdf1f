import type { Task } from '../model/index.js';
import type { Verdict, Verdicts } from './dependencies.js';

/** What follows for a task from an end: another's, or as an occurrence of a series its own. */
export type Consequence = Verdict | 'ended';

/**
 * What is still to be carried out after tasks have ended, in order; empty between commands.
 *
 * It lies in lists that are used again and again: most ends have one consequence, and none needs a record of its own.
 */
export class Fallout implements Verdicts {
  private readonly tasks: Task[] = [];
  private readonly consequences: Consequence[] = [];
  private readonly causes: Task[] = [];

  get length(): number {
    return this.tasks.length;
  }

  taskAt(at: number): Task {
    return this.tasks[at] as Task;
  }

  consequenceAt(at: number): Consequence {
    return this.consequences[at] as Consequence;
  }

  /** The task whose end it follows from. */
  causeAt(at: number): Task {
    return this.causes[at] as Task;
  }

  add(task: Task, consequence: Consequence, cause: Task): void {
    this.tasks.push(task);
    this.consequences.push(consequence);
    this.causes.push(cause);
  }

  /**
   * Puts what was added from there on in order: who goes on before who ends too, and each by sequence. The edges' order
   * depends on how they came about; the sequence is the same in every process.
   */
  sortFrom(start: number): void {
    if (this.isSortedFrom(start)) return;
    const cause = this.causeAt(start);
    const added = this.tasks.slice(start).map((task, i) => ({ task, consequence: this.consequenceAt(start + i) }));
    added.sort((x, y) => compare(x.task, x.consequence, y.task, y.consequence));
    this.cut(start);
    for (const { task, consequence } of added) this.add(task, consequence, cause);
  }

  clear(): void {
    // Few are taken out one by one: cutting a list's length gives its memory away, which the next end has to get back.
    if (this.length > 16) this.cut(0);
    while (this.tasks.length > 0) {
      this.tasks.pop();
      this.consequences.pop();
      this.causes.pop();
    }
  }

  private isSortedFrom(start: number): boolean {
    for (let at = start + 1; at < this.tasks.length; at += 1) {
      const before = compare(this.taskAt(at - 1), this.consequenceAt(at - 1), this.taskAt(at), this.consequenceAt(at));
      if (before > 0) return false;
    }
    return true;
  }

  private cut(length: number): void {
    this.tasks.length = this.consequences.length = this.causes.length = length;
  }
}

function compare(x: Task, consequenceX: Consequence, y: Task, consequenceY: Consequence): number {
  if ((consequenceX === 'met') !== (consequenceY === 'met')) return consequenceX === 'met' ? -1 : 1;
  return x.sequence - y.sequence;
}
