import type { Task } from '../model/index.js';

/** Tasks per block at the most; a full one in the middle is halved. */
const BLOCK = 64;

/** Tasks in order of sequence, the k-th of which is found, and any one put in or taken out, in O(log n). */
export class NumberedTasks implements Iterable<Task> {
  size = 0;
  private blocks: Task[][] = [];
  /** The sequence from which on a task belongs into each block. */
  private froms: number[] = [];
  /** How many tasks stretches of blocks hold: entry i, from 1 on, stands for as many as its lowest bit says, up to block i. */
  private sums: number[] = [0];
  private empty = 0;

  /** Holds these tasks, which come in order of sequence, while it is empty. */
  fill(tasks: readonly Task[]): void {
    for (let from = 0; from < tasks.length; from += BLOCK) this.blocks.push(tasks.slice(from, from + BLOCK));
    this.size = tasks.length;
    this.froms = this.blocks.map((block) => (block[0] as Task).sequence);
    this.addUp();
  }

  /** Adds a task; `false` when it is there already. */
  insert(task: Task): boolean {
    const { sequence } = task;
    const last = this.blocks.length - 1;
    const index = Math.max(0, this.blockFor(sequence));
    const block = this.blocks[index];
    if (block === undefined || (index === last && block.length === BLOCK && sequence > sequenceAt(block, BLOCK - 1))) {
      this.append(task);
      return true;
    }
    const at = positionIn(block, sequence);
    if (block[at] === task) return false;
    if (block.length === 0) this.empty -= 1;
    block.splice(at, 0, task);
    this.froms[index] = Math.min(this.froms[index] as number, sequence);
    this.size += 1;
    if (block.length > BLOCK) this.halve(index, block);
    else this.count(index, 1);
    return true;
  }

  /** Takes a task out; `false` when it is not there. */
  remove(task: Task): boolean {
    const index = this.blockFor(task.sequence);
    const block = this.blocks[index];
    if (block === undefined) return false;
    const at = positionIn(block, task.sequence);
    if (block[at] !== task) return false;
    block.splice(at, 1);
    this.size -= 1;
    this.count(index, -1);
    if (block.length === 0) this.emptied();
    return true;
  }

  /** The task with this number, counted from 0; it must be below the size. */
  at(number: number): Task {
    let rest = number;
    let index = 0;
    const { sums } = this;
    for (let step = 1 << (31 - Math.clz32(Math.max(1, this.blocks.length))); step > 0; step >>= 1) {
      const next = index + step;
      if (next >= sums.length || (sums[next] as number) > rest) continue;
      index = next;
      rest -= sums[next] as number;
    }
    return (this.blocks[index] as Task[])[rest] as Task;
  }

  *[Symbol.iterator](): Generator<Task, void, undefined> {
    for (const block of this.blocks) yield* block;
  }

  /** The last block that begins at or before this sequence; -1 when all begin after it. */
  private blockFor(sequence: number): number {
    let from = 0;
    let to = this.froms.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.froms[middle] as number) <= sequence) from = middle + 1;
      else to = middle;
    }
    return from - 1;
  }

  /** Begins a new last block. */
  private append(task: Task): void {
    this.blocks.push([task]);
    this.froms.push(task.sequence);
    this.size += 1;
    const index = this.blocks.length;
    let sum = 1;
    for (let part = index - 1; part > index - (index & -index); part -= part & -part) sum += this.sums[part] as number;
    this.sums.push(sum);
  }

  private halve(index: number, block: Task[]): void {
    const second = block.splice(BLOCK / 2);
    this.blocks.splice(index + 1, 0, second);
    this.froms.splice(index + 1, 0, sequenceAt(second, 0));
    this.addUp();
  }

  /** Empty blocks stay until they are the most: to close up costs as much as there are blocks. */
  private emptied(): void {
    this.empty += 1;
    if (2 * this.empty <= this.blocks.length) return;
    this.froms = this.froms.filter((_, index) => (this.blocks[index] as Task[]).length > 0);
    this.blocks = this.blocks.filter((block) => block.length > 0);
    this.addUp();
  }

  private count(index: number, change: 1 | -1): void {
    for (let at = index + 1; at < this.sums.length; at += at & -at) this.sums[at] = (this.sums[at] as number) + change;
  }

  private addUp(): void {
    const sums = [0, ...this.blocks.map((block) => block.length)];
    for (let at = 1; at < sums.length; at += 1) {
      const above = at + (at & -at);
      if (above < sums.length) sums[above] = (sums[above] as number) + (sums[at] as number);
    }
    this.sums = sums;
    this.empty = this.blocks.filter((block) => block.length === 0).length;
  }
}

function sequenceAt(block: readonly Task[], at: number): number {
  return (block[at] as Task).sequence;
}

/** Where a task of this sequence stands in the block, or would. */
function positionIn(block: readonly Task[], sequence: number): number {
  let from = 0;
  let to = block.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (sequenceAt(block, middle) < sequence) from = middle + 1;
    else to = middle;
  }
  return from;
}
