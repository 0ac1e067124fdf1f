import type { Task } from '../model/index.js';
import type { PlaceTasks } from './by-place.js';
import type { Channel, Place, Shape } from './place.js';

/** What a claim looks for: the window it is made in, and the shapes its worker can take. */
export interface ClaimView {
  readonly mono: number;
  readonly window: number;
  matches(shape: Shape): boolean;
}

/** The ready tasks in the order of one strategy. */
export interface Order {
  /** Entries held, the dead included. */
  readonly entries: number;
  insert(task: Task, place: Place): void;
  /** The task has left the ready set; orders that remove lazily need not do anything. */
  remove(task: Task, place: Place): void;
  /** Level, deadline or path of a ready task have changed; it had this effective level before. */
  rekey(task: Task, place: Place, before: number): void;
  /** The best task that could start now, which stays where it is. */
  best(claim: ClaimView): Task | undefined;
  /** When a task could start that waits for tokens alone; `Infinity` when none does, or one could start now. */
  soonest(claim: ClaimView): number;
  /** Tasks of this shape need different amounts from now on. */
  shapeMixed(shape: Shape): void;
  /** The place's tasks leave this order at once. */
  dropPlace(place: Place): void;
  /** No place has this shape any more; its places have been dropped already. */
  dropShape(shape: Shape): void;
  channelClosed(channel: Channel): void;
  channelOpened(channel: Channel): void;
  /** Every live task; one may come up more than once. */
  tasks(): Task[];
  tasksAt(place: Place): Task[];
  /** Takes in all tasks of a place of which it has none yet: quicker than one by one. */
  insertAll(ready: PlaceTasks): void;
}
