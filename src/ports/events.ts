import type { ChannelClaims, ErrorRecord, Metadata } from '../model/index.js';

/** What every event about a task states. */
export interface TaskEvent {
  readonly taskId: string;
  /** The number of its latest attempt; `undefined` before the first. */
  readonly attempt: number | undefined;
  readonly channel: string;
  /** The level it is ordered by: its own, or that of something more urgent that waits for it. */
  readonly priority: number;
  /** Who runs it, or ran it until now. */
  readonly workerId: string | undefined;
  /** When it happened, epoch milliseconds. */
  readonly at: number;
  /** What it was added with; left out without. */
  readonly metadata?: Metadata;
}

/** What every event about an attempt states: there is one, and somebody who runs it, or ran it until now. */
export interface AttemptEvent extends TaskEvent {
  readonly attempt: number;
  readonly workerId: string;
}

/** A task was taken in. */
export interface AddedEvent extends TaskEvent {
  /** The ids of those it waits for. */
  readonly after: readonly string[];
}

/** A task was not taken in, or waited to be and is not any more. */
export interface RefusedEvent extends TaskEvent {
  /** What its handle rejects with. */
  readonly error: Error;
}

/** A handler has told how far it has come. */
export interface ProgressEvent extends AttemptEvent {
  /** A fraction from 0 to 1, or whatever the handler tells instead. */
  readonly progress: unknown;
}

/** A task has done what it was for. */
export interface CompletedEvent extends AttemptEvent {
  readonly result: unknown;
  /** How long its attempt took; `undefined` when nobody listened at its start. */
  readonly durationMs: number | undefined;
}

/** A task has ended without a result. */
export interface UncompletedEvent extends TaskEvent {
  /** What its handle rejects with. */
  readonly error: Error;
  /** How long its attempt took, if one ran and somebody listened at its start. */
  readonly durationMs: number | undefined;
}

/** A task was left out because something it depends on did not complete. */
export interface SkippedEvent extends TaskEvent {
  readonly dependencyId: string;
}

/** An attempt did not work out, and there will be another one. */
export interface RetryingEvent extends AttemptEvent {
  readonly error: ErrorRecord | undefined;
  /** How long the task waits before it is ready again. */
  readonly delayMs: number;
  /** Whether the attempt failed, or was lost with its worker. */
  readonly because: 'failure' | 'loss';
}

/** An attempt was asked to make way for a more urgent task. */
export interface PreemptedEvent extends AttemptEvent {
  /** The id of the task that is to start. */
  readonly by: string;
}

/** A ready task has waited beyond its bound. */
export interface StarvedEvent extends TaskEvent {
  readonly waitedMs: number;
}

/** A task is unfinished at its deadline. */
export interface DeadlineMissedEvent extends TaskEvent {
  /** Epoch milliseconds. */
  readonly deadline: number;
}

/** The bound on pending tasks is reached, or their number has fallen to the low mark since. */
export interface SaturatedEvent {
  readonly pending: number;
  readonly maxPending: number;
  readonly at: number;
}

/** A series runs more often than its schedule gives. */
export interface OverranEvent {
  readonly seriesId: string;
  /** When the interval began in which there was more than one run, epoch milliseconds. */
  readonly from: number;
  /** When it ends; `undefined` where nothing comes after it. */
  readonly until: number | undefined;
  readonly at: number;
}

/** How claims are distributed over the channels. */
export interface ClaimsEvent {
  readonly channels: readonly ChannelClaims[];
  readonly at: number;
}

/** A listener has thrown or rejected, or something is wrong with what the scheduler relies on: its store, a handler, a function that decides. */
export interface ListenerErrorEvent {
  /** What a listener threw; else what went wrong, such as a `StoreError` or a `StrategyError`. */
  readonly error: unknown;
  /** The event that the listener was told of; `undefined` where it was none. */
  readonly eventName: string | undefined;
}

/** Nothing more to say than when. */
export interface RestEvent {
  readonly at: number;
}

/** What a scheduler tells whoever listens, by name. */
export interface SchedulerEvents {
  readonly added: AddedEvent;
  readonly refused: RefusedEvent;
  /** The task can be claimed from now on. */
  readonly ready: TaskEvent;
  readonly started: AttemptEvent;
  readonly progress: ProgressEvent;
  readonly completed: CompletedEvent;
  readonly failed: UncompletedEvent;
  readonly retrying: RetryingEvent;
  /** Taken back, or dropped to make room: the error tells. */
  readonly cancelled: UncompletedEvent;
  readonly skipped: SkippedEvent;
  /** Past its expiry before it began; told instead of `cancelled`. */
  readonly expired: UncompletedEvent;
  /** The attempt is gone with its worker; `retrying` or `failed` follows. */
  readonly lost: AttemptEvent;
  /** The attempt was asked to make way; its task goes again, unless it completes all the same. */
  readonly preempted: PreemptedEvent;
  /** Told once per task, where service times are given. */
  readonly starved: StarvedEvent;
  readonly deadlineMissed: DeadlineMissedEvent;
  /** Told again only after `relieved` was. */
  readonly saturated: SaturatedEvent;
  /** There is room again: after `saturated`, no more tasks are pending than `lowWater` says. */
  readonly relieved: SaturatedEvent;
  /** Told again only after an interval with one run or none. */
  readonly overran: OverranEvent;
  /** At most every ten seconds while tasks start, and when the scheduler is idle again. */
  readonly claims: ClaimsEvent;
  /** Every task has started, or ended without. */
  readonly empty: RestEvent;
  /** Every task has ended. */
  readonly idle: RestEvent;
  /**
   * A listener has thrown or rejected; of one to `error` itself nobody is told. Or, without an `eventName`: the store has
   * failed or is full, tasks are back whose handler is not defined, or a strategy, a weight function, a filter or `admit` of one's own has
   * given nothing usable. That is told once for each, and for each type of tasks, with a `StrategyError`.
   */
  readonly error: ListenerErrorEvent;
}

/** The name of an event. */
export type EventName = keyof SchedulerEvents;

/** Somebody who is told of an event; what it throws, or a promise of it that rejects, becomes the event `error`. */
export type Listener<Event> = (event: Event) => unknown;

/** Where events come from. */
export interface EventSource {
  on<Name extends EventName>(name: Name, listener: Listener<SchedulerEvents[Name]>): unknown;
}

const NAMES: Readonly<Record<EventName, true>> = {
  added: true,
  refused: true,
  ready: true,
  started: true,
  progress: true,
  completed: true,
  failed: true,
  retrying: true,
  cancelled: true,
  skipped: true,
  expired: true,
  lost: true,
  preempted: true,
  starved: true,
  deadlineMissed: true,
  saturated: true,
  relieved: true,
  overran: true,
  claims: true,
  empty: true,
  idle: true,
  error: true,
};

/** All names of events. */
export const EVENT_NAMES = Object.keys(NAMES) as readonly EventName[];
