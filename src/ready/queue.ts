import type { Task } from '../model/index.js';
import { compareFifo } from '../model/index.js';
import { PackedHeap, compareRank } from './packed-heap.js';

/** Tasks per block of a run: small, so that tasks already taken are not kept alive for long. */
const BLOCK = 256;

/** How many ranks may have a run of their own: whoever looks for one passes the others. */
export const MOST_RUNS = 16;

interface Block {
  readonly tasks: Task[];
  filled: number;
  next: Block | undefined;
}

/** Tasks of the same rank in FIFO order; never empty. */
interface Run {
  readonly a: number;
  readonly b: number;
  first: Block;
  last: Block;
  /** How many tasks of the first block are gone. */
  taken: number;
  latest: Task;
  /** The one of the next larger rank. */
  next: Run | undefined;
}

/** Says whether an entry made with rank (a, b) still stands for the task. */
export interface Liveness {
  isLive(task: Task, a: number, b: number): boolean;
}

/** Gives a task its rank. */
export interface Ranking {
  readonly first: (task: Task) => number;
  readonly second: (task: Task) => number;
  /** Which tasks of a place share a rank, of those that have no deadline, no edges nor anything else of their own. */
  readonly alike: 'all' | 'level' | 'none';
}

/**
 * Tasks ordered by (a, b, FIFO), with lazy removal.
 *
 * Most tasks of a queue share a rank with many others and arrive in FIFO order: they are appended to the run of their rank,
 * and runs need no order but that of their ranks. What comes out of order, or has a rank that few have, goes to a heap
 * beside them, and the head is the better of the two. An entry whose task has left, or has another rank by now, is
 * dropped when it reaches the head.
 */
export class Queue {
  /** The head found by the last {@link refreshHead}, and its rank. */
  task: Task | undefined = undefined;
  a = 0;
  b = 0;
  /** Entries, the dead included. */
  length = 0;
  /** The run of the smallest rank. */
  private front: Run | undefined = undefined;
  /** The run that was appended to last. */
  private recent: Run | undefined = undefined;
  private heap: PackedHeap | undefined = undefined;

  /** Adds a task; `true` when it stands behind others, so that the head cannot have changed. */
  push(task: Task, a: number, b: number): boolean {
    this.length += 1;
    const { recent } = this;
    const run = recent?.a === a && recent.b === b ? recent : this.runOf(a, b);
    if (run === undefined) return this.beginsRun(a, b) ? this.insertRun(a, b, [task]) : this.pushHeap(task, a, b);
    if (compareFifo(run.latest, task) > 0) return this.pushHeap(task, a, b);
    append(run, task);
    this.recent = run;
    return true;
  }

  /** Takes in many tasks while it is empty, in O(n) if they come in order or few share a rank. */
  pushAll(tasks: readonly Task[], ranking: Ranking): void {
    const { ranks, shared, sorted } = rankAll(tasks, ranking);
    if (ranks === undefined && sorted) this.fill(tasks, ranking);
    else if (ranks === undefined || (ranking.alike !== 'none' && shared > tasks.length / 2))
      this.pushEach(tasks, ranks);
    else this.fillHeap(tasks.slice(), ranks, sorted);
  }

  /** Those with a rank of their own first, all at once; the others then mostly find a run. */
  private pushEach(tasks: readonly Task[], ranks: Ranks | undefined): void {
    if (ranks !== undefined) {
      const own = [...tasks.keys()].filter((i) => ranks.as[i] !== 0);
      const pick = <T>(list: readonly T[]): T[] => own.map((i) => list[i] as T);
      this.fillHeap(pick(tasks), { as: pick(ranks.as), bs: pick(ranks.bs) }, false);
    }
    for (let i = 0; i < tasks.length; i += 1) {
      if (ranks === undefined || ranks.as[i] === 0) this.push(tasks[i] as Task, 0, ranks?.bs[i] ?? 0);
    }
  }

  private fillHeap(tasks: Task[], { as, bs }: Ranks, sorted: boolean): void {
    this.length = tasks.length;
    this.heap = new PackedHeap(tasks, as, bs);
    if (!sorted) this.heap.heapify();
  }

  /** Takes in tasks that all have the same rank, in FIFO order, while it has none of that rank. */
  fill(tasks: readonly Task[], ranking: Ranking): void {
    const [task] = tasks;
    if (task === undefined) return;
    this.length += tasks.length;
    this.insertRun(ranking.first(task), ranking.second(task), tasks);
  }

  /** Finds the head, dropping dead entries; returns how many were dropped. */
  refreshHead(liveness: Liveness): number {
    let dropped = 0;
    let run = this.front;
    while (run !== undefined && !liveness.isLive(headOf(run), run.a, run.b)) {
      this.takeHead(run);
      dropped += 1;
      run = this.front;
    }
    const heap = this.heap;
    if (heap !== undefined) {
      while (heap.size > 0 && !liveness.isLive(heap.task, heap.a, heap.b)) {
        heap.pop();
        dropped += 1;
      }
    }
    this.length -= dropped;
    this.choose(run);
    return dropped;
  }

  /** Adds the tasks of all live entries to a list. */
  collect(liveness: Liveness, into: Task[]): void {
    for (let run = this.front; run !== undefined; run = run.next) {
      for (const block of blocksIn(run)) {
        for (const task of block) if (liveness.isLive(task, run.a, run.b)) into.push(task);
      }
    }
    if (this.heap === undefined) return;
    for (const { task, a, b } of this.heap.entries()) if (liveness.isLive(task, a, b)) into.push(task);
  }

