import { expect, test } from 'vitest';
import { Core, type Feedback } from '../../src/core/index.js';
import { Scheduler, UnschedulableError } from '../../src/index.js';
import { StaleLeaseError } from '../../src/model/index.js';
import { SIM_START, VirtualClock, sim, type Sim } from '../../src/testing/index.js';

function report(s: Sim, id: string, resource: string, feedback: Feedback): void {
  const token = s.task(id).attempt?.token ?? { epoch: 1, attempt: 1 };
  s.send({ kind: 'report', task: id, token, resource, ...feedback });
}

/** A rate of one token a second, with a bucket of five. */
function limited(): Sim {
  const s = sim({ slots: 99 });
  s.send({ kind: 'setRate', scope: 'resource', key: 'api', rate: { rate: 1, perMs: 1_000, burst: 5 } });
  return s;
}

function restart(s: Sim): void {
  s.core = Core.restore(JSON.parse(JSON.stringify(s.core.snapshot())) as never);
  s.core.check();
}

test('F8.1 what a call really cost corrects the bucket by the difference, upwards into a debt', () => {
  const s = limited();
  s.add('a', { needs: { api: 3 } });
  s.add('b', { needs: { api: 2 } });
  s.add('c', { needs: { api: 2 } });
  report(s, 'a', 'api', { cost: 7 });
  // Five were there, nine are spent: four are a debt, and two more are needed.
  expect(s.core.nextWakeAt().mono).toBe(6_000);
  expect(s.core.explain('c')).toMatchObject({ obstacles: [{ kind: 'rate', tokens: -4, remainingMs: 6_000 }] });
  restart(s);
  s.advance(5_999);
  expect(s.running()).toEqual(['a#1', 'b#1']);
  s.advance(1);
  expect(s.running()).toEqual(['a#1', 'b#1', 'c#1']);
});

test('F8.1 nobody is given back what he was never charged: a rate that came later took nothing of him', () => {
  const rate = { rate: 1, perMs: 1_000, burst: 10 };
  const setRate = (s: Sim, given: typeof rate | undefined): void =>
    void s.send({ kind: 'setRate', scope: 'resource', key: 'api', rate: given });
  const s = sim({ slots: 99 });
  s.send({ kind: 'setCapacity', resource: 'api', units: Infinity });
  s.add('a', { needs: { api: 10 } });
  setRate(s, rate);
  s.add('b', { needs: { api: 10 } });
  s.add('c', { needs: { api: 10 } });
  restart(s);
  report(s, 'a', 'api', { cost: 0 });
  expect(s.running()).toEqual(['a#1', 'b#1']);
  // What it does cost is taken, as of one that had not said that it would use it.
  report(s, 'a', 'api', { cost: 2 });
  expect(s.core.state.resources.flowOf('api').tokens()).toBe(-2);
  // A rate that is taken away forgets all charges and reports.
  setRate(s, undefined);
  setRate(s, rate);
  expect(s.running()).toEqual(['a#1', 'b#1', 'c#1']);
  for (const id of ['a', 'b']) report(s, id, 'api', { cost: 0 });
  expect(s.core.state.resources.flowOf('api').tokens()).toBe(10);
  s.add('d', { needs: { api: 10 } });
  for (const id of ['a', 'b', 'c']) report(s, id, 'api', { cost: 0 });
  expect(s.core.state.resources.flowOf('api').tokens()).toBe(0);
  const replayed = new Core({ origin: { wall: SIM_START, mono: 0 } });
  for (const fact of s.facts) replayed.apply(fact);
  expect(replayed.snapshot()).toEqual(s.core.snapshot());
});

