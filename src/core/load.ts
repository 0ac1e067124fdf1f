import type { RateLimit } from '../model/index.js';
import type { Flow, Pool } from '../ready/index.js';
import type { TypeLimits } from './resources.js';
import type { State } from './state.js';
import type { WaitSummary } from './wait-statistics.js';

/** How much of something is in use: 1 is all of it, and of what has no limit nothing ever is. */
export interface Utilisation {
  readonly used: number;
  readonly capacity: number;
  readonly share: number;
}

/** A token bucket, and how full it is. */
export interface RateLoad extends RateLimit {
  /** Tokens to be had now: at most `burst`, and below zero after a debt. */
  readonly tokens: number;
}

/** How much of a resource is in use, and what passes of it in the course of time. */
export interface ResourceLoad extends Utilisation {
  /** Units that are free, but kept for a task that is to start next. */
  readonly kept: number;
  /** `undefined` where only units count. */
  readonly rate: RateLoad | undefined;
  /** For how much longer nothing that needs it starts, as a handler reported; 0 for no pause. */
  readonly pausedForMs: number;
}

/** How many tasks of a type run of those that may, and how many start in the course of time. */
export interface TypeLoad extends Utilisation {
  /** `undefined` where only those that run count. */
  readonly rate: RateLoad | undefined;
}

/** The limits on how many tasks run, and how many do. */
export interface LimitsLoad {
  readonly global: Utilisation;
  /** Types that have a limit: those named in one, and of those under `*` all that are in use. `*` itself holds nothing. */
  readonly perType: ReadonlyMap<string, TypeLoad>;
  /** Channels that have a limit, in the same way. */
  readonly perChannel: ReadonlyMap<string, Utilisation>;
}

/** How busy a core is. */
export interface CoreLoad {
  /** Unfinished tasks that do not run. */
  readonly pending: number;
  /** Those of them that could be claimed, were there a slot and all they need. */
  readonly ready: number;
  readonly running: number;
  /** How long the ready task that has waited for longest has been ready. */
  readonly oldestWaitMs: number;
  /** How long tasks had been ready that started in the latest one to two minutes. */
  readonly waits: WaitSummary;
  /** The slots of all workers together. */
  readonly slots: Utilisation;
  /** The slots of each worker, by its id. */
  readonly workers: ReadonlyMap<string, Utilisation>;
  /** By name. */
  readonly resources: ReadonlyMap<string, ResourceLoad>;
  /** Put together when it is first looked at, at a cost that grows with the types and channels in use. */
  readonly limits: LimitsLoad;
}

/** How busy the core is now. Costs as much as there are workers and resources, and O(log n) for the oldest wait. */
export function loadOf(state: State, mono: number): CoreLoad {
  const workers = [...state.workers.values()];
  const oldest = state.oldestReady();
  let limits: LimitsLoad | undefined;
  return {
    pending: state.unstarted,
    ready: state.index.size,
    running: state.running,
    oldestWaitMs: oldest === undefined ? 0 : mono - oldest.ready,
    waits: state.waits.summary(mono),
    slots: utilisation(
      workers.reduce((sum, { running }) => sum + running, 0),
      workers.reduce((sum, { spec }) => sum + spec.slots, 0),
    ),
    workers: new Map(workers.map(({ id, running, spec }) => [id, utilisation(running, spec.slots)] as const)),
    resources: new Map([...state.resources.pools].map(([name, pool]) => [name, resourceLoad(pool, mono)] as const)),
    get limits() {
      // Whoever looks later is told of later.
      return (limits ??= limitsOf(state, Math.max(mono, state.mono)));
    },
  };
}

function limitsOf(state: State, mono: number): LimitsLoad {
  const { resources, places } = state;
  const perChannel = new Map<string, Utilisation>();
  for (const [name, capacity] of resources.channelCapacities) {
    if (capacity !== Infinity) perChannel.set(name, utilisation(0, capacity));
  }
  for (const { name, limit } of places.allChannels()) {
    if (limit.capacity !== Infinity) perChannel.set(name, utilisation(limit.held, limit.capacity));
  }
  return {
    global: utilisation(resources.global.held, resources.global.capacity),
    perType: new Map([...resources.limitsOfTypes()].map(([type, limits]) => [type, typeLoad(limits, mono)] as const)),
    perChannel,
  };
}

function typeLoad({ held, capacity, rate, flow }: TypeLimits, mono: number): TypeLoad {
  return { ...utilisation(held, capacity), rate: rateLoad(rate, flow, mono) };
}

function resourceLoad({ held, capacity, kept, flow }: Pool, mono: number): ResourceLoad {
  const pausedForMs = Math.max(0, (flow?.closedUntil ?? mono) - mono);
  return { ...utilisation(held, capacity), kept, rate: rateLoad(flow?.rate, flow, mono), pausedForMs };
}

/** A bucket that nobody has taken from yet is full. */
function rateLoad(rate: RateLimit | undefined, flow: Flow | undefined, mono: number): RateLoad | undefined {
  return rate === undefined ? undefined : { ...rate, tokens: flow?.tokens(mono) ?? rate.burst };
}

function utilisation(used: number, capacity: number): Utilisation {
  if (used === 0) return { used, capacity, share: 0 };
  // What was taken away while it was held is all in use.
  return { used, capacity, share: capacity === 0 ? 1 : used / capacity };
}
