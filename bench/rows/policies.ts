import type { Moment } from '../../src/model/index.js';
import { now } from '../core-load.js';
import { loadCore } from '../ours.js';
import { randomIntegers } from '../random.js';
import { growth, type Row } from '../row.js';

const strategies = ['priority', 'fair', 'weighted-random'];
const claims = 5_000;
const done = { kind: 'succeeded', value: undefined } as const;

async function newCore(strategy: string) {
  const { Core, parseTaskOptions } = await loadCore();
  // What is held here is never given back: a reservation of it would keep everybody else waiting.
  const options = { retain: { count: 0, ageMs: 0 }, maxBypasses: Infinity };
  const core = new Core({ origin: now, strategy: strategy as 'fifo', ...options });
  const spec = { id: 'bench', slots: Infinity, capabilities: new Map(), strategy: undefined, filter: undefined };
  const worker = core.attach(now, { ...spec, leaseMs: Infinity, retries: 0 });
  return { core, worker, parseTaskOptions };
}

/** The 99th percentile of one claim among tasks of 1,000 different amounts, of which about half fit; in microseconds. */
async function claimByAmount(strategy: string, waiting: number): Promise<number> {
  const { core, worker, parseTaskOptions } = await newCore(strategy);
  core.handle({ kind: 'setCapacity', now, resource: 'memory', units: 1_000 });
  const hog = parseTaskOptions({ needs: { memory: 500 } }, '');
  core.submit(now, hog, undefined);
  core.claim(now, worker);
  const amounts = randomIntegers(waiting, 1_000);
  const specs = Array.from({ length: 1_000 }, (_, i) =>
    parseTaskOptions({ needs: { memory: i + 1 }, priority: i % 7, channel: `channel-${String(i % 10)}` }, ''),
  );
  for (const amount of amounts) core.submit(now, specs[amount]!, undefined);
  const times: number[] = [];
  for (let i = 0; i < claims + 1_000; i++) {
    const startedAt = process.hrtime.bigint();
    const attempt = core.claim(now, worker)!;
    if (i >= 1_000) times.push(Number(process.hrtime.bigint() - startedAt) / 1e3);
    core.settle(now, attempt, done);
    core.submit(now, attempt.task.spec, undefined);
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)]!;
}

/** What it takes to learn when a token comes and to start a task with it, while so many wait; microseconds on average. */
async function startAtRate(waiting: number): Promise<number> {
  const { core, worker, parseTaskOptions } = await newCore('priority');
  const rate = { rate: 1_000, perMs: 1_000, burst: 50 };
  core.handle({ kind: 'setRate', now, scope: 'resource', key: 'api', rate });
  const specs = Array.from({ length: 50 }, (_, i) => parseTaskOptions({ needs: { api: i + 1 }, priority: i % 7 }, ''));
  for (const cost of randomIntegers(waiting, 50)) core.submit(now, specs[cost]!, undefined);
  let time: Moment = now;
  const run = (count: number): void => {
    for (let i = 0; i < count;) {
      const attempt = core.claim(time, worker);
      if (attempt === undefined) {
        const { mono } = core.nextWakeAt();
        time = { wall: time.wall + (mono - time.mono), mono };
        continue;
      }
      i += 1;
      core.settle(time, attempt, done);
      core.submit(time, attempt.task.spec, undefined);
    }
  };
  run(2_000);
  const startedAt = performance.now();
  run(claims);
  return ((performance.now() - startedAt) * 1e3) / claims;
}

/**
 * What it takes to find who makes way for an urgent task while so many run that may be asked; microseconds on average.
 * With `holders`, the task lacks what only every so manieth of them holds.
 */
async function chooseWhoMakesWay(running: number, holders = 1): Promise<number> {
  const { Core, parseTaskOptions } = await loadCore();
  const preemption = { graceMs: 1_000, minRunMs: 0, maxPerTask: Infinity };
  const core = new Core({ origin: now, preemption, retain: { count: 0, ageMs: 0 } });
  const spec = { id: 'bench', slots: running, capabilities: new Map(), strategy: undefined, filter: undefined };
  const worker = core.attach(now, { ...spec, leaseMs: Infinity, retries: 0 });
  core.handle({ kind: 'setCapacity', now, resource: 'gpu', units: running / holders });
  const holder = parseTaskOptions({ preemptible: true, priority: 3, needs: { gpu: 1 } }, '');
  const other = parseTaskOptions({ preemptible: true, priority: 3 }, '');
  const urgent = parseTaskOptions({ priority: 1, needs: { gpu: 1 } }, '');
  for (let i = 0; i < running; i++) core.submit(now, i % holders === 0 ? holder : other, undefined);
  for (let i = 0; i < running; i++) core.claim(now, worker);
  let tookNs = 0n;
  for (let i = 0; i < claims; i++) {
    core.submit(now, urgent, undefined);
    const startedAt = process.hrtime.bigint();
    core.preempt(now);
    if (i >= claims / 2) tookNs += process.hrtime.bigint() - startedAt;
    const { attempt } = core.outbox.preempted.pop()!;
    core.settle(now, attempt, { kind: 'aborted' });
    core.settle(now, core.claim(now, worker)!, done);
    core.claim(now, worker);
  }
  return Number(tookNs) / 1e3 / (claims / 2);
}

export const rows: readonly Row[] = [
  ...strategies.map((strategy): Row => ({
    id: `POLICIES amounts ${strategy}`,
    group: 'policies',
    work: `one claim by ${strategy} among tasks of 1,000 amounts, 99th percentile`,
    unit: 'µs',
    better: 'lower',
    candidates: [
      {
        name: '100k ready',
        measure: () => claimByAmount(strategy, 100_000),
        bars: [growth('10k ready', 2)],
      },
      { name: '10k ready', measure: () => claimByAmount(strategy, 10_000) },
    ],
  })),
  {
    id: 'POLICIES rate',
    group: 'policies',
    work: 'waiting for tokens, claim, settle and replace, tasks of 50 costs',
    unit: 'µs',
    better: 'lower',
    candidates: [
      { name: '100k waiting', measure: () => startAtRate(100_000), bars: [growth('10k waiting', 2)] },
      { name: '10k waiting', measure: () => startAtRate(10_000) },
    ],
  },
  {
    id: 'POLICIES preemption',
    group: 'policies',
    work: 'preemption choice: who makes way for an urgent task, among all that run',
    unit: 'µs',
    better: 'lower',
    candidates: [
      { name: '10k running', measure: () => chooseWhoMakesWay(10_000), bars: [growth('1k running', 3)] },
      { name: '1k running', measure: () => chooseWhoMakesWay(1_000) },
      { name: '10k running, every hundredth will do', measure: () => chooseWhoMakesWay(10_000, 100) },
    ],
  },
];
