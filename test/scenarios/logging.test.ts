import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, test } from 'vitest';
import type { Core } from '../../src/core/index.js';
import {
  InvalidConfigError,
  Scheduler,
  describeExplanation,
  type EventMessage,
  type FactMessage,
  type Logger,
  type LogLevel,
  type SchedulerOptions,
} from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

type Line = readonly [level: LogLevel, record: Readonly<Record<string, unknown>>, message: string];

const nothing = (): unknown => undefined;
const fail = (): never => {
  throw new Error('no');
};

function logged(options: SchedulerOptions = {}) {
  const clock = new VirtualClock();
  const lines: Line[] = [];
  const at =
    (level: LogLevel) =>
    (record: object, message: string): unknown =>
      lines.push([level, record as Line[1], message]);
  const logger: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const scheduler = new Scheduler({ clock, concurrency: 1, logger, ...options });
  const of = (event: string): Line[] => lines.filter(([, record]) => record['event'] === event);
  return { clock, scheduler, lines, of };
}

test('F7.1 D10.3 what happens to a task is logged with task, attempt, channel, level and worker', async () => {
  const { scheduler, lines } = logged();
  await scheduler.add(() => 'a result is nobody else’s business', { id: 'a', channel: 'acme', priority: 'low' });
  const about = { taskId: 'a', channel: 'acme', priority: 3 };
  const ran = { ...about, attempt: 1, workerId: 'local' };
  const fresh = { ...about, attempt: undefined, workerId: undefined };
  const channels = [{ channel: 'acme', claimed: 1, pending: 0 }];
  expect(lines).toEqual([
    ['debug', { event: 'added', ...fresh, after: [] }, 'task added'],
    ['debug', { event: 'ready', ...fresh }, 'task ready'],
    ['debug', { event: 'started', ...ran }, 'task started'],
    ['info', { event: 'claims', channels }, 'claims by channel'],
    ['debug', { event: 'empty' }, 'every task has started'],
    ['info', { event: 'completed', ...ran, durationMs: 0 }, 'task completed'],
    ['debug', { event: 'idle' }, 'every task has ended'],
  ]);
});

test('F1.3 a failure that nobody awaits is an event and a record, and no unhandled rejection', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): unknown => unhandled.push(reason);
  process.on('unhandledRejection', note);
  try {
    const { clock, scheduler, of } = logged();
    const failed: string[] = [];
    scheduler.on('failed', ({ taskId }) => failed.push(taskId));
    scheduler.add(fail, { id: 'thrown' });
    scheduler.add(() => Promise.reject(new Error('no')), { id: 'rejected' });
    void scheduler.add(fail, { id: 'asked' }).result;
    scheduler.add(nothing, { id: 'dependant', after: ['thrown'] });
    await clock.advance('1s');
    expect(failed).toEqual(['thrown', 'dependant', 'rejected', 'asked']);
    expect(of('failed').map(([level, { taskId }]) => [level, taskId])).toEqual(failed.map((id) => ['error', id]));
    expect(of('failed')[0]?.[1]['err']).toEqual(new Error('no'));
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
  }
});

test('row 34 a listener that throws is logged, and a logger that throws disturbs nobody', async () => {
  const { scheduler, of } = logged();
  scheduler.on('added', fail);
  await scheduler.add(nothing);
  expect(of('error')).toEqual([
    ['error', { event: 'error', err: new Error('no'), eventName: 'added' }, 'a function given to the scheduler failed'],
  ]);
  const broken = new Scheduler({ logger: { debug: fail, info: fail, warn: fail, error: fail } });
  expect(await broken.add(() => 7)).toBe(7);
});

test('F7.1 a logger without the methods of one is refused', () => {
  expect(() => new Scheduler({ logger: { info: nothing } as never })).toThrow(InvalidConfigError);
  expect(() => new Scheduler({ logger: null as never })).toThrow(/debug, info, warn and error/);
});

test('row 44 whatever tasks and errors are called, nothing meant for a terminal contains what steers one', async () => {
  const escape = '\u001b[31mred\u0007';
  const id = 'ab\u202ecd';
  const { clock, scheduler, lines } = logged({ strategy: 'fair' });
  const broken = (): never => {
    throw new Error(escape);
  };
  scheduler.add(broken, { id, channel: id });
  await clock.advance('1s');
  const texts = [
    ...lines.map(([, , message]) => message),
    ...[describeExplanation(scheduler.explain(id)), scheduler.describeOrder()],
    ...[scheduler.toDot(), scheduler.toMermaid()].map((text) => text.replaceAll('\n', '')),
    messageOf(() => scheduler.add(nothing, { id: escape })),
    messageOf(() => scheduler.explain(escape)),
    messageOf(() => {
      scheduler.setPriority(id, 'high');
    }),
  ];
  expect(texts.filter((text) => text.includes('red'))).toHaveLength(3);
  for (const text of texts) expect(text).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
});

function messageOf(refused: () => unknown): string {
  try {
    refused();
  } catch (error) {
    return (error as Error).message;
  }
  return '\u0007 it was not refused';
}

test('F7.1 facts and events can be followed on diagnostics channels, which cost nothing otherwise', async () => {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock });
  const { core } = (scheduler as unknown as { engine: { core: Core } }).engine;
  const facts: FactMessage[] = [];
  const events: EventMessage[] = [];
  const onFact = (message: unknown): unknown => facts.push(message as FactMessage);
  const onEvent = (message: unknown): unknown => events.push(message as EventMessage);
  await scheduler.add(nothing);
  expect(core.state.emit).toBeUndefined();
  subscribe('precedence:fact', onFact);
  subscribe('precedence:event', onEvent);
  await clock.settle();
  // That somebody subscribed is noticed with the next that happens.
  await scheduler.add(nothing);
  facts.length = 0;
  events.length = 0;
  await scheduler.add(nothing, { id: 'a' });
  await clock.settle();
  expect(facts.map(({ fact }) => fact.kind)).toEqual([
    ...['task.submitted', 'task.ready', 'attempt.started', 'attempt.ended', 'task.completed'],
  ]);
  expect(events.map(({ name }) => name)).toEqual(['added', 'ready', 'started', 'empty', 'completed', 'claims', 'idle']);
  expect(new Set([...facts, ...events].map((message) => message.scheduler))).toEqual(new Set([scheduler]));
  unsubscribe('precedence:fact', onFact);
  unsubscribe('precedence:event', onEvent);
  expect(channel('precedence:fact').hasSubscribers).toBe(false);
  await scheduler.add(nothing);
  expect(core.state.emit).toBeUndefined();
});

test('F7.1 no record is made at a level that the logger says goes nowhere, and it is asked again each time', async () => {
  const { lines } = logged();
  const at =
    (level: LogLevel) =>
    (record: object, message: string): unknown =>
      lines.push([level, record as Line[1], message]);
  const enabled = new Set<LogLevel>(['error']);
  const isLevelEnabled = (level: LogLevel): boolean => enabled.has(level);
  const logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), isLevelEnabled };
  const scheduler = new Scheduler({ clock: new VirtualClock(), logger });
  await scheduler.add(nothing);
  await scheduler.onIdle();
  expect(lines).toEqual([]);
  enabled.add('info');
  await scheduler.add(nothing, { id: 'b' });
  const told = lines.filter(([, record]) => record['event'] !== 'claims');
  expect(told.map(([level, record]) => [level, record['event'], record['taskId']])).toEqual([
    ['info', 'completed', 'b'],
  ]);
  await scheduler.close();
});
