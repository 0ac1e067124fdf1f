import type { ErrorRecord } from './error-record.js';
import type { Moment } from './moment.js';
import type { RecurrenceSpec } from './recurrence.js';
import type { Setting, StrategyRecord } from './setting.js';
import type { CapabilityValue, FailurePolicy, TaskSpec } from './spec.js';

/** The version of the facts written by this code; an older journal is migrated, a newer one refused. */
export const FACT_VERSION = 1;

/** A dependency as a fact names it. */
export interface DependencyRecord {
  readonly task: string;
  readonly onFailure: FailurePolicy;
}

/** Which occurrence of which series a task is. */
export interface OccurrenceRecord {
  readonly series: string;
  readonly scheduledAt: number;
}

/** How an attempt stopped counting. */
export type AttemptEnd = 'succeeded' | 'failed' | 'lost' | 'released' | 'preempted' | 'abandoned';

/** A worker as plain data. */
export interface WorkerRecord {
  readonly id: string;
  readonly slots: number | null;
  readonly capabilities: readonly (readonly [string, CapabilityValue | readonly CapabilityValue[]])[];
  /** `null`: the scheduler's own. */
  readonly strategy: StrategyRecord | null;
  /** Whether it had a filter, which data cannot hold: until it is attached again such a worker takes nothing. */
  readonly filtered: boolean;
  /** Whether it leaves tasks alone that ask for no capability; only where it does. */
  readonly exclusive?: true;
  readonly leaseMs: number | null;
  readonly retries: number | null;
}

/**
 * Something that has happened, and when. Facts are plain data: replayed in order they make the same state again.
 *
 * `null` stands for "unlimited" or "never" where a number would be infinite, which plain JSON cannot say.
 */
