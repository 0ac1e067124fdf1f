import type { ErrorRecord } from './error-record.js';
import type { Moment } from './moment.js';
import type { Need, TaskSpec } from './spec.js';
import type { TaskState } from './state.js';

/** What few tasks have; kept apart so that the others stay small. */
export interface TaskExtra {
  /** The level set after submission; `undefined` leaves the spec's. */
  level: number | undefined;
  /** The effective deadline (own or inherited), epoch milliseconds, `Infinity` when there is none. */
  deadline: number;
  /** Epoch milliseconds before which the task does not start; moved when it is retried by hand. */
  eta: number;
  /** Monotonic time at which the backoff ends; `-Infinity` outside of one. */
  backoffUntil: number;
  /** Attempts that count against the retry policy. */
  failures: number;
  /** Attempts that ended with their worker; they have a budget of their own. */
  losses: number;
  /** Expected duration for the critical path, fixed at submission. */
  estimateMs: number;
  /** The series this task is an occurrence of, and the tick it was made for. */
  series: string | undefined;
  scheduledAt: number;
  /** The sequence of the task that added this one. */
  parent: number | undefined;
  /** Whether it was told that the deadline has passed. */
  deadlineMissed: boolean;
  /** While ready: the monotonic time by which it starts, by its bound; `-Infinity` while newcomers may go before it. */
  startsBy: number;
  /** How many reservations had been given when that was worked out: those given to others since put it off. */
  reservationsSeen: number;
  /** Whether it was told that its wait has exceeded its bound. */
  starved: boolean;
  /** How often it was stopped for a more urgent one. */
  preemptions: number;
  /** How often tasks have started, since it last did, that took what it lacked. */
  bypasses: number;
  /** Whether its channel has paid for the next start already, with that of the attempt which was stopped. */
  turnPaid: boolean;
  /** What the last failure left behind. */
  error: ErrorRecord | undefined;
  /** How far an attempt has come, in its own words: where the next one goes on. */
  checkpoint: unknown;
  /** Whether orders may hold older entries of it, which its state alone does not tell from the one that counts. */
  moved: boolean;
}

/**
 * The core's record of one task.
 *
 * Pending tasks are many, so every field counts: what only a running task has lives in its {@link Attempt}, what
 * few tasks have in {@link TaskExtra}, and what many tasks share in their spec.
 */
export class Task {
  state: TaskState = 'waiting';
  /** The effective level: own, or inherited from whoever waits for this task. */
  urgency: number;
  /**
   * While ready and counted: the monotonic time since which the task would have been ready had all its ready time
   * been in one piece. Otherwise: the ready time gathered so far.
   */
  ready = 0;
  /** The slot in the dependency graph, -1 without any edge. */
  node = -1;
  /** The interned pair of channel and shape. */
  place = -1;
  /** How many attempts were ever started; the next one's number is one more. */
  attempts = 0;
  attempt: Attempt | undefined = undefined;
  extra: TaskExtra | undefined = undefined;
  /** The result once completed, the error once failed. */
  value: unknown = undefined;

  constructor(
    readonly sequence: number,
    readonly spec: TaskSpec,
    /** The caller's business: an input, a handle. */
    public payload: unknown,
    /** The later of ETA and submission, relative to the core's origin: with the sequence it is the FIFO order. */
    readonly due: number,
  ) {
    this.urgency = spec.level;
  }

  /** The user's id, or one derived from the sequence. */
  get id(): string {
    return this.spec.id ?? generatedId(this.sequence);
  }

  /** The level the user asked for last. */
  get level(): number {
    return this.extra?.level ?? this.spec.level;
  }

  /** The effective deadline, `Infinity` when there is none. */
  get deadline(): number {
    return this.extra === undefined ? Infinity : this.extra.deadline;
  }
}

/** Names one attempt for ever: a later one of the same task has a larger token, epoch first. */
export interface FencingToken {
  readonly epoch: number;
  readonly attempt: number;
  /** Of the task: an id may be used again once its task is forgotten, and numbers attempts from one again. */
  readonly sequence?: number;
}

/** The level at which a start was charged, and how much, which with `charge: 'time'` is a guess until the end. */
export interface Charged {
  readonly level: number;
  readonly amount: number;
}

/** What an attempt is at that waits: for another task, or to go on after it gave way. */
export interface AttemptWait {
  /** The task it waits for, or waited for until it goes on; `undefined` when it only gave way to others. */
  readonly on: Task | undefined;
  /** Monotonic. */
  readonly since: number;
  /** The interned pair of channel and shape at which it stands in line to go on; -1 once it no longer will. */
  place: number;
}

