import {
  InvalidConfigError,
  type Backoff,
  type RecurrenceSpec,
  type RetryPolicy,
  type StrategyRecord,
  type TaskSpec,
  type WorkerRecord,
} from '../model/index.js';
import { STRATEGY_NAMES, type Strategy, type StrategyChoice, type WeightedRandom } from '../ready/index.js';
import { finite } from './resources.js';
import type { WorkerSpec } from './worker.js';

/** What waits instead of a backoff that was a function, which data cannot hold. */
const LOST_BACKOFF: Backoff = Object.freeze({ kind: 'fixed', baseMs: 1_000 });

/**
 * A spec as it comes out of JSON: what was infinite is `null`, what was undefined is gone. Functions (`retryIf`, a
 * custom backoff) are gone too: every error is retried then, after a second each.
 */
export type SpecRecord = { readonly [Field in keyof TaskSpec]?: TaskSpec[Field] | null };

/** A strategy as data can name it. */
export function strategyRecord(choice: StrategyChoice): StrategyRecord {
  return typeof choice === 'string' ? { strategy: choice, custom: false } : { strategy: choice.name, custom: true };
}

/** The strategy that a record names; one of the user's own must be among those given. */
export function strategyOf(
  { strategy: name, custom }: StrategyRecord,
  given: readonly (Strategy | WeightedRandom)[],
): StrategyChoice {
  const found = custom ? given.find((each) => each.name === name) : STRATEGY_NAMES.find((each) => each === name);
  if (found !== undefined) return found;
  const expected = custom
    ? `a strategy named "${name}" among those given, as the recorded state goes by it`
    : `one of ${STRATEGY_NAMES.join(', ')}`;
  throw new InvalidConfigError({
    field: 'strategies',
    value: custom ? given.map((each) => each.name) : name,
    expected,
  });
}

/** A worker as data can describe it. */
export function workerRecord(spec: WorkerSpec): WorkerRecord {
  return {
    id: spec.id,
    slots: finite(spec.slots),
    capabilities: [...spec.capabilities],
    strategy: spec.strategy === undefined ? null : strategyRecord(spec.strategy),
    filtered: spec.filter !== undefined,
    ...(spec.exclusive === true ? { exclusive: true as const } : {}),
    leaseMs: finite(spec.leaseMs),
    retries: finite(spec.retries),
  };
}

const takeNothing = (): boolean => false;

/** The worker that a record describes. One that had a filter takes nothing until it is attached again. */
export function workerOf(record: WorkerRecord, given: readonly (Strategy | WeightedRandom)[]): WorkerSpec {
  return {
    id: record.id,
    slots: record.slots ?? Infinity,
    capabilities: new Map(record.capabilities),
    strategy: record.strategy === null ? undefined : strategyOf(record.strategy, given),
    filter: record.filtered ? takeNothing : undefined,
    exclusive: record.exclusive,
    leaseMs: record.leaseMs ?? Infinity,
    retries: record.retries ?? Infinity,
  };
}

/** A spec as plain data, with only what says something. */
export function specRecord(spec: TaskSpec): SpecRecord {
  const kept = Object.entries(spec).filter(([field, value]) => field !== 'retry' && isTold(field, value));
  const record = Object.fromEntries(kept) as SpecRecord;
  const lease = spec.leaseMs === Infinity ? { leaseMs: null } : {};
  return spec.retry === undefined ? { ...record, ...lease } : { ...record, ...lease, retry: retryRecord(spec.retry) };
}

function isTold(field: string, value: unknown): boolean {
  if (value === undefined || value === Infinity || value === -Infinity) return false;
  return Array.isArray(value) ? value.length > 0 : value !== SAYS_NOTHING.get(field);
}

/** What {@link specOf} fills in by itself. */
const SAYS_NOTHING: ReadonlyMap<string, unknown> = new Map<keyof TaskSpec, unknown>([
  ['type', ''],
  ['delayMs', 0],
  ['preemptible', false],
  ['onDependencyFailure', 'fail'],
]);

function retryRecord({ attempts, backoff, maxDelayMs, jitter }: RetryPolicy): RetryPolicy {
  const kept = backoff.kind === 'custom' ? LOST_BACKOFF : { ...backoff };
  return { attempts, backoff: kept, maxDelayMs: finite(maxDelayMs) as number, jitter, retryIf: undefined };
}

/** The spec that was recorded, whether it has been through JSON or not. */
export function specOf(record: SpecRecord | TaskSpec): TaskSpec {
  if (isSpec(record)) return record;
  return Object.freeze({
    id: record.id ?? undefined,
    type: record.type ?? '',
    channel: record.channel as string,
    level: record.level as number,
    deadline: record.deadline ?? Infinity,
    expires: record.expires ?? Infinity,
    eta: record.eta ?? -Infinity,
    delayMs: record.delayMs ?? 0,
    needs: record.needs ?? [],
    yieldable: record.yieldable ?? [],
    capabilities: record.capabilities ?? [],
    retry: record.retry ? retryOf(record.retry) : undefined,
    timeoutMs: record.timeoutMs ?? Infinity,
    leaseMs: record.leaseMs === null ? Infinity : record.leaseMs,
    estimateMs: record.estimateMs ?? undefined,
    preemptible: record.preemptible ?? false,
    onDependencyFailure: record.onDependencyFailure ?? 'fail',
    rare: record.rare ?? undefined,
  });
}

/** Specs are frozen where they are made, and what is infinite is a number there. */
function isSpec(record: SpecRecord | TaskSpec): record is TaskSpec {
  const { deadline, expires, eta, timeoutMs } = record;
  return Object.isFrozen(record) && [deadline, expires, eta, timeoutMs].every((value) => typeof value === 'number');
}

function retryOf({ attempts, backoff, maxDelayMs, jitter, retryIf }: RetryPolicy): RetryPolicy {
  const lost = backoff.kind === 'custom' && typeof backoff.delayMs !== 'function';
  const max = maxDelayMs as number | null;
  return Object.freeze({
    attempts,
    backoff: lost ? LOST_BACKOFF : backoff,
    maxDelayMs: max ?? Infinity,
    jitter,
    retryIf,
  });
}

/** A series' rules as they come out of JSON: what was infinite is `null`. */
export type RecurrenceRecord = { readonly [Field in keyof RecurrenceSpec]: RecurrenceSpec[Field] | null };

/** A series' rules as plain data. */
export function recurrenceRecord(spec: RecurrenceSpec): RecurrenceRecord {
  const etaWall = spec.etaWall === -Infinity ? null : spec.etaWall;
  return { ...spec, count: finite(spec.count), untilWall: finite(spec.untilWall), etaWall };
}

/** The rules that were recorded, whether they have been through JSON or not. */
export function recurrenceOf(record: RecurrenceRecord | RecurrenceSpec): RecurrenceSpec {
  return Object.freeze({
    ...(record as RecurrenceSpec),
    count: record.count ?? Infinity,
    untilWall: record.untilWall ?? Infinity,
    etaWall: record.etaWall ?? -Infinity,
  });
}
