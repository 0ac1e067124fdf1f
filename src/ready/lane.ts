import { standsAt, type Task } from '../model/index.js';
import type { HeadEntry } from './heads.js';
import type { Place } from './place.js';
import { Queue } from './queue.js';
import type { Turn } from './turns.js';

/** What a lane asks of the group it stands in. */
export interface LaneHost {
  /** Whether the task still belongs to this group. */
  owns(task: Task): boolean;
  /** Whether the task still has this rank. */
  ranks(task: Task, a: number, b: number): boolean;
  /** The lane's channel is closed. */
  park(lane: Lane): void;
  /** The channel's account at the group's level. */
  turnOf(channel: string): Turn;
  countDropped(entries: number): void;
}

/** The ready tasks of one place in one group: its head is the best live task, if the channel is open. */
export class Lane extends Queue {
  readonly base = 0;
  entry: HeadEntry | undefined = undefined;
  /** Whether it stands among the lanes that take turns; such lanes have no {@link entry}. */
  competing = false;
  /** The pass it was put there by. */
  pass = 0;
  /** Out of the competition until its channel opens. */
  parked = false;
  /** Its tasks have been moved elsewhere. */
  dropped = false;
  /** At hand, as lanes that take turns are compared by it all the time. */
  readonly channelName: string;
  private account: Turn | undefined = undefined;

  constructor(
    private readonly group: LaneHost,
    readonly place: Place,
  ) {
    super();
    this.channelName = place.channel.name;
  }

  /** Whether it stands in the competition, in whichever way its group holds it. */
  get competes(): boolean {
    return this.entry !== undefined || this.competing;
  }

  /** The channel's account at this level; only lanes that take turns have one. */
  get turn(): Turn {
    if (this.account === undefined || this.account.dropped) this.account = this.group.turnOf(this.channelName);
    return this.account;
  }

  refresh(): boolean {
    if (this.dropped) return false;
    if (!this.place.channel.isOpen()) {
      this.group.park(this);
      return false;
    }
    this.group.countDropped(this.refreshHead(this));
    return this.task !== undefined;
  }

  isLive(task: Task, a: number, b: number): boolean {
    if (task.state !== 'ready') return false;
    if (task.extra?.moved !== true) return true;
    return standsAt(task) === this.place.index && this.group.owns(task) && this.group.ranks(task, a, b);
  }
}
