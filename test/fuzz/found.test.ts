import { expect, test } from 'vitest';
import { FileStore, MemoryStore, Scheduler, type Loaded, type Store } from '../../src/index.js';
import { RecordBuffer } from '../../src/stores/file/record.js';
import { SimulatedDisk, VirtualClock } from '../../src/testing/index.js';

// What fuzzing has found, each as small as it gets.

test.each([[null], [7], ['text'], [[]]])('a scheduler that is made with %j is refused by name', (options) => {
  expect(() => new Scheduler(options as never)).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', field: 'options', value: options }),
  );
});

test('addDependency with null for its options is refused by name', () => {
  const scheduler = new Scheduler({ concurrency: 0 });
  const [a, b] = [scheduler.add(() => 1), scheduler.add(() => 2)];
  expect(() => {
    scheduler.addDependency(a, b, null as never);
  }).toThrow(expect.objectContaining({ code: 'INVALID_TASK', field: 'options' }));
});

test.each([1n, {}, null, Symbol('s')])('no task is taken back for a reason that no store can keep: %#', (reason) => {
  const scheduler = new Scheduler({ concurrency: 0 });
  const handle = scheduler.add(() => 1);
  expect(() => handle.cancel(reason as never)).toThrow(
    expect.objectContaining({ code: 'INVALID_TASK', field: 'reason' }),
  );
  expect(handle.state).toBe('ready');
});

test.each(['a\0b', '\u202egnp', 'x'.repeat(10_000)])(
  'a name that nobody knows is told in words that can be printed: %#',
  (name) => {
    const scheduler = new Scheduler({ concurrency: 0 });
    const odd = { [name]: 'odd' } as never;
    for (const act of [
      () => new Scheduler(odd),
      () => new Scheduler({ channels: odd }),
      () => new Scheduler({ channels: { weights: odd } }),
      () => scheduler.worker(odd),
      () => scheduler.close(odd),
      () => scheduler.cancel('a', odd),
    ]) {
      let error: Error | undefined;
      try {
        void act();
      } catch (thrown) {
        error = thrown as Error;
      }
      expect(error).toMatchObject({ code: /^INVALID_/ });
      expect(error?.message).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
      expect(error?.message.length).toBeLessThan(1_000);
    }
  },
);

test('a checkpoint that cannot be copied is refused in one line, whatever is in it', async () => {
  const scheduler = new Scheduler();
  const lines = (): number => {
    return 1;
  };
  const refused = scheduler.add((task) => {
    task.checkpoint(lines);
  });
  const error = await refused.result.catch((thrown: unknown) => thrown as Error);
  expect(error).toMatchObject({ code: 'PAYLOAD' });
  expect((error as Error).message).not.toMatch(/\n/);
  await scheduler.close();
});

/** A store that hands over what it pleases. */
function handing(sequence: number, ...loaded: readonly Loaded[]): Store {
  const store = new MemoryStore();
  return Object.assign(store, {
    open: () => Promise.resolve({ epoch: 1, sequence }),
    // eslint-disable-next-line @typescript-eslint/require-await -- a store answers asynchronously
    load: async function* () {
      yield* loaded;
    },
  });
}

/** Two records, as a scheduler has written them. */
async function written(): Promise<string[]> {
  const store = new MemoryStore();
  const scheduler = new Scheduler({ store, clock: new VirtualClock(), concurrency: 0 });
  scheduler.define('work', () => 1);
  await scheduler.add('work', 1, { id: 'a' }).accepted;
  await scheduler.add('work', 2, { id: 'b' }).accepted;
  const bodies: string[] = [];
  for await (const loaded of store.load()) if (loaded.kind === 'records') bodies.push(...loaded.bodies);
  expect(bodies.length).toBeGreaterThan(1);
  return bodies;
}

const records = (first: number, ...bodies: readonly string[]): Loaded => ({ kind: 'records', first, bodies });

test.each<[string, (bodies: readonly string[]) => readonly Loaded[]]>([
  ['with a gap', ([first, , ...rest]) => [records(1, first!), records(3, ...rest)]],
  ['with one of them twice', ([first, ...rest]) => [records(1, first!), records(1, first!, ...rest)]],
  ['that end before the last one', (bodies) => [records(1, ...bodies.slice(0, -1))]],
  [
    'with a fact that nobody knows',
    (bodies) => [records(1, ...bodies.slice(0, -1), fact({ kind: 'task.mislaid', task: 'a' }))],
  ],
  ['with a fact that says nothing', (bodies) => [records(1, ...bodies.slice(0, -1), fact({ kind: 'task.ready' }))]],
  [
    'with a level that is a text',
    (bodies) => [records(1, ...bodies.slice(0, -1), fact({ kind: 'priority.set', task: 'a', level: '5' }))],
  ],
  ['with null for an entry', (bodies) => [records(1, ...bodies.slice(0, -1), '[1,null]')]],
  ['that begin in no way', (bodies) => [records(1, '[1,{"kind":"begun","snapshot":null}]', ...bodies.slice(1))]],
  ['of which nothing but the number is told', (bodies) => [{ kind: 'snapshot', sequence: bodies.length, parts: [] }]],
  ['whose snapshot is none', (bodies) => [{ kind: 'snapshot', sequence: bodies.length, parts: ['[1,{}]'] }]],
])('G13 records %s are refused as damaged, and nothing is made of them', async (_, loaded) => {
  const bodies = await written();
  const scheduler = new Scheduler({ store: handing(bodies.length, ...loaded(bodies)), concurrency: 0 });
  await expect(scheduler.start()).rejects.toMatchObject({ code: 'CORRUPT_JOURNAL' });
  await scheduler.close();
});

function fact(fields: object): string {
  return JSON.stringify([1, { wall: 1, mono: 1, ...fields }]);
}

function segment(head: object, ...bodies: readonly string[]): Uint8Array {
  const buffer = new RecordBuffer();
  buffer.addText('precedence journal 1\n');
  buffer.add('head', 0, JSON.stringify(head));
  for (const [at, body] of bodies.entries()) buffer.add('fact', at + 1, body);
  return Uint8Array.from(buffer.content);
}

test.each<[string, Record<string, Uint8Array>]>([
  [
    'segments that each say to come after the other',
    {
      'journal-000001-000001': segment({
        epoch: 1,
        index: 1,
        first: 5,
        previous: { name: 'journal-000001-000002', end: 9, last: 4 },
      }),
      'journal-000001-000002': segment({
        epoch: 1,
        index: 2,
        first: 9,
        previous: { name: 'journal-000001-000001', end: 9, last: 8 },
      }),
    },
  ],
  [
    'a segment that ends before it is said to end',
    {
      'journal-000001-000001': segment({ epoch: 1, index: 1, first: 1, previous: null }, '["a"]'),
      'journal-000001-000002': segment({
        epoch: 1,
        index: 2,
        first: 3,
        previous: { name: 'journal-000001-000001', end: 2 ** 40, last: 2 },
      }),
    },
  ],
  ['a head that is none', { 'journal-000001-000001': segment([7]) }],
])('row 4 %s: refused, without an end to wait for or room to be taken', async (_, files) => {
  const disk = new SimulatedDisk();
  for (const [name, bytes] of Object.entries(files)) disk.write(`/state/${name}`, bytes);
  await expect(new FileStore('/state', { files: disk.start() }).open()).rejects.toMatchObject({
    code: 'CORRUPT_JOURNAL',
  });
});
