import type { Task } from '../model/index.js';

/** How many tasks share a page. */
export const PAGE = 256;

interface Page {
  readonly tasks: (Task | undefined)[];
  filled: number;
}

/**
 * Tasks by sequence, in pages of 256 slots: one slot each, where an entry of a map or a set costs several times as much.
 *
 * Tasks come in order, and mostly go in order: the page of the last one that came, and of the last that went, is at hand.
 */
export class Pages {
  private readonly pages = new Map<number, Page>();
  private lastPage: Page | undefined = undefined;
  private lastPageNumber = -1;
  private leftPage: Page | undefined = undefined;
  private leftPageNumber = -1;

  /** Takes in a task that is not in. */
  add(task: Task): void {
    const number = Math.floor(task.sequence / PAGE);
    if (number !== this.lastPageNumber) this.turnTo(number);
    const page = this.lastPage as Page;
    page.tasks[task.sequence % PAGE] = task;
    page.filled += 1;
  }

  at(sequence: number): Task | undefined {
    return this.pages.get(Math.floor(sequence / PAGE))?.tasks[sequence % PAGE];
  }

  /** Takes the task out; `false` when it was not in. */
  remove(task: Task): boolean {
    const number = Math.floor(task.sequence / PAGE);
    if (number !== this.leftPageNumber) {
      this.leftPage = this.pages.get(number);
      this.leftPageNumber = number;
    }
    const page = this.leftPage;
    if (page?.tasks[task.sequence % PAGE] !== task) return false;
    page.tasks[task.sequence % PAGE] = undefined;
    page.filled -= 1;
    if (page.filled === 0) this.dropPage(number);
    return true;
  }

  /** Every task in order of submission. */
  *all(): Iterable<Task> {
    for (const page of this.inOrder()) for (const task of page) if (task !== undefined) yield task;
  }

  /** Every task in order of submission, in pages with gaps. */
  *inOrder(): Iterable<readonly (Task | undefined)[]> {
    for (const [, page] of [...this.pages].sort(([a], [b]) => a - b)) yield page.tasks;
  }

  /** The same tasks in pages of their own, by number and in order: what comes and goes later is not seen there. */
  copy(): Map<number, (Task | undefined)[]> {
    const pages = [...this.pages].sort(([a], [b]) => a - b);
    return new Map(pages.map(([number, { tasks }]) => [number, tasks.slice()]));
  }

  private turnTo(number: number): void {
    let page = this.pages.get(number);
    if (page === undefined) {
      page = { tasks: new Array<Task | undefined>(PAGE).fill(undefined), filled: 0 };
      this.pages.set(number, page);
      this.leftPageNumber = -1;
    }
    this.lastPage = page;
    this.lastPageNumber = number;
  }

  private dropPage(number: number): void {
    this.pages.delete(number);
    this.leftPage = undefined;
    this.leftPageNumber = -1;
    if (number !== this.lastPageNumber) return;
    this.lastPage = undefined;
    this.lastPageNumber = -1;
  }
}
