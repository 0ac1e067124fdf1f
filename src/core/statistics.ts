import { isFinal, type ChannelClaims, type FinalState, type TaskState } from '../model/index.js';
import { meanOf } from './execution.js';
import type { State } from './state.js';
import type { WaitSummary } from './wait-statistics.js';

/** What there is of one type of task; closures have none, and count under the empty name. */
export interface TypeCount {
  readonly type: string;
  /** Unfinished tasks without an attempt. */
  readonly pending: number;
  /** Tasks whose attempt runs, or waits for another task. */
  readonly begun: number;
  /** How long a successful attempt takes on average; `undefined` before the first. */
  readonly meanMs: number | undefined;
}

/** How many tasks there are and were, by what has come of them. */
export interface Statistics {
  /** Unfinished tasks by their state. */
  readonly tasks: Readonly<Record<Exclude<TaskState, FinalState>, number>>;
  /** Tasks that have ended since the scheduler was made; one that is run again by hand counts each time. */
  readonly ended: Readonly<Record<FinalState, number>>;
  /** Attempts that were started, counted with the channels in use. */
  readonly claims: number;
  /** Attempts that failed or were lost, and were followed by another. */
  readonly retries: number;
  /** How long tasks had been ready that started in the latest one to two minutes. */
  readonly waits: WaitSummary;
  /** Of the attempts that completed their tasks. */
  readonly durations: { readonly count: number; readonly meanMs: number };
  /** The channels in use: one that nothing has used for long is forgotten, with its count. */
  readonly channels: readonly ChannelClaims[];
  /** Those of which there are unfinished tasks. */
  readonly types: readonly TypeCount[];
}

/** Counts everything; costs as much as there are tasks. */
export function statisticsOf(state: State, mono: number): Statistics {
  const tasks = { waiting: 0, delayed: 0, ready: 0, running: 0 };
  const types = new Map<string, { pending: number; begun: number }>();
  for (const { state: of, attempt, spec } of state.table.all()) {
    if (isFinal(of)) continue;
    tasks[of] += 1;
    const type = types.get(spec.type) ?? { pending: 0, begun: 0 };
    types.set(spec.type, type);
    if (attempt === undefined) type.pending += 1;
    else type.begun += 1;
  }
  const { completed, failed, cancelled, skipped, retries, ranMs } = state.totals;
  const channels = claimsByChannel(state);
  return {
    tasks,
    ended: { completed, failed, cancelled, skipped },
    claims: channels.reduce((sum, { claimed }) => sum + claimed, 0),
    retries,
    waits: state.waits.summary(mono),
    durations: { count: completed, meanMs: completed === 0 ? 0 : ranMs / completed },
    channels,
    types: [...types].map(([type, counts]) => ({ type, ...counts, meanMs: meanOf(state, type) })),
  };
}

/** How claims are distributed over the channels in use; costs as much as there are tasks. */
export function claimsByChannel(state: State): ChannelClaims[] {
  const pending = new Map<string, number>();
  for (const { state: of, attempt, spec } of state.table.all()) {
    if (attempt === undefined && !isFinal(of)) pending.set(spec.channel, (pending.get(spec.channel) ?? 0) + 1);
  }
  return [...state.places.allChannels()].map(({ name: channel, claims: claimed }) => {
    return { channel, claimed, pending: pending.get(channel) ?? 0 };
  });
}