/** One execution of a task, `id#n`. */
export class Attempt {
  /** Its result no longer counts (cancelled, timed out), but it still holds its resources until it settles. */
  abandoned = false;
  // Most attempts have no lease, and a number that is not small takes memory of its own.
  private lease: { readonly ms: number; endsAt: number } | undefined;
  /** It has settled, or its worker is gone: nothing is held any more. */
  over = false;
  /** What its start was charged; only while channels take turns. */
  charged: Charged | undefined = undefined;
  /** While it waits for another task, or gives way, and until it goes on: it holds nothing but what it keeps meanwhile. */
  wait: AttemptWait | undefined = undefined;
  /** How often it has gone on after a wait; whoever is handed one with none starts it, any other goes on. */
  resumptions = 0;
  /** Time spent in waits that are over. */
  waitedMs = 0;
  /** Monotonic: when it started, or last went on after a wait. */
  runningSince: number;
  /** What its use of a resource was charged or corrected to, where that is not its need: after a report, or as there was no rate. */
  costs: Map<string, number> | undefined = undefined;
  /** Monotonic time by which it should have made way for a more urgent task; `undefined` unless it was asked to. */
  stopBy: number | undefined = undefined;

  constructor(
    readonly task: Task,
    readonly number: number,
    readonly epoch: number,
    readonly workerId: string,
    readonly started: Moment,
    leaseMs: number,
  ) {
    this.runningSince = started.mono;
    this.lease = leaseMs === Infinity ? undefined : { ms: leaseMs, endsAt: started.mono + leaseMs };
  }

  /** How long it may go without a heartbeat; `Infinity` without a lease. */
  get leaseMs(): number {
    return this.lease === undefined ? Infinity : this.lease.ms;
  }

  /** Monotonic end of the lease; `Infinity` without one. */
  get leaseEndsAt(): number {
    return this.lease === undefined ? Infinity : this.lease.endsAt;
  }

  set leaseEndsAt(mono: number) {
    if (this.lease !== undefined) this.lease.endsAt = mono;
  }

  /** When its time is up, unless it waits by then: meanwhile the timeout stands still. */
  get timesOutAt(): number {
    return this.started.mono + this.task.spec.timeoutMs + this.waitedMs;
  }

  /** When it would have started had it never waited: its run time counts from there. */
  get runsSince(): number {
    return this.started.mono + this.waitedMs;
  }

  /** How long it has run until then, the waits left out. */
  ranMs(mono: number): number {
    return (this.wait?.since ?? mono) - this.runsSince;
  }

  get id(): string {
    return `${this.task.id}#${String(this.number)}`;
  }

  get token(): FencingToken {
    return { epoch: this.epoch, attempt: this.number, sequence: this.task.sequence };
  }
}

/** The id of a task that was given none. */
export function generatedId(sequence: number): string {
  return `task-${String(sequence)}`;
}

/** The sequence a generated id stands for; `undefined` for any other id. */
export function sequenceOf(id: string): number | undefined {
  if (!id.startsWith('task-')) return undefined;
  const digits = id.slice(5);
  return /^(?:0|[1-9]\d*)$/.test(digits) ? Number(digits) : undefined;
}

/** The FIFO order, fixed for life: the later of ETA and submission, then the sequence. */
export function compareFifo(a: Task, b: Task): number {
  return a.due - b.due || a.sequence - b.sequence;
}

/** The interned pair of channel and shape at which the task stands: an attempt that waits to go on has one of its own. */
export function standsAt(task: Task): number {
  const wait = task.attempt?.wait;
  return wait === undefined ? task.place : wait.place;
}

/** What the task takes of resources when it starts or goes on, as it stands. */
export function needsOf({ attempt, spec }: Task): readonly Need[] {
  return attempt?.wait === undefined ? spec.needs : yieldedNeeds(spec);
}

/** The needs that an attempt keeps while it waits for another task. */
export function keptNeeds({ needs, yieldable }: TaskSpec): readonly Need[] {
  return yieldable.length === 0 ? needs : needs.filter(({ resource }) => !yieldable.includes(resource));
}

/** The needs that it gives back meanwhile. */
export function yieldedNeeds({ needs, yieldable }: TaskSpec): readonly Need[] {
  return yieldable.length === 0 ? NO_NEEDS : needs.filter(({ resource }) => yieldable.includes(resource));
}

const NO_NEEDS: readonly Need[] = Object.freeze([]);

/** The task's extra record, made on first need. */
export function extraOf(task: Task): TaskExtra {
  task.extra ??= {
    level: undefined,
    deadline: task.spec.deadline,
    eta: -Infinity,
    backoffUntil: -Infinity,
    failures: 0,
    losses: 0,
    estimateMs: 1,
    series: undefined,
    scheduledAt: 0,
    parent: undefined,
    deadlineMissed: false,
    startsBy: -Infinity,
    reservationsSeen: 0,
    starved: false,
    preemptions: 0,
    bypasses: 0,
    turnPaid: false,
    error: undefined,
    checkpoint: undefined,
    moved: false,
  };
  return task.extra;
}
