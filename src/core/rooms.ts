import type { Task } from '../model/index.js';
import type { Holding } from './attempts.js';

/** What is kept for a task that others were asked to make way for: all it needs, and a slot. */
export interface Room {
  /** Whose slot it is. */
  readonly workerId: string;
  readonly asks: readonly Holding[];
  /** Monotonic; `Infinity` once everybody has made way. */
  readonly until: number;
}

/**
 * All that is kept. Units are kept from the moment at which others are asked to make way, so that what they free, and
 * what was free before, goes to nobody else; together with what is still held they may come to more than there is.
 */
export class Rooms {
  private readonly rooms = new Map<Task, Room>();
  private readonly slots = new Map<string, number>();

  get size(): number {
    return this.rooms.size;
  }

  of(task: Task): Room | undefined {
    return this.rooms.get(task);
  }

  keep(task: Task, room: Room): void {
    this.rooms.set(task, room);
    for (const { pool, amount } of room.asks) pool.kept += amount;
    this.slots.set(room.workerId, this.slotsKept(room.workerId) + 1);
  }

  drop(task: Task): void {
    const room = this.rooms.get(task);
    if (room === undefined) return;
    this.rooms.delete(task);
    for (const { pool, amount } of room.asks) pool.unkeep(amount);
    this.slots.set(room.workerId, this.slotsKept(room.workerId) - 1);
  }

  slotsKept(workerId: string): number {
    return this.slots.get(workerId) ?? 0;
  }

  /** In the order in which they were made. */
  all(): Iterable<[Task, Room]> {
    return this.rooms;
  }
}
