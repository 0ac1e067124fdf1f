import { expect, test } from 'vitest';
import { Scheduler, type Logger, type Metadata } from '../../src/index.js';
import { Core, VirtualClock, sim } from '../../src/testing/index.js';

const metadata = { tenant: 'acme', request: 7 };

function virtual() {
  const clock = new VirtualClock();
  return { clock, scheduler: new Scheduler({ clock, concurrency: 1 }) };
}

test('F1.5 a handler, a claim and a child see what their own task was added with', async () => {
  const { scheduler } = virtual();
  const seen = await scheduler.add(
    async (task) => [task.metadata, await task.waitFor(task.add((child) => child.metadata ?? 'none'))],
    { metadata },
  );
  expect(seen).toEqual([metadata, 'none']);
  const pulled = new Scheduler({ concurrency: 0 });
  pulled.add(() => 1, { metadata });
  const claim = await pulled.worker().claim();
  expect(claim?.task.metadata).toEqual(metadata);
  await pulled.close({ drain: 0 });
  await scheduler.close();
});

test('F1.5 views show it, and cancel can go by it', async () => {
  const { clock, scheduler } = virtual();
  const mine = scheduler.add(() => 1, { id: 'mine', delay: '1s', metadata });
  const plain = scheduler.add(() => 2, { id: 'plain', delay: '1s' });
  expect(scheduler.get('mine')?.metadata).toEqual(metadata);
  expect(scheduler.pending().map((task) => task.metadata)).toEqual([metadata, undefined]);
  expect(scheduler.cancel((task) => task.metadata?.['tenant'] === 'acme')).toBe(1);
  await expect(mine).rejects.toMatchObject({ code: 'CANCELLED' });
  await clock.advance(1_000);
  expect(await plain).toBe(2);
  await scheduler.close();
});

test('F1.5 every event and log record about the task states it, and those about others say nothing', async () => {
  const records: Record<string, unknown>[] = [];
  const write = (record: object): void => void records.push({ ...record });
  const logger: Logger = { debug: write, info: write, warn: write, error: write };
  const scheduler = new Scheduler({ logger });
  const told: (Metadata | undefined)[] = [];
  scheduler.on('completed', (event) => told.push(event.metadata));
  scheduler.on('refused', (event) => told.push(event.metadata));
  await scheduler.add(
    (task) => {
      task.logger.info({}, 'at work');
    },
    { id: 'once', metadata },
  );
  await expect(scheduler.add(() => 2, { id: 'once', metadata: { again: true } })).rejects.toThrow();
  await scheduler.add(() => 3, { id: 'plain' });
  await scheduler.onIdle();
  await scheduler.close();
  expect(told).toEqual([metadata, { again: true }, undefined]);
  const mine = records.filter(({ taskId }) => taskId === 'once');
  expect(mine.length).toBeGreaterThanOrEqual(6);
  for (const record of mine) {
    expect(record['metadata']).toEqual(record['event'] === 'refused' ? { again: true } : metadata);
  }
  expect(records.filter(({ taskId }) => taskId === 'plain').every((record) => !('metadata' in record))).toBe(true);
});

test('F1.5 it survives a snapshot and a replay, and so does what was said of durability', () => {
  const s = sim();
  s.add('a', { metadata, durable: false });
  s.repeat('series', { every: '1h', metadata: { of: 'series' } });
  const restored = Core.restore(JSON.parse(JSON.stringify(s.core.snapshot())) as ReturnType<Core['snapshot']>);
  const replayed = new Core({ origin: s.core.state.origin });
  for (const fact of JSON.parse(JSON.stringify(s.facts)) as typeof s.facts) replayed.apply(fact);
  for (const core of [restored, replayed]) {
    expect(core.state.table.byId('a')?.spec.rare).toStrictEqual({ metadata, durable: false });
    expect(core.state.table.byId('task-2')?.spec.rare).toStrictEqual({ metadata: { of: 'series' } });
  }
  expect(s.facts[0]).toMatchObject({ kind: 'task.submitted', spec: { rare: { durable: false } } });
});