export type Fact = Moment &
  (
    | {
        readonly kind: 'task.submitted';
        readonly task: string;
        readonly sequence: number;
        readonly spec: TaskSpec;
        readonly payload: unknown;
        readonly after: readonly DependencyRecord[];
        readonly eta: number | null;
        /** The later of ETA and submission, epoch milliseconds: with the sequence it is the FIFO order. */
        readonly due: number;
        readonly estimateMs: number;
        readonly occurrence: OccurrenceRecord | undefined;
        /** The task that added it. */
        readonly parent: string | undefined;
      }
    | { readonly kind: 'task.delayed'; readonly task: string }
    | { readonly kind: 'task.ready'; readonly task: string }
    | {
        readonly kind: 'attempt.started';
        readonly task: string;
        readonly attempt: number;
        readonly epoch: number;
        readonly workerId: string;
        readonly channel: string;
        readonly level: number;
        readonly leaseMs: number | null;
      }
    | {
        readonly kind: 'attempt.ended';
        readonly task: string;
        readonly attempt: number;
        readonly workerId: string;
        readonly how: AttemptEnd;
      }
    /** It waits for another task, and has handed back its slot, its places under limits and what it yields. */
    | {
        readonly kind: 'attempt.waiting';
        readonly task: string;
        readonly attempt: number;
        readonly workerId: string;
        readonly awaited: string;
      }
    /** It gave way at a yield, and stands in line to go on; meanwhile it has handed back the same as one that waits. */
    | {
        readonly kind: 'attempt.gaveWay';
        readonly task: string;
        readonly attempt: number;
        readonly workerId: string;
      }
    /** The same attempt goes on. */
    | {
        readonly kind: 'attempt.resumed';
        readonly task: string;
        readonly attempt: number;
        readonly workerId: string;
        readonly channel: string;
        readonly level: number;
      }
    | {
        readonly kind: 'attempt.settledLate';
        readonly task: string;
        /** The task's: by the time an abandoned attempt settles, its id may belong to another one. */
        readonly sequence: number;
        readonly attempt: number;
      }
    | {
        readonly kind: 'lease.extended';
        readonly task: string;
        readonly attempt: number;
        readonly leaseEndsAt: number | null;
      }
    /** Where the task's next attempt goes on, should this one not end well. */
    | {
        readonly kind: 'task.checkpointed';
        readonly task: string;
        readonly attempt: number;
        readonly checkpoint: unknown;
      }
    | {
        readonly kind: 'cost.reported';
        readonly task: string;
        readonly attempt: number;
        readonly resource: string;
        readonly cost: number;
      }
    /** Nothing that uses the resource starts before. */
    | {
        readonly kind: 'resource.closed';
        readonly task: string;
        readonly attempt: number;
        readonly resource: string;
        readonly untilMono: number;
      }
    | {
        readonly kind: 'task.completed';
        readonly task: string;
        readonly value: unknown;
      }
    | {
        readonly kind: 'task.retryScheduled';
        readonly task: string;
        readonly untilMono: number;
        readonly spent: 'failure' | 'loss';
        readonly error: ErrorRecord | undefined;
      }
    | {
        readonly kind: 'task.failed';
        readonly task: string;
        readonly error: ErrorRecord;
      }
    | {
        readonly kind: 'task.cancelled';
        readonly task: string;
        readonly error: ErrorRecord;
      }
    | {
        readonly kind: 'task.skipped';
        readonly task: string;
        readonly dependency: string;
      }
    | { readonly kind: 'task.revived'; readonly task: string }
    /** Another task with its id takes its place; unless it has ended, its end is told next. */
    | { readonly kind: 'task.replaced'; readonly task: string }
    /** What it comes after has been replaced by a task that is unfinished; told after that one's submission. */
    | { readonly kind: 'task.waiting'; readonly task: string }
    /** Another call with its key: it does the work of that one, and not before that time where there is one. */
    | {
        readonly kind: 'task.renewed';
        readonly task: string;
        readonly payload: unknown;
        readonly eta: number | null;
      }
    /** Beyond retention, and kept only because an unfinished dependant may still ask for its result. */
    | { readonly kind: 'task.pinned'; readonly task: string }
    | { readonly kind: 'task.forgotten'; readonly task: string }
    | { readonly kind: 'deadline.missed'; readonly task: string }
    /** Nobody new goes before the task any more; by its bound on waiting it starts by then. */
    | { readonly kind: 'task.startExpected'; readonly task: string; readonly byMono: number }
    /** The task has waited beyond its bound; told once. */
    | { readonly kind: 'task.starved'; readonly task: string; readonly waitedMs: number }
    /** The attempt was asked to make way for another task, and has until then to do so. */
    | {
        readonly kind: 'task.preempted';
        readonly task: string;
        readonly attempt: number;
        readonly workerId: string;
        readonly by: string;
        readonly stopByMono: number;
      }
    /** Another task has started that took what this one lacks. */
    | { readonly kind: 'task.bypassed'; readonly task: string; readonly by: string }
    /**
     * What the task needs is kept for it until then, `null` for as long as it waits: with a slot of this worker, for which
     * others make way, or without one, as a reservation.
     */
    | {
        readonly kind: 'room.kept';
        readonly task: string;
        readonly workerId?: string;
        readonly untilMono: number | null;
      }
    /** Whoever was asked to make way for the task did not: what was kept for it is free for all. */
    | { readonly kind: 'room.dropped'; readonly task: string }
    | { readonly kind: 'priority.set'; readonly task: string; readonly level: number }
    | {
        readonly kind: 'dependency.added';
        readonly task: string;
        readonly dependency: string;
        readonly onFailure: FailurePolicy;
      }
    | { readonly kind: 'dependency.removed'; readonly task: string; readonly dependency: string }
    | { readonly kind: 'channel.paused'; readonly channel: string }
    | { readonly kind: 'channel.resumed'; readonly channel: string }
    | { readonly kind: 'channel.closed'; readonly channel: string }
    | { readonly kind: 'channel.opened'; readonly channel: string }
    | { readonly kind: 'configured'; readonly setting: Setting }
    /** The bound on pending tasks is reached, or the low mark is after that; told once each. */
    | {
        readonly kind: 'pending.saturated' | 'pending.relieved';
        readonly pending: number;
        readonly maxPending: number | null;
      }
    | {
        readonly kind: 'series.added';
        readonly series: string;
        readonly spec: TaskSpec;
        readonly recurrence: RecurrenceSpec;
        readonly payload: unknown;
        readonly nextAt: number | null;
      }
    /** It was asked for once more: what it makes from now on, and when. */
    | {
        readonly kind: 'series.updated';
        readonly series: string;
        readonly spec: TaskSpec;
        readonly recurrence: RecurrenceSpec;
        readonly payload: unknown;
        readonly nextAt: number | null;
        readonly queued: readonly number[];
      }
    | {
        readonly kind: 'series.scheduled';
        readonly series: string;
        /** When the next occurrence is made; `null` while one is awaited, or when the series has ended. */
        readonly nextAt: number | null;
        /** Ticks that wait for the occurrence before to end. */
        readonly queued: readonly number[];
        readonly skipped: number;
      }
    | { readonly kind: 'series.paused'; readonly series: string }
    | { readonly kind: 'series.resumed'; readonly series: string }
    /** More of its runs began in one interval, from the first of them to the tick after it, than its schedule gives. */
    | { readonly kind: 'series.overran'; readonly series: string; readonly from: number; readonly until: number | null }
    | { readonly kind: 'series.ended'; readonly series: string; readonly reason: 'cancelled' | 'finished' }
    | { readonly kind: 'worker.attached'; readonly worker: WorkerRecord }
    | { readonly kind: 'worker.detached'; readonly worker: string }
    | { readonly kind: 'random.drawn'; readonly state: readonly number[] }
    | { readonly kind: 'recovered'; readonly epoch: number }
  );
