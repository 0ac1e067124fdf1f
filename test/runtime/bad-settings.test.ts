import { expect, test } from 'vitest';
import { Scheduler } from '../../src/index.js';
import { VirtualClock, sim } from '../../src/testing/index.js';

const NO_NAMES = [undefined, null, 7, true, '', 'a\0b', 'x'.repeat(513), {}];
const NO_UNITS = [null, NaN, -1, '5', true, []];

/** What decides, as plain data: nothing in it may change by what is refused. */
function settingsOf(scheduler: Scheduler): unknown {
  return (scheduler as unknown as { engine: { core: { snapshot(): unknown } } }).engine.core.snapshot();
}

type Change = 'setCapacity' | 'setLimit' | 'setWeight' | `${'pause' | 'resume' | 'close' | 'open'}Channel`;

function expectRefused(change: Change, args: unknown[], field: string, value: unknown): void {
  const scheduler = new Scheduler({ clock: new VirtualClock(), concurrency: 0, resources: { gpu: 1 } });
  const before = settingsOf(scheduler);
  expect(() => {
    (scheduler[change] as (...args: unknown[]) => void).apply(scheduler, args);
  }).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', field, value }));
  expect(settingsOf(scheduler)).toEqual(before);
}

test.each(NO_NAMES)('C6.5 bad input: %j names no resource and no channel, and changes nothing', (name) => {
  expectRefused('setCapacity', [name, 1], 'resource', name);
  expectRefused('setCapacity', [name, { rate: 1 }], 'resource', name);
  expectRefused('setWeight', [name, 1], 'channel', name);
  expectRefused('pauseChannel', [name], 'channel', name);
  expectRefused('resumeChannel', [name], 'channel', name);
  expectRefused('closeChannel', [name], 'channel', name);
  expectRefused('openChannel', [name], 'channel', name);
});

test.each(['a\0b', 'x'.repeat(513)])('C6.5 bad input: a key %j is refused wherever something is limited', (key) => {
  expectRefused('setLimit', [{ global: 5, perType: { [key]: 1 } }], 'limits.perType', key);
  expectRefused('setLimit', [{ global: 5, perType: { [key]: { rate: 1 } } }], 'limits.perType', key);
  expectRefused('setLimit', [{ global: 5, perChannel: { [key]: 1 } }], 'limits.perChannel', key);
  expect(() => new Scheduler({ resources: { [key]: 1 } })).toThrow(expect.objectContaining({ field: 'resource' }));
  expect(() => new Scheduler({ channels: { weights: { [key]: 1 } } })).toThrow(
    expect.objectContaining({ field: 'channel' }),
  );
});

test.each(NO_UNITS)(
  'C6.5 bad input: %j is no number of units, tokens or milliseconds, and changes nothing',
  (units) => {
    expectRefused('setCapacity', ['gpu', units], 'resources.gpu', units);
    expectRefused('setCapacity', ['gpu', { rate: units }], 'resources.gpu.rate', units);
    expectRefused('setCapacity', ['gpu', { rate: 1, burst: units }], 'resources.gpu.burst', units);
    expectRefused('setCapacity', ['gpu', { rate: 1, per: units }], 'resources.gpu.per', units);
    expectRefused('setLimit', [{ global: units }], 'limits.global', units);
    expectRefused('setLimit', [{ global: 5, perChannel: { a: units } }], 'limits.perChannel.a', units);
    const concurrency = { perType: { a: { concurrency: units } } };
    expectRefused('setLimit', [{ global: 5, ...concurrency }], 'limits.perType.a.concurrency', units);
  },
);

test('C6.5 a burst of a type below what a task costs is refused before anything is set', () => {
  const limits = { global: 5, perType: { a: { concurrency: 1, rate: 1, burst: 0.5 } } };
  expectRefused('setLimit', [limits], 'limits.perType.a.burst', 0.5);
});