test('F8.1 a call that cost less gives the difference back, and a second report corrects the first', () => {
  const s = limited();
  s.add('a', { needs: { api: 5 } });
  s.add('b', { needs: { api: 2 } });
  report(s, 'a', 'api', { cost: 4 });
  expect(s.running()).toEqual(['a#1']);
  restart(s);
  report(s, 'a', 'api', { cost: 3 });
  expect(s.running()).toEqual(['a#1', 'b#1']);
  report(s, 'a', 'api', { cost: 3 });
  expect(s.core.state.resources.flowOf('api').tokens()).toBe(0);
  s.advance(60_000);
  // A full bucket does not get fuller.
  report(s, 'a', 'api', { cost: 0 });
  expect(s.core.state.resources.flowOf('api').tokens()).toBe(5);
  // Also by one that had not said that it would use it.
  s.add('other');
  report(s, 'other', 'api', { cost: 1.5 });
  expect(s.core.state.resources.flowOf('api').tokens()).toBe(3.5);
});

test('F8.1 after a pause was asked for, nothing that uses the resource starts before its end, and the longest wins', () => {
  const s = limited();
  s.send({ kind: 'setCapacity', resource: 'gpu', units: 9 });
  s.add('a', { needs: { api: 1 } });
  s.add('g', { needs: { gpu: 1 } });
  report(s, 'a', 'api', { retryAfterMs: 2_000 });
  report(s, 'a', 'api', { retryAfterMs: 500 });
  // A resource without a rate can be left alone for a while too.
  report(s, 'g', 'gpu', { retryAfterMs: 700 });
  s.add('b', { needs: { api: 1 } });
  s.add('c', { needs: { gpu: 1 } });
  s.add('free');
  expect(s.running()).toEqual(['a#1', 'g#1', 'free#1']);
  expect(s.core.explain('b')).toMatchObject({
    obstacles: [{ kind: 'retryAfter', resource: 'api', remainingMs: 2_000 }],
  });
  expect(s.core.nextWakeAt().mono).toBe(700);
  restart(s);
  expect(s.core.nextWakeAt().mono).toBe(700);
  s.complete('a');
  s.advance(700);
  expect(s.running()).toEqual(['g#1', 'c#1', 'free#1']);
  s.advance(1_299);
  expect(s.state('b')).toBe('ready');
  s.advance(1);
  expect(s.running()).toEqual(['g#1', 'b#1', 'c#1', 'free#1']);
});

test('F8.1 G4 an attempt that no longer counts is refused and changes nothing, and so is what makes no sense', () => {
  const s = limited();
  s.send({ kind: 'setCapacity', resource: 'gpu', units: 1 });
  s.add('a', { needs: { api: 1 }, timeout: 100, retry: 2 });
  const before = JSON.stringify(s.core.snapshot());
  for (const [resource, feedback, field] of [
    ['tpu', { cost: 1 }, 'resource'],
    ['gpu', { cost: 1 }, 'resource'],
    ['api', { cost: -1 }, 'cost'],
    ['api', { cost: NaN }, 'cost'],
    ['api', { retryAfterMs: -1 }, 'retryAfter'],
    ['api', { retryAfterMs: Infinity }, 'retryAfter'],
  ] as const) {
    expect(() => {
      report(s, 'a', resource, feedback);
    }).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', field }));
  }
  expect(JSON.stringify(s.core.snapshot())).toBe(before);
  s.advance(100);
  expect(s.running()).toEqual(['a#2']);
  const { tokens } = { tokens: s.core.state.resources.flowOf('api').tokens() };
  for (const attempt of [1, 3]) {
    const stale = { kind: 'report', task: 'a', token: { epoch: 1, attempt }, resource: 'api', cost: 5 } as const;
    expect(() => s.send(stale)).toThrow(StaleLeaseError);
  }
  expect(s.core.state.resources.flowOf('api').tokens()).toBe(tokens);
});

