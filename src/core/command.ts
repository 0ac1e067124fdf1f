import type {
  FailurePolicy,
  FencingToken,
  Moment,
  Outcome,
  RateLimit,
  RecurrenceSpec,
  TaskSpec,
} from '../model/index.js';
import type { Aging, StrategyChoice } from '../ready/index.js';
import type { Cancellation } from './decide/cancel.js';
import type { Origin } from './decide/make-room.js';
import type { PlanRequest } from './decide/plan.js';
import type { Feedback } from './decide/report.js';
import type { DependencyInput, Submission } from './decide/take-in.js';
import type { PressureSettings } from './pressure.js';
import type { WorkerSpec } from './worker.js';

/** What can be asked of the core. Every command carries the time. */
export type Command = { readonly now: Moment } & (
  | {
      readonly kind: 'submit';
      readonly spec: TaskSpec;
      readonly payload?: unknown;
      readonly after?: readonly DependencyInput[];
      readonly origin?: Origin;
      /** The running task that adds it: it is let in above the bound, and taken back with its parent. */
      readonly parent?: string;
    }
  | { readonly kind: 'submitAll'; readonly tasks: readonly Submission[]; readonly origin?: Origin }
  | { readonly kind: 'claim'; readonly worker: string; readonly count: number }
  | ({ readonly kind: 'plan' } & PlanRequest)
  | { readonly kind: 'settle'; readonly task: string; readonly token: FencingToken; readonly outcome: Outcome }
  | { readonly kind: 'extend'; readonly task: string; readonly token: FencingToken; readonly leaseMs: number }
  /** Keeps how far the attempt has come, for the next one of its task. */
  | { readonly kind: 'checkpoint'; readonly task: string; readonly token: FencingToken; readonly checkpoint: unknown }
  | { readonly kind: 'release'; readonly task: string; readonly token: FencingToken }
  /** The attempt waits until the awaited task has ended; if it has already, nothing happens. */
  | { readonly kind: 'waitFor'; readonly task: string; readonly token: FencingToken; readonly awaited: string }
  | ({
      readonly kind: 'report';
      readonly task: string;
      readonly token: FencingToken;
      readonly resource: string;
    } & Feedback)
  /** The attempt is at a yield, where it may give way. */
  | { readonly kind: 'yield'; readonly task: string; readonly token: FencingToken }
  | ({ readonly kind: 'cancel'; readonly task: string } & Cancellation)
  /** Those of them that are unfinished. */
  | ({ readonly kind: 'cancelAll'; readonly tasks: readonly string[] } & Cancellation)
  | { readonly kind: 'setPriority'; readonly task: string; readonly level: number }
  | {
      readonly kind: 'addDependency';
      readonly task: string;
      readonly dependency: string;
      readonly onFailure: FailurePolicy;
    }
  | { readonly kind: 'removeDependency'; readonly task: string; readonly dependency: string }
  | { readonly kind: 'retry'; readonly task: string }
  /** Running attempts make way for more urgent tasks that nothing but that lets start. */
  | { readonly kind: 'preempt' }
  | { readonly kind: 'tick' }
  | { readonly kind: 'pauseChannel'; readonly channel: string }
  | { readonly kind: 'resumeChannel'; readonly channel: string }
  | { readonly kind: 'setChannels'; readonly only: readonly string[] | undefined }
  | { readonly kind: 'closeChannel'; readonly channel: string }
  | { readonly kind: 'openChannel'; readonly channel: string }
  | { readonly kind: 'setStrategy'; readonly strategy: StrategyChoice }
  | { readonly kind: 'setAging'; readonly aging: Partial<Aging> | false }
  | { readonly kind: 'setCapacity'; readonly resource: string; readonly units: number }
  | {
      readonly kind: 'setLimit';
      readonly scope: 'global' | 'type' | 'channel';
      readonly key: string;
      readonly limit: number;
    }
  | {
      readonly kind: 'setRate';
      readonly scope: 'resource' | 'type';
      /** The resource or the type; `*` is for every type without a rate of its own. */
      readonly key: string;
      /** `undefined` takes the limit away. */
      readonly rate: RateLimit | undefined;
    }
  | { readonly kind: 'setWeight'; readonly channel: string; readonly weight: number }
  | { readonly kind: 'setCharge'; readonly charge: 'turns' | 'time' }
  | { readonly kind: 'setPressure'; readonly pressure: Partial<PressureSettings> }
  | { readonly kind: 'attachWorker'; readonly worker: WorkerSpec }
  | { readonly kind: 'detachWorker'; readonly worker: string }
  | {
      readonly kind: 'repeat';
      readonly series: string;
      readonly spec: TaskSpec;
      readonly recurrence: RecurrenceSpec;
      readonly payload?: unknown;
    }
  | { readonly kind: 'cancelSeries'; readonly series: string }
  | { readonly kind: 'pauseSeries'; readonly series: string }
  | { readonly kind: 'resumeSeries'; readonly series: string }
  /** The first after a restart; the store, where it counts who has opened it, says which epoch begins. */
  | { readonly kind: 'recover'; readonly epoch?: number }
);

/** A command without its time, which whoever sends it adds. */
export type Request = Command extends infer Each ? (Each extends Command ? Omit<Each, 'now'> : never) : never;