test('C6.5 setLimit without limits is refused', () => {
  expectRefused('setLimit', [undefined], 'limits', undefined);
});

test.each([
  ['concurrency', { concurrency: null }, null],
  ['aging.maxBoost', { aging: { maxBoost: '5' } }, '5'],
  ['aging.maxBoost', { aging: { maxBoost: null } }, null],
  ['aging.maxBoost', { aging: { maxBoost: [] } }, []],
  ['preemption.maxPerTask', { preemption: { maxPerTask: null } }, null],
  ['retain.count', { retain: { count: null } }, null],
  ['limits', { limits: null }, null],
])('bad input: %s is no setting as it is in %j', (field, options, value) => {
  expect(() => new Scheduler(options as never)).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', field, value }),
  );
});

test('C6.5 G4 the core refuses the same, whoever sends the command, and changes nothing', () => {
  const s = sim({ check: false });
  const before = s.core.snapshot();
  const worker = { capabilities: new Map(), leaseMs: Infinity, retries: 0, strategy: undefined, filter: undefined };
  const bad: [command: unknown, field: string][] = [
    [{ kind: 'setCapacity', resource: '', units: 1 }, 'resource'],
    [{ kind: 'setLimit', scope: 'task', key: 'a', limit: 1 }, 'scope'],
    [{ kind: 'setLimit', scope: 'type', key: 7, limit: 1 }, 'limits.perType'],
    [{ kind: 'setRate', scope: 'channel', key: 'a', rate: undefined }, 'scope'],
    [{ kind: 'setRate', scope: 'resource', key: '', rate: undefined }, 'resource'],
    [{ kind: 'setWeight', channel: '', weight: 1 }, 'channel'],
    [{ kind: 'setCharge', charge: 'money' }, 'charge'],
    [{ kind: 'pauseChannel', channel: null }, 'channel'],
    [{ kind: 'resumeChannel', channel: null }, 'channel'],
    [{ kind: 'setAging', aging: { maxBoost: '5' } }, 'aging.maxBoost'],
    [{ kind: 'setAging', aging: { everyMs: '5' } }, 'aging.every'],
    [{ kind: 'attachWorker', worker: { ...worker, id: '', slots: 1 } }, 'id'],
    [{ kind: 'attachWorker', worker: { ...worker, id: 'w', slots: 1.5 } }, 'slots'],
    [{ kind: 'attachWorker', worker: { ...worker, id: 'w', slots: NaN } }, 'slots'],
  ];
  for (const [command, field] of bad) {
    const shown = JSON.stringify(command);
    expect(() => s.send(command as never), shown).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', field }));
    expect(s.core.snapshot(), shown).toEqual(before);
  }
});

test('C6.6 an infinite rate takes a limit away, of a resource and of a type', async () => {
  const clock = new VirtualClock();
  const resources = { api: { rate: 1, per: '1h', burst: 1 } } as const;
  const limits = { perType: { mail: { concurrency: 9, rate: 1, per: '1h' } } } as const;
  const scheduler = new Scheduler({ clock, concurrency: 9, resources, limits });
  const started: string[] = [];
  const mail = scheduler.define('mail', (id: string) => void started.push(id));
  for (const id of ['a', 'b']) void scheduler.add(() => void started.push(id), { needs: { api: 1 } });
  for (const id of ['c', 'd']) void scheduler.add(mail, id);
  await clock.settle();
  expect(started).toEqual(['a', 'c']);
  scheduler.setCapacity('api', { rate: Infinity });
  await clock.settle();
  expect(started).toEqual(['a', 'c', 'b']);
  scheduler.setLimit({ perType: { mail: { rate: Infinity } } });
  await clock.settle();
  expect(started).toEqual(['a', 'c', 'b', 'd']);
  const load = scheduler.load();
  expect(load.resources.get('api')?.rate).toBeUndefined();
  expect(load.limits.perType.get('mail')).toMatchObject({ capacity: 9, rate: undefined });
  await scheduler.close();
});