test('C6.7 a capability that no worker offers is refused when none may come, and waits when they may', () => {
  const s = sim({ workersMayCome: false });
  s.worker('linux', { capabilities: new Map([['os', ['linux', 'bsd']]]) });
  s.worker('gpu', { capabilities: new Map([['gpu', true]]) });
  expect(s.add('fits', { capabilities: { os: 'bsd' } }).state).toBe('ready');
  const refusal = (capabilities: Record<string, string | boolean>): unknown => {
    try {
      s.add('never', { capabilities });
    } catch (error) {
      return error;
    }
    return 'accepted';
  };
  expect(refusal({ os: 'mac', gpu: true })).toMatchObject({ code: 'UNSCHEDULABLE', capabilities: [['os', 'mac']] });
  // Each of the two is offered, but not by one worker.
  expect(refusal({ os: 'linux', gpu: true })).toMatchObject({
    message: expect.stringContaining('"gpu" = true, "os" = "linux"') as string,
  });
  expect(() => {
    s.repeat('series', { every: '1s', capabilities: { os: 'mac' } });
  }).toThrow(expect.objectContaining({ code: 'UNSCHEDULABLE' }));
  expect(() => {
    s.addAll({ one: {}, two: { capabilities: { os: 'mac' } } });
  }).toThrow(expect.objectContaining({ code: 'UNSCHEDULABLE', taskId: 'two' }));
  expect(s.core.state.table.size).toBe(1);
  restart(s);
  expect(refusal({ os: 'mac' })).toMatchObject({ code: 'UNSCHEDULABLE' });
  expect(sim().add('later', { capabilities: { os: 'mac' } }).state).toBe('ready');
});

test('F8.2 a handler that was told to wait keeps others from calling meanwhile, and tells what its call cost', async () => {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock, resources: { api: { rate: 1, burst: 5 } } });
  const calls: number[] = [];
  const origin = clock.now().mono;
  const add = (report: { cost: number } | { retryAfter: string }): void => {
    const call = (task: { report(resource: string, feedback: typeof report): void }): void => {
      calls.push(clock.now().mono - origin);
      task.report('api', report);
    };
    scheduler.add(call, { needs: { api: 1 } });
  };
  add({ cost: 7 });
  await clock.settle();
  add({ retryAfter: '30s' });
  add({ cost: 1 });
  await clock.advance('1m');
  // Two tokens of debt and one to pay; then the pause, after which there are enough.
  expect(calls).toEqual([0, 3_000, 33_000]);
  await scheduler.close();
});

test('F8.2 what is no feedback is refused, and so is what an attempt sends that no longer counts', async () => {
  const scheduler = new Scheduler({ concurrency: 0, resources: { api: { rate: 1 } } });
  scheduler.add(() => 1, { needs: { api: 1 } });
  const claim = await scheduler.worker({ id: 'w' }).claim();
  const report = (feedback: unknown) => (): void => {
    claim?.task.report('api', feedback as { cost: number });
  };
  expect(report({})).toThrow(/feedback.*either a cost or a retryAfter/);
  expect(report({ cost: 1, retryAfter: 1 })).toThrow(/either/);
  expect(report({ retryAfter: 'soon' })).toThrow(/retryAfter.*soon/);
  expect(report({ cost: NaN })).toThrow(/cost.*NaN/);
  expect(report({ costs: 1 })).toThrow(/feedback\.costs is 1.*perhaps "cost" is meant/);
  // What is undefined was not given.
  expect(report({ cost: 1, retryAfter: undefined })).not.toThrow();
  await claim?.complete();
  expect(report({ cost: 1 })).toThrow(StaleLeaseError);
  await scheduler.close();
});

test('C6.7 a scheduler that no more workers come to refuses what none of them offers', async () => {
  const scheduler = new Scheduler({ concurrency: 0, workersMayCome: false });
  const refused = scheduler.add(() => 1, { capabilities: { gpu: true } });
  await expect(refused.result).rejects.toBeInstanceOf(UnschedulableError);
  await expect(refused.accepted).rejects.toBeInstanceOf(UnschedulableError);
  scheduler.worker({ id: 'w', capabilities: { gpu: true } });
  scheduler.add(() => 1, { capabilities: { gpu: true } }).cancel();
  expect(() => new Scheduler({ workersMayCome: 'no' as never })).toThrow(/workersMayCome.*"no"/);
  await scheduler.close();
});
