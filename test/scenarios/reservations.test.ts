import { describe, expect, test } from 'vitest';
import { Core, describeExplanation } from '../../src/core/index.js';
import { sim, type Sim, type SimTaskOptions } from '../../src/testing/index.js';

const STRATEGIES = ['fifo', 'priority', 'deadline', 'fair', 'weighted-random', 'critical-path'] as const;

/** Four units of a resource, each held by a small task, and a large one that needs them all. */
function convoy(options: Parameters<typeof sim>[0] = {}, large: SimTaskOptions = {}): Sim {
  const s = sim({ slots: 9, ...options });
  s.send({ kind: 'setCapacity', resource: 'gpu', units: 4 });
  for (let i = 0; i < 4; i += 1) s.add(`first${String(i)}`, { needs: { gpu: 1 } });
  s.add('large', { needs: { gpu: 4 }, ...large });
  return s;
}

/** Small tasks come and go, never fewer than four, until so many more have started or the large one has. */
function bypass(s: Sim, times: number): number {
  for (let started = 0; started < times; started += 1) {
    if (s.state('large') === 'running') return started;
    s.add(`small${String(s.core.state.table.next)}`, { needs: { gpu: 1 } });
    const [oldest] = s.running();
    if (oldest === undefined) return started;
    s.complete(oldest);
  }
  return times;
}

function restart(s: Sim): void {
  s.core = Core.restore(JSON.parse(JSON.stringify(s.core.snapshot())) as never);
  s.core.check();
}

const reserved = (s: Sim): string | undefined => s.core.state.preemption.rooms.reserved?.id;

