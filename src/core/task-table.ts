import { isFinal, sequenceOf, type FinalState, type Task } from '../model/index.js';

const PAGE = 256;
/** How many forgotten tasks' final states are remembered, by sequence and by the user's id. */
const TOMBSTONES = 65_536;
const FINAL_STATES: readonly FinalState[] = ['completed', 'failed', 'cancelled', 'skipped'];

interface Page {
  readonly tasks: (Task | undefined)[];
  filled: number;
}

/**
 * Every task the core knows, by sequence and by id.
 *
 * Sequences index pages of 256 slots, so that a task nobody named costs one slot; a map is for users' ids only.
 * A forgotten task leaves its final state behind, for as long as there is room.
 */
export class TaskTable {
  size = 0;
  private readonly pages = new Map<number, Page>();
  private readonly named = new Map<string, Task>();
  private readonly tombstones = new Map<string, FinalState>();
  private readonly endings = new Uint8Array(TOMBSTONES);
  private nextSequence = 1;
  /** Tasks come in order, and mostly go in order: the page of the last one that came, and of the last that went. */
  private lastPage: Page | undefined = undefined;
  private lastPageNumber = -1;
  private leftPage: Page | undefined = undefined;
  private leftPageNumber = -1;

  get next(): number {
    return this.nextSequence;
  }

  set next(sequence: number) {
    this.nextSequence = sequence;
  }

  add(task: Task): void {
    const { sequence } = task;
    if (sequence >= this.nextSequence) this.nextSequence = sequence + 1;
    const number = Math.floor(sequence / PAGE);
    if (number !== this.lastPageNumber) this.turnTo(number);
    const page = this.lastPage as Page;
    page.tasks[sequence % PAGE] = task;
    page.filled += 1;
    this.size += 1;
    this.endings[sequence % TOMBSTONES] = 0;
    if (task.spec.id === undefined) return;
    this.named.set(task.spec.id, task);
    this.tombstones.delete(task.spec.id);
  }

  bySequence(sequence: number): Task | undefined {
    return this.pages.get(Math.floor(sequence / PAGE))?.tasks[sequence % PAGE];
  }

  byId(id: string): Task | undefined {
    const named = this.named.get(id);
    if (named !== undefined) return named;
    const sequence = sequenceOf(id);
    const numbered = sequence === undefined ? undefined : this.bySequence(sequence);
    return numbered?.spec.id === undefined ? numbered : undefined;
  }

  /** How a task that is no longer here ended; `undefined` when it never was here, or too long ago. */
  tombstone(id: string): FinalState | undefined {
    const named = this.tombstones.get(id);
    if (named !== undefined) return named;
    const sequence = sequenceOf(id);
    if (sequence === undefined || sequence >= this.nextSequence || sequence < this.nextSequence - TOMBSTONES) {
      return undefined;
    }
    const ending = this.endings[sequence % TOMBSTONES] as number;
    return ending === 0 ? undefined : FINAL_STATES[ending - 1];
  }

  remove(task: Task): void {
    const number = Math.floor(task.sequence / PAGE);
    if (number !== this.leftPageNumber) {
      this.leftPage = this.pages.get(number);
      this.leftPageNumber = number;
    }
    const page = this.leftPage;
    if (page?.tasks[task.sequence % PAGE] !== task) return;
    page.tasks[task.sequence % PAGE] = undefined;
    page.filled -= 1;
    this.size -= 1;
    if (page.filled === 0) this.dropPage(number);
    this.bury(task);
  }

  /** Every task in order of submission. */
  *all(): Iterable<Task> {
    for (const page of this.pagesInOrder()) for (const task of page) if (task !== undefined) yield task;
  }

  /** Every task in order of submission, in pages with gaps. */
  *pagesInOrder(): Iterable<readonly (Task | undefined)[]> {
    const numbers = [...this.pages.keys()].sort((a, b) => a - b);
    for (const number of numbers) yield this.pages.get(number)?.tasks ?? [];
  }

  /** The final states of forgotten tasks, oldest first. */
  save(): { named: readonly (readonly [string, FinalState])[]; numbered: readonly (readonly [number, FinalState])[] } {
    const numbered: (readonly [number, FinalState])[] = [];
    for (let sequence = Math.max(1, this.nextSequence - TOMBSTONES); sequence < this.nextSequence; sequence += 1) {
      const ending = this.endings[sequence % TOMBSTONES] as number;
      if (ending > 0) numbered.push([sequence, FINAL_STATES[ending - 1] as FinalState]);
    }
    return { named: [...this.tombstones], numbered };
  }

  load(saved: ReturnType<TaskTable['save']>): void {
    for (const [id, state] of saved.named) this.tombstones.set(id, state);
    for (const [sequence, state] of saved.numbered) {
      this.endings[sequence % TOMBSTONES] = FINAL_STATES.indexOf(state) + 1;
    }
  }

  private bury(task: Task): void {
    if (!isFinal(task.state)) return;
    const { id } = task.spec;
    if (id === undefined) {
      if (task.sequence >= this.nextSequence - TOMBSTONES) {
        this.endings[task.sequence % TOMBSTONES] = FINAL_STATES.indexOf(task.state) + 1;
      }
      return;
    }
    if (this.named.get(id) === task) this.named.delete(id);
    this.tombstones.set(id, task.state);
    if (this.tombstones.size <= TOMBSTONES) return;
    for (const oldest of this.tombstones.keys()) {
      this.tombstones.delete(oldest);
      return;
    }
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