  /** All entries, the dead included, in no particular order. */
  *entries(): Iterable<{ task: Task; a: number; b: number }> {
    for (let run = this.front; run !== undefined; run = run.next) {
      for (const block of blocksIn(run)) for (const task of block) yield { task, a: run.a, b: run.b };
    }
    if (this.heap !== undefined) yield* this.heap.entries();
  }

  private choose(run: Run | undefined): void {
    const heap = this.heap;
    const task = run === undefined ? undefined : headOf(run);
    if (heap !== undefined && heap.size > 0 && (run === undefined || heap.precedes(run.a, run.b, task as Task))) {
      this.task = heap.task;
      this.a = heap.a;
      this.b = heap.b;
      return;
    }
    this.task = task;
    this.a = run?.a ?? 0;
    this.b = run?.b ?? 0;
  }

  /** The run of this rank, if there is one. */
  private runOf(a: number, b: number): Run | undefined {
    let run = this.front;
    while (run !== undefined && precedes(run, a, b)) run = run.next;
    return run?.a === a && run.b === b ? run : undefined;
  }

  /** The plain rank has a run in any case; another one once it is seen to be shared, unless the queue is empty. */
  private beginsRun(a: number, b: number): boolean {
    if (this.front === undefined && (this.heap?.size ?? 0) === 0) return true;
    if ((a !== 0 || b !== 0) && this.heap?.endsWith(a, b) !== true) return false;
    let runs = 0;
    for (let run = this.front; run !== undefined; run = run.next) runs += 1;
    return runs < MOST_RUNS;
  }

  /** Begins a run with these tasks; `false` when it is the first one by rank. */
  private insertRun(a: number, b: number, tasks: readonly Task[]): boolean {
    const [first, last] = blocksOf(tasks);
    const run: Run = { a, b, first, last, taken: 0, latest: tasks.at(-1) as Task, next: undefined };
    this.recent = run;
    let before: Run | undefined;
    let after = this.front;
    while (after !== undefined && precedes(after, a, b)) {
      before = after;
      after = after.next;
    }
    run.next = after;
    if (before === undefined) this.front = run;
    else before.next = run;
    return before !== undefined;
  }

  private pushHeap(task: Task, a: number, b: number): boolean {
    this.heap ??= new PackedHeap();
    return !this.heap.push(task, a, b);
  }

  /** Drops the first task of the first run. */
  private takeHead(run: Run): void {
    run.taken += 1;
    if (run.taken < run.first.filled) return;
    run.taken = 0;
    if (run.first.next !== undefined) {
      run.first = run.first.next;
      return;
    }
    this.front = run.next;
    if (this.recent === run) this.recent = undefined;
  }
}

function headOf(run: Run): Task {
  return run.first.tasks[run.taken] as Task;
}

function precedes(run: Run, a: number, b: number): boolean {
  return run.a === a ? run.b < b : run.a < a;
}

/** What is left of each block. */
function* blocksIn(run: Run): Iterable<readonly Task[]> {
  let from = run.taken;
  for (let block: Block | undefined = run.first; block !== undefined; block = block.next) {
    yield block.tasks.slice(from, block.filled);
    from = 0;
  }
}

function append(run: Run, task: Task): void {
  let { last } = run;
  if (last.filled === BLOCK) {
    last.next = { tasks: new Array<Task>(BLOCK), filled: 0, next: undefined };
    last = run.last = last.next;
  }
  last.tasks[last.filled] = task;
  last.filled += 1;
  run.latest = task;
}

/** The tasks in blocks, of which the last may stay the only one: it takes no more room than it needs. */
function blocksOf(tasks: readonly Task[]): readonly [first: Block, last: Block] {
  const first = blockOf(tasks, 0);
  let last = first;
  for (let from = BLOCK; from < tasks.length; from += BLOCK) {
    last.next = blockOf(tasks, from);
    last = last.next;
  }
  return [first, last];
}

function blockOf(tasks: readonly Task[], from: number): Block {
  const share = tasks.slice(from, from + BLOCK);
  return { tasks: share, filled: share.length, next: undefined };
}

interface Ranks {
  readonly as: number[];
  readonly bs: number[];
}

/**
 * The ranks of all tasks, unless all are plain; how many share a rank, as those whose first number is 0 mostly do; and
 * whether the tasks come in order.
 *
 * All in one pass, as many tasks do not fit into the processor's cache and touching each is what takes the time.
 */
function rankAll(
  tasks: readonly Task[],
  ranking: Ranking,
): { readonly ranks: Ranks | undefined; readonly shared: number; readonly sorted: boolean } {
  let ranks: Ranks | undefined;
  let shared = 0;
  let sorted = true;
  let [before, beforeA, beforeB] = [tasks[0] as Task, -Infinity, -Infinity];
  for (let i = 0; i < tasks.length; i += 1) {
    const task = tasks[i] as Task;
    const a = ranking.first(task);
    const b = ranking.second(task);
    if (a === 0) shared += 1;
    if (a !== 0 || b !== 0) {
      ranks ??= plainRanks(tasks.length);
      ranks.as[i] = a;
      ranks.bs[i] = b;
    }
    if (sorted && compareRank(beforeA, beforeB, before, a, b, task) > 0) sorted = false;
    before = task;
    beforeA = a;
    beforeB = b;
  }
  return { ranks, shared, sorted };
}

function plainRanks(tasks: number): Ranks {
  return { as: new Array<number>(tasks).fill(0), bs: new Array<number>(tasks).fill(0) };
}