describe('reservations', () => {
  test.each(STRATEGIES)('C7.2 G10 convoy behind a large task under %s: after 64 bypasses it goes first', (strategy) => {
    const s = convoy({ strategy });
    expect(bypass(s, 64)).toBe(64);
    expect([reserved(s), s.running().length]).toEqual(['large', 4]);
    restart(s);
    // What becomes free from now on lies idle until there is enough of it.
    expect(bypass(s, 9)).toBe(4);
    expect(s.running()).toEqual(['large#1']);
    expect(reserved(s)).toBeUndefined();
    s.complete('large#1');
    expect(s.running()).toHaveLength(4);
  });

  test('C7.2 F9 how often it was passed over is counted on after a restart', () => {
    const s = convoy();
    expect(bypass(s, 63)).toBe(63);
    restart(s);
    expect(reserved(s)).toBeUndefined();
    expect(bypass(s, 1)).toBe(1);
    expect(reserved(s)).toBe('large');
  });

  test('C7.2 it does so too where small ones have a type of their own, and a level of their own goes before it', () => {
    const s = convoy({}, { type: 'train', priority: 'low' });
    expect(bypass(s, 64)).toBe(64);
    expect(reserved(s)).toBe('large');
    expect(s.core.explain('large')).toMatchObject({ room: { until: Infinity } });
    expect(describeExplanation(s.core.explain('large'))).toMatch(/What becomes free of what it needs is kept for it\./);
    s.add('late', { needs: { gpu: 1 } });
    const obstacle = { kind: 'resource', free: 0, lacks: 5, kept: 4, keptFor: ['large'] };
    expect(s.core.explain('late')).toMatchObject({ obstacles: [obstacle] });
    expect(describeExplanation(s.core.explain('late'))).toMatch(/needs 1, free 0, kept for others 4/);
    expect(s.core.explain('large')).toMatchObject({ obstacles: [{ kind: 'resource', free: 0, lacks: 4 }] });
    expect(bypass(s, 9)).toBe(4);
  });

  test('C7.1 C7.2 only what it lacks is kept: whatever needs something else goes on meanwhile', () => {
    const s = convoy();
    s.send({ kind: 'setCapacity', resource: 'cpu', units: 1 });
    bypass(s, 64);
    s.complete(s.running()[0] as string);
    s.add('plain');
    s.add('other', { needs: { cpu: 1 } });
    expect(s.running()).toHaveLength(5);
    s.add('small', { needs: { gpu: 1 } });
    expect(s.state('small')).toBe('ready');
    s.cancel('large');
    expect([reserved(s), s.state('small')]).toEqual([undefined, 'running']);
  });

  test('C7.2 there is one reservation at a time, and the next is given after 64 more', () => {
    const s = convoy();
    s.add('second', { needs: { gpu: 4 } });
    bypass(s, 64);
    expect(reserved(s)).toBe('large');
    bypass(s, 9);
    expect([s.running(), reserved(s)]).toEqual([['large#1'], undefined]);
    s.complete('large#1');
    // Who is foremost is found by rank: the older of two that need the same.
    expect([s.running(), s.task('large').extra?.bypasses]).toEqual([['second#1'], 0]);
  });

  test('C7.2 of two that are passed over by the same start, one has it', () => {
    const s = sim({ slots: 9, maxBypasses: 1 });
    for (const resource of ['cpu', 'gpu']) {
      s.send({ kind: 'setCapacity', resource, units: 2 });
      s.add(`holds ${resource}`, { needs: { [resource]: 1 } });
      s.add(`lacks ${resource}`, { needs: { [resource]: 2 } });
    }
    s.add('both', { needs: { cpu: 1, gpu: 1 } });
    expect([reserved(s), s.core.state.preemption.rooms.size]).toEqual(['lacks cpu', 1]);
    expect(['lacks cpu', 'lacks gpu'].map((id) => s.task(id).extra?.bypasses)).toEqual([1, 1]);
  });

  test('C7.2 after maxWait it is given at the next start that passes it over', () => {
    const s = convoy({ aging: { everyMs: Infinity, maxBoost: Infinity, maxWaitMs: 5_000 } });
    bypass(s, 3);
    s.advance(4_999);
    bypass(s, 1);
    expect(reserved(s)).toBeUndefined();
    s.advance(1);
    bypass(s, 1);
    expect(reserved(s)).toBe('large');
    expect(bypass(s, 9)).toBe(4);
  });

  test('C6.3 C7.2 tokens are kept like units: many small calls do not keep a large one waiting for ever', () => {
    const s = sim({ slots: 99 });
    s.send({ kind: 'setRate', scope: 'resource', key: 'api', rate: { rate: 1, perMs: 100, burst: 10 } });
    s.add('drained', { needs: { api: 10 } });
    s.add('large', { needs: { api: 8 } });
    for (let i = 0; i < 100; i += 1) s.add(`small${String(i)}`, { needs: { api: 1 } });
    s.advance(6_400);
    expect([reserved(s), s.state('large')]).toEqual(['large', 'ready']);
    expect(s.core.nextWakeAt().mono).toBe(7_200);
    expect(s.core.explain('large')).toMatchObject({ obstacles: [{ kind: 'rate', tokens: 0, remainingMs: 800 }] });
    const kept = { kind: 'rate', tokens: 0, remainingMs: 900, kept: 8, keptFor: ['large'] };
    expect(s.core.explain('small64')).toMatchObject({ obstacles: [kept] });
    expect(describeExplanation(s.core.explain('small64'))).toMatch(/there is 0, kept for others 8: enough in 900 ms/);
    s.advance(799);
    expect(s.state('large')).toBe('ready');
    s.advance(1);
    expect([s.state('large'), reserved(s)]).toEqual(['running', undefined]);
    s.advance(100);
    expect(s.state('small64')).toBe('running');
  });

  test('C7.2 C12.2 nothing is kept that could wait for what is kept from starting: whoever waits, everybody ends', () => {
    const s = convoy({ slots: 99 }, { needs: { gpu: 3 } });
    bypass(s, 63);
    // The parent keeps two units and waits for a child that needs one: with three kept for the large one, none is left.
    s.add('parent', { needs: { gpu: 2 }, priority: 'critical' });
    for (const attempt of s.running().slice(0, 2)) s.complete(attempt);
    expect(s.state('parent')).toBe('running');
    s.add('child', { needs: { gpu: 1 }, priority: 'idle' });
    expect(bypass(s, 1)).toBe(1);
    expect(reserved(s)).toBe('large');
    s.waitFor('parent', 'child');
    expect(reserved(s)).toBeUndefined();
    for (let [next] = s.running(); next !== undefined; [next] = s.running()) s.complete(next);
    expect([s.state('parent'), s.state('child'), s.state('large')]).toEqual(Array(3).fill('completed'));
  });

  test('C7.2 who cannot be given a reservation is not counted for ever', () => {
    const s = convoy({ slots: 99 }, { needs: { gpu: 3 } });
    s.add('parent', { needs: { gpu: 2 }, priority: 'critical' });
    for (const attempt of s.running().slice(0, 2)) s.complete(attempt);
    s.add('awaited', { delay: 1e9 });
    s.waitFor('parent', 'awaited');
    expect(bypass(s, 70)).toBe(70);
    expect(reserved(s)).toBeUndefined();
    expect(s.facts.filter(({ kind }) => kind === 'task.bypassed')).toHaveLength(64);
  });

  test.each<[string, Parameters<Sim['worker']>[1]]>([
    ['takes its channel', { slots: 1, filter: ({ channel }) => channel !== 'trains' }],
    ['has a slot', { slots: 0 }],
  ])('C7.2 nothing is kept for a task for which no worker %s, however often it is passed over', (_, big) => {
    const capabilities = new Map([['size', 'big']]);
    const s = sim({ maxBypasses: 1 });
    s.worker('small', { slots: 9 });
    s.worker('big', { capabilities, ...big });
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 2 });
    s.add('first', { needs: { gpu: 1 } });
    s.claim(1, 'small');
    s.add('large', { needs: { gpu: 2 }, channel: 'trains', capabilities: { size: 'big' } });
    for (const id of ['second', 'third', 'fourth']) s.add(id, { needs: { gpu: 1 } });
    expect(s.claim(9, 'small')).toEqual(['second']);
    expect([s.task('large').extra?.bypasses, reserved(s)]).toEqual([1, undefined]);
    s.complete('first');
    expect(s.claim(9, 'small')).toEqual(['third']);
    s.worker('late', { slots: 1, capabilities });
    s.complete('second');
    expect(s.claim(9, 'small')).toEqual(['fourth']);
    expect(reserved(s)).toBe('large');
  });

  test.each([
    ['less capacity than it needs', (s: Sim) => s.send({ kind: 'setCapacity', resource: 'gpu', units: 3 })],
    ['no worker that takes it', (s: Sim) => s.send({ kind: 'detachWorker', worker: 'big' })],
    [
      'no slot at the worker that takes it',
      (s: Sim) => {
        s.worker('big', { slots: 0, capabilities: new Map([['size', 'big']]) });
      },
    ],
    ['its channel paused', (s: Sim) => s.send({ kind: 'pauseChannel', channel: 'trains' })],
    [
      'a dependency',
      (s: Sim) => s.send({ kind: 'addDependency', task: 'large', dependency: 'never', onFailure: 'fail' }),
    ],
    ['its type not allowed', (s: Sim) => s.send({ kind: 'setLimit', scope: 'type', key: 'train', limit: 0 })],
  ])('C7.2 with %s nothing is kept for it any more, and others start', (_, change) => {
    const s = convoy({}, { type: 'train', channel: 'trains', capabilities: { size: 'big' } });
    s.worker('big', { slots: 1, capabilities: new Map([['size', 'big']]) });
    s.add('never', { delay: 1e9 });
    bypass(s, 64);
    expect(reserved(s)).toBe('large');
    s.complete(s.running()[0] as string);
    s.add('small', { needs: { gpu: 1 } });
    expect(s.state('small')).toBe('ready');
    change(s);
    s.advance(0);
    s.complete(s.running()[0] as string);
    expect([reserved(s), s.running().length > 2]).toEqual([undefined, true]);
  });
});
