import type { AttemptEnd, Fact, FailurePolicy, FinalState, Need, TaskSpec } from '../../model/index.js';

/** A dependency as the facts tell of it. */
export interface WitnessedEdge {
  readonly policy: FailurePolicy;
  /** Whether it holds nobody up any more. */
  passed: boolean;
}

/** An attempt that holds what it took. */
export interface WitnessedAttempt {
  readonly task: WitnessedTask;
  readonly number: number;
  readonly workerId: string;
}

/** A task as nothing but the facts tell of it. */
export interface WitnessedTask {
  readonly id: string;
  readonly sequence: number;
  readonly type: string;
  readonly channel: string;
  readonly needs: readonly Need[];
  /** What may start it: tasks that are alike in this may start whenever one of them may. */
  readonly shape: string;
  /** The same but for the channel. */
  readonly kind: string;
  /** Epoch milliseconds; `Infinity` without one. */
  readonly deadline: number;
  /** With the sequence, the FIFO order. */
  readonly due: number;
  state: 'waiting' | 'delayed' | 'ready' | 'running' | FinalState;
  level: number;
  readonly after: Map<string, WitnessedEdge>;
  /** Ids of those that come after it. */
  readonly before: Set<string>;
  /** Epoch milliseconds before which it is not ready; passed once is passed for good. */
  eta: number;
  /** Monotonic time before which it is not ready. */
  notBefore: number;
  attempts: number;
  epoch: number;
  live: WitnessedAttempt | undefined;
  lastEnd: AttemptEnd | undefined;
  /** Whether what it needs is kept for it, with a slot or without one. */
  room: 'slot' | 'reservation' | undefined;
  isForgotten: boolean;
  /** Whether it has failed and was run again by hand. */
  wasRevived: boolean;
}

type Submitted = Extract<Fact, { kind: 'task.submitted' }>;

/** A task that has just come in. */
export function witnessed({ task, sequence, spec, due, eta }: Submitted): WitnessedTask {
  // What JSON leaves out of a spec is what most tasks have.
  const { type = '', channel = 'default', level = 2, ...said } = spec as Partial<TaskSpec>;
  const { needs = [], capabilities = [] } = said;
  return {
    ...{ id: task, sequence, due, level, type, channel, needs, after: new Map(), before: new Set() },
    shape: JSON.stringify([channel, type, needs, capabilities]),
    kind: JSON.stringify([type, needs, capabilities]),
    deadline: said.deadline ?? Infinity,
    ...{ state: 'waiting', eta: eta ?? -Infinity, notBefore: -Infinity, attempts: 0, epoch: 0 },
    ...{ live: undefined, lastEnd: undefined, room: undefined, isForgotten: false, wasRevived: false },
  };
}

/** Whether it has ended. */
export function hasEnded({ state }: WitnessedTask): boolean {
  return state === 'completed' || state === 'failed' || state === 'cancelled' || state === 'skipped';
}

/** Whether tasks that come after this one by that policy may start, now that it has ended. */
export function lets({ state }: WitnessedTask, policy: FailurePolicy): boolean {
  return state === 'completed' || policy === 'run';
}
