import { isFinal, sequenceOf, type FinalState, type Task } from '../model/index.js';
import { FrozenTasks } from './frozen-tasks.js';
import { Pages } from './pages.js';

/** How many forgotten tasks' final states are remembered, by sequence and by the user's id. */
const TOMBSTONES = 65_536;
const FINAL_STATES: readonly FinalState[] = ['completed', 'failed', 'cancelled', 'skipped'];

/** The final states of forgotten tasks. */
interface Tombstones {
  readonly named: Iterable<readonly [id: string, state: FinalState]>;
  readonly numbered: Iterable<readonly [sequence: number, state: FinalState]>;
}

/**
 * Every task the core knows, by sequence and by id.
 *
 * Sequences index pages, so that a task nobody named costs one slot; a map is for users' ids only.
 * A forgotten task leaves its final state behind, for as long as there is room.
 */
export class TaskTable {
  size = 0;
  private readonly pages = new Pages();
  private readonly named = new Map<string, Task>();
  private readonly tombstones = new Map<string, FinalState>();
  private readonly endings = new Uint8Array(TOMBSTONES);
  private nextSequence = 1;
  /** What a snapshot that is being made has yet to record; at most one is. */
  frozen: FrozenTasks | undefined = undefined;

  get next(): number {
    return this.nextSequence;
  }

  set next(sequence: number) {
    this.nextSequence = sequence;
  }

  add(task: Task): void {
    const { sequence } = task;
    if (sequence >= this.nextSequence) this.nextSequence = sequence + 1;
    this.pages.add(task);
    this.size += 1;
    this.endings[sequence % TOMBSTONES] = 0;
    if (task.spec.id === undefined) return;
    this.named.set(task.spec.id, task);
    this.tombstones.delete(task.spec.id);
  }

  bySequence(sequence: number): Task | undefined {
    return this.pages.at(sequence);
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
    if (!this.pages.remove(task)) return;
    this.size -= 1;
    this.bury(task);
  }

  /**
   * To be called before anything changes that a snapshot says of a task or of its attempt: if a snapshot is being made,
   * the task is recorded as it was.
   */
  changing(task: Task): void {
    if (this.frozen !== undefined) this.frozen.changing(task);
  }

  /** All tasks of this moment. */
  freeze(): FrozenTasks {
    return new FrozenTasks(this.pages.copy());
  }

  /** Every task in order of submission. */
  all(): Iterable<Task> {
    return this.pages.all();
  }

  /** Every task in order of submission, in pages with gaps. */
  pagesInOrder(): Iterable<readonly (Task | undefined)[]> {
    return this.pages.inOrder();
  }

  /** The final states of tasks forgotten by now, oldest first, to be walked whenever there is time. */
  save(): Tombstones {
    const { nextSequence } = this;
    return {
      named: named([...this.tombstones.keys()], [...this.tombstones.values()]),
      numbered: numbered(this.endings.slice(), nextSequence),
    };
  }

  load(saved: Tombstones): void {
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
}

function* named(ids: readonly string[], states: readonly FinalState[]): Iterable<readonly [string, FinalState]> {
  for (const [i, id] of ids.entries()) yield [id, states[i] as FinalState];
}

function* numbered(endings: Uint8Array, next: number): Iterable<readonly [number, FinalState]> {
  for (let sequence = Math.max(1, next - TOMBSTONES); sequence < next; sequence += 1) {
    const ending = endings[sequence % TOMBSTONES] as number;
    if (ending > 0) yield [sequence, FINAL_STATES[ending - 1] as FinalState];
  }
}
