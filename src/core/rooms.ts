import type { Task } from '../model/index.js';
import type { Pool } from '../ready/index.js';
import type { Holding } from './attempts.js';

/** What is kept for a task: all it needs, with a slot that others make way at; or as a reservation, resources alone. */
export interface Room {
  /** Whose slot it is; `undefined` for a reservation. */
  readonly workerId: string | undefined;
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

  /** Who has the reservation. */
  reserved: Task | undefined = undefined;

  get size(): number {
    return this.rooms.size;
  }

  of(task: Task): Room | undefined {
    return this.rooms.get(task);
  }

  keep(task: Task, room: Room): void {
    this.rooms.set(task, room);
    for (const { pool, amount } of room.asks) pool.keep(amount);
    if (room.workerId === undefined) this.reserved = task;
    else this.slots.set(room.workerId, this.slotsKept(room.workerId) + 1);
  }

  drop(task: Task): void {
    const room = this.rooms.get(task);
    if (room === undefined) return;
    this.rooms.delete(task);
    for (const { pool, amount } of room.asks) pool.unkeep(amount);
    if (room.workerId === undefined) this.reserved = undefined;
    else this.slots.set(room.workerId, this.slotsKept(room.workerId) - 1);
  }

  /** Whether others make way for the task. One that has only the reservation may still ask them to. */
  isMadeFor(task: Task): boolean {
    return this.rooms.get(task)?.workerId !== undefined;
  }

  /** How much of the pool is kept for others than this task. */
  keptForOthers(task: Task, pool: Pool): number {
    const own = this.rooms.get(task)?.asks.find((each) => each.pool === pool);
    return own === undefined ? pool.kept : pool.kept - own.amount;
  }

  slotsKept(workerId: string): number {
    return this.slots.get(workerId) ?? 0;
  }

  /** In the order in which they were made. */
  all(): Iterable<[Task, Room]> {
    return this.rooms;
  }
}
