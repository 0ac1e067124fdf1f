import type { FailurePolicy } from '../../src/index.js';
import { Chance } from '../../src/testing/simulation/chance.js';

/** A task that is to be done, by one process or another. */
export interface Job {
  readonly key: string;
  /** Left to the scheduler where it is `undefined`. */
  readonly id: string | undefined;
  readonly after: readonly string[];
  readonly onDependencyFailure: FailurePolicy;
  readonly priority: number;
  readonly channel: string;
  readonly delayMs: number;
  /** Its attempts fail up to this one. */
  readonly failures: number;
  readonly attempts: number;
  /** Between two attempts. */
  readonly pauseMs: number;
  /** How often an attempt keeps how far it has come. */
  readonly checkpoints: number;
  /** Taken back as soon as it is in. */
  readonly isTakenBack: boolean;
}

const LONG_MS = 3_600_000;
/** More often than it is ever tried. */
const ALWAYS = 1_000;
const CHANNELS = ['gold', 'silver', 'bronze'];
const POLICIES: readonly FailurePolicy[] = ['fail', 'skip', 'run'];

/** The same seed makes the same work. */
export function jobsOf(seed: number, count: number): readonly Job[] {
  const chance = new Chance(seed);
  const jobs: Job[] = [];
  for (let at = 0; at < count; at++) jobs.push(someJob(chance, at, jobs));
  return jobs;
}

function someJob(chance: Chance, at: number, before: readonly Job[]): Job {
  const key = `job-${at}`;
  const named = before.filter(({ id }) => id !== undefined);
  const isTakenBack = chance.oneIn(12);
  const isDoomed = chance.oneIn(12);
  const failures = chance.oneIn(3) ? 1 + chance.roll(2) : 0;
  return {
    key,
    // Without an id it is added again by whoever does not know that it was, and taken back only once.
    id: chance.oneIn(6) && !isTakenBack ? undefined : `the ${key}`,
    // Else it may end in one of two ways, as it happens.
    after: isTakenBack ? [] : dependencies(chance, named),
    onDependencyFailure: chance.pick(POLICIES) ?? 'fail',
    priority: chance.roll(4),
    channel: chance.pick(CHANNELS) ?? 'gold',
    delayMs: isTakenBack ? LONG_MS : chance.oneIn(5) ? 1 + chance.roll(5) : 0,
    failures: isDoomed ? ALWAYS : failures,
    attempts: isDoomed ? 2 : failures + 1,
    pauseMs: chance.roll(3),
    checkpoints: chance.roll(3),
    isTakenBack,
  };
}

/** Mostly the latest, so that there are chains; sometimes several. */
function dependencies(chance: Chance, named: readonly Job[]): readonly string[] {
  if (named.length === 0 || chance.oneIn(4)) return [];
  const latest = named.slice(-6);
  const keys = Array.from({ length: 1 + chance.roll(3) }, () => chance.pick(latest)?.key ?? '');
  return [...new Set(keys)];
}

/** What a job comes to when all it comes after has ended so; without a value where that did not complete. */
export function valueFrom(dependencies: readonly (number | undefined)[]): number {
  return dependencies.reduce<number>((sum, value) => sum + (value ?? 0), 1);
}

/** How a job ended. */
export interface End {
  readonly state: 'completed' | 'failed' | 'cancelled' | 'skipped';
  readonly value?: number;
}

/** How every job must end, by key; those that are `spent` have been lost with their processes too often. */
export function endsOf(jobs: readonly Job[], spent: ReadonlySet<string>): ReadonlyMap<string, End> {
  const ends = new Map<string, End>();
  for (const job of jobs) ends.set(job.key, endOf(job, spent.has(job.key), ends));
  return ends;
}

function endOf(job: Job, isSpent: boolean, ends: ReadonlyMap<string, End>): End {
  const before = job.after.map((key) => ends.get(key));
  const lacksOne = before.some((end) => end?.state !== 'completed');
  if (lacksOne && job.onDependencyFailure === 'fail') return { state: 'failed' };
  if (lacksOne && job.onDependencyFailure === 'skip') return { state: 'skipped' };
  if (job.isTakenBack) return { state: 'cancelled' };
  if (isSpent || job.failures >= job.attempts) return { state: 'failed' };
  return { state: 'completed', value: valueFrom(before.map((end) => end?.value)) };
}
