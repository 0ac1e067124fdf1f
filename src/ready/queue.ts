import type { Task } from '../model/index.js';
import { compareFifo } from '../model/index.js';
import { PackedHeap, compareRank } from './packed-heap.js';

/** Tasks per block of a run: small, so that tasks already taken are not kept alive for long. */
const BLOCK = 256;

interface Block {
  readonly tasks: Task[];
  filled: number;
  next: Block | undefined;
}

/** Says whether an entry made with rank (a, b) still stands for the task. */
export interface Liveness {
  isLive(task: Task, a: number, b: number): boolean;
}

/** Gives a task its rank. */
export interface Ranking {
  readonly first: (task: Task) => number;
  readonly second: (task: Task) => number;
}

/**
 * Tasks ordered by (a, b, FIFO), with lazy removal.
 *
 * Most tasks of a queue have the plain rank (0, 0) and arrive in FIFO order: they are appended to a run of blocks. What comes
 * out of order goes to a heap beside it, and the head is the better of the two. An entry whose task has left, or
 * has another rank by now, is dropped when it reaches the head.
 */
export class Queue {
  /** The head found by the last {@link refreshHead}, and its rank. */
  task: Task | undefined = undefined;
  a = 0;
  b = 0;
  /** Entries, the dead included. */
  length = 0;
  private first: Block | undefined = undefined;
  private last: Block | undefined = undefined;
  private taken = 0;
  private latest: Task | undefined = undefined;
  private heap: PackedHeap | undefined = undefined;

  /** Adds a task; `true` when it stands behind others, so that the head cannot have changed. */
  push(task: Task, a: number, b: number): boolean {
    this.length += 1;
    const isPlain = a === 0 && b === 0;
    if (this.latest === undefined) {
      if (!isPlain) return this.pushHeap(task, a, b);
      this.startRun(task);
      return false;
    }
    if (!isPlain || compareFifo(this.latest, task) > 0) return this.pushHeap(task, a, b);
    this.append(task);
    return true;
  }

  /** Takes in many tasks while it is empty, in O(n) if they come in order or most have a rank of their own. */
  pushAll(tasks: readonly Task[], ranking: Ranking): void {
    const { ranks, plain, sorted } = rankAll(tasks, ranking);
    if (ranks === undefined && sorted) {
      this.fill(tasks);
    } else if (ranks !== undefined && plain < tasks.length / 2) {
      this.length = tasks.length;
      this.heap = new PackedHeap(tasks.slice(), ranks.as, ranks.bs);
      if (!sorted) this.heap.heapify();
    } else {
      for (let i = 0; i < tasks.length; i += 1) this.push(tasks[i] as Task, ranks?.as[i] ?? 0, ranks?.bs[i] ?? 0);
    }
  }

  /** Takes in many tasks of the plain rank, in FIFO order, while it is empty. */
  fill(tasks: readonly Task[]): void {
    for (let from = 0; from < tasks.length; from += BLOCK) {
      const share = tasks.slice(from, from + BLOCK);
      const block: Block = { tasks: share, filled: share.length, next: undefined };
      if (this.last === undefined) this.first = block;
      else this.last.next = block;
      this.last = block;
    }
    this.taken = 0;
    this.latest = tasks.at(-1);
    this.length = tasks.length;
  }

  /** Finds the head, dropping dead entries; returns how many were dropped. */
  refreshHead(liveness: Liveness): number {
    let dropped = 0;
    let run = this.runHead();
    while (run !== undefined && !liveness.isLive(run, 0, 0)) {
      this.takeRunHead();
      dropped += 1;
      run = this.runHead();
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
    let from = this.taken;
    for (let block = this.first; block !== undefined; block = block.next) {
      for (let i = from; i < block.filled; i += 1) {
        const task = block.tasks[i] as Task;
        if (liveness.isLive(task, 0, 0)) into.push(task);
      }
      from = 0;
    }
    if (this.heap === undefined) return;
    for (const { task, a, b } of this.heap.entries()) if (liveness.isLive(task, a, b)) into.push(task);
  }

  /** All entries, the dead included, in no particular order. */
  *entries(): Iterable<{ task: Task; a: number; b: number }> {
    let from = this.taken;
    for (let block = this.first; block !== undefined; block = block.next) {
      for (let i = from; i < block.filled; i += 1) {
        yield { task: block.tasks[i] as Task, a: 0, b: 0 };
      }
      from = 0;
    }
    if (this.heap !== undefined) yield* this.heap.entries();
  }

  private choose(run: Task | undefined): void {
    const heap = this.heap;
    if (heap !== undefined && heap.size > 0 && (run === undefined || heap.precedes(0, 0, run))) {
      this.task = heap.task;
      this.a = heap.a;
      this.b = heap.b;
      return;
    }
    this.task = run;
    this.a = 0;
    this.b = 0;
  }

  private startRun(task: Task): void {
    // It may stay the only one, of which there are as many as channels: it takes what it needs, the next ones all.
    this.first = this.last = { tasks: [], filled: 0, next: undefined };
    this.taken = 0;
    this.append(task);
  }

  private append(task: Task): void {
    let last = this.last as Block;
    if (last.filled === BLOCK) {
      last.next = { tasks: new Array<Task>(BLOCK), filled: 0, next: undefined };
      last = this.last = last.next;
    }
    last.tasks[last.filled] = task;
    last.filled += 1;
    this.latest = task;
  }

  private pushHeap(task: Task, a: number, b: number): boolean {
    this.heap ??= new PackedHeap();
    return !this.heap.push(task, a, b);
  }

  private runHead(): Task | undefined {
    return this.first?.tasks[this.taken];
  }

  private takeRunHead(): void {
    const first = this.first as Block;
    this.taken += 1;
    if (this.taken < first.filled) return;
    this.taken = 0;
    this.first = first.next;
    if (this.first !== undefined) return;
    this.last = undefined;
    this.latest = undefined;
  }
}

interface Ranks {
  readonly as: number[];
  readonly bs: number[];
}

/**
 * The ranks of all tasks, unless all are plain; how many are; and whether the tasks come in order.
 *
 * All in one pass, as many tasks do not fit into the processor's cache and touching each is what takes the time.
 */
function rankAll(
  tasks: readonly Task[],
  ranking: Ranking,
): { readonly ranks: Ranks | undefined; readonly plain: number; readonly sorted: boolean } {
  let ranks: Ranks | undefined;
  let plain = 0;
  let sorted = true;
  let [before, beforeA, beforeB] = [tasks[0] as Task, -Infinity, -Infinity];
  for (let i = 0; i < tasks.length; i += 1) {
    const task = tasks[i] as Task;
    const a = ranking.first(task);
    const b = ranking.second(task);
    if (a === 0 && b === 0) {
      plain += 1;
    } else {
      ranks ??= plainRanks(tasks.length);
      ranks.as[i] = a;
      ranks.bs[i] = b;
    }
    if (sorted && compareRank(beforeA, beforeB, before, a, b, task) > 0) sorted = false;
    before = task;
    beforeA = a;
    beforeB = b;
  }
  return { ranks, plain, sorted };
}

function plainRanks(tasks: number): Ranks {
  return { as: new Array<number>(tasks).fill(0), bs: new Array<number>(tasks).fill(0) };
}
