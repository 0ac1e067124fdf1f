import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Task, extraOf, parseTaskOptions } from '../../src/model/index.js';
import { areManyReady, readyByPlace, splitBy } from '../../src/ready/by-place.js';
import {
  Faults,
  Heap,
  NO_AGING,
  Places,
  ReadyIndex,
  STRATEGY_NAMES,
  type StrategyChoice,
} from '../../src/ready/index.js';
import { PackedHeap, compareRank } from '../../src/ready/packed-heap.js';
import { Queue } from '../../src/ready/queue.js';
import { sim } from '../../src/testing/index.js';
import { lateness, nth, rank, taskMaker } from './ranked.js';

interface Ranked {
  readonly a: number;
  readonly b: number;
  readonly lateBy: number;
}

const ranked = fc.record({ a: rank, b: rank, lateBy: lateness });
const plain = fc.record({ a: fc.constant(0), b: fc.constant(0), lateBy: fc.constant(0) });
/** Lists with all ranks, mostly plain ones, or none but those, long enough for more than one block. */
const lists = fc.oneof(
  fc.array(ranked, { maxLength: 60, size: 'max' }),
  fc.array(fc.oneof({ weight: 9, arbitrary: plain }, { weight: 1, arbitrary: ranked }), { maxLength: 60, size: 'max' }),
  fc.array(plain, { maxLength: 600, size: 'max' }),
);

test('B1.2 a heap made of a list agrees with heap-js', () => {
  fc.assert(
    fc.property(lists, (list) => {
      const entries = rankedTasks(list);
      const reference = new Heap<(typeof entries)[number]>((x, y) => compareRank(x.a, x.b, x.task, y.a, y.b, y.task));
      reference.rebuild(entries);
      const heap = new PackedHeap(
        entries.map(({ task }) => task),
        entries.map(({ a }) => a),
        entries.map(({ b }) => b),
      );
      heap.heapify();
      expect(heap.size).toBe(entries.length);
      for (let top = reference.pop(); top !== undefined; top = reference.pop()) {
        expect({ task: heap.task, a: heap.a, b: heap.b }).toEqual(top);
        heap.pop();
      }
    }),
  );
});

test('B1.1 a queue filled at once is the same as one filled one by one, and takes more', () => {
  fc.assert(
    fc.property(lists, lists, (list, more) => {
      const entries = rankedTasks([...list, ...more]);
      const rankOf = new Map(entries.map((entry) => [entry.task, entry]));
      const [atOnce, oneByOne] = [new Queue(), new Queue()];
      atOnce.pushAll(
        entries.slice(0, list.length).map(({ task }) => task),
        { alike: 'all', first: (task) => rankOf.get(task)?.a ?? 0, second: (task) => rankOf.get(task)?.b ?? 0 },
      );
      for (const [i, { task, a, b }] of entries.entries()) {
        oneByOne.push(task, a, b);
        if (i >= list.length) atOnce.push(task, a, b);
      }
      expect(atOnce.length).toBe(oneByOne.length);
      const isLive = (task: Task, a: number, b: number): boolean => {
        const known = rankOf.get(task);
        return known?.a === a && known.b === b;
      };
      for (let i = 0; i <= entries.length; i += 1) {
        atOnce.refreshHead({ isLive });
        oneByOne.refreshHead({ isLive });
        expect([atOnce.task, atOnce.a, atOnce.b, atOnce.length]).toEqual([
          oneByOne.task,
          oneByOne.a,
          oneByOne.b,
          oneByOne.length,
        ]);
        if (atOnce.task !== undefined) rankOf.delete(atOnce.task);
      }
      expect(atOnce.task).toBeUndefined();
    }),
  );
});

test('A2.1 tasks taken apart by a key are all there, in order, and apart', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(-1, 0, 0.5, 7, 255, 256), { maxLength: 40 }), (keys) => {
      const make = taskMaker();
      const tasks = keys.map((key) => make(0, 'c', key));
      const parts = splitBy(
        tasks,
        tasks.map((task) => task.urgency),
      );
      const wanted = [...new Set(keys)].map((key) => tasks.filter(({ urgency }) => urgency === key));
      expect(parts).toEqual(tasks.length === 0 ? [] : wanted);
    }),
  );
});

const specs = fc.record({
  type: fc.constantFrom('', 'x'),
  channel: fc.constantFrom('a', 'b', 'c'),
  priority: fc.constantFrom(0, 0, 1, 5),
  deadline: fc.constantFrom(Infinity, Infinity, 3_000, 2_000),
  lateBy: lateness,
  waited: fc.constantFrom(0, 0, 15, 40),
  state: fc.constantFrom('ready', 'ready', 'ready', 'cancelled', 'retried'),
});
type Spec = typeof specs extends fc.Arbitrary<infer T> ? T : never;

const choices: readonly StrategyChoice[] = [
  ...STRATEGY_NAMES,
  { name: 'own', rank: ({ sequence }) => sequence % 3, describe: () => '' },
  { name: 'own', rank: ({ level }) => level, choose: (heads) => heads.at(-1) ?? fail(), describe: () => '' },
  { name: 'weighted-random', weight: (level) => level + 1 },
];
const agings = [NO_AGING, { everyMs: 10, maxBoost: 2, maxWaitMs: Infinity }, { ...NO_AGING, maxWaitMs: 30 }];

test('A2.1 an order built at once hands out the same tasks as one that was filled one by one', () => {
  fc.assert(
    fc.property(
      fc.array(specs, { maxLength: 40, size: 'max' }),
      fc.constantFrom(...choices),
      fc.constantFrom(...agings),
      fc.constantFrom(0, 1_000),
      fc.array(nth, { maxLength: 3 }),
      (list, choice, aging, others, paused) => {
        const oneByOne = indexed(list, choice, aging, others);
        const atOnce = indexed(list, 'priority', aging, others);
        for (const { index, places } of [oneByOne, atOnce]) {
          for (const which of paused) index.pause(places.channel('abc'[which % 3] as string), MONO);
        }
        atOnce.index.setStrategy(choice);
        atOnce.index.prepare(MONO);
        expect(areManyReady(atOnce.index.size, atOnce.tasks)).toBe(others === 0 && atOnce.index.size > 0);
        expect(waiting(atOnce.index)).toEqual(waiting(oneByOne.index));
        for (let more = true; more;) {
          const [wanted, found] = [oneByOne.claim(), atOnce.claim()];
          expect(found?.sequence).toBe(wanted?.sequence);
          more = wanted !== undefined;
        }
      },
    ),
  );
});

test('A2.1 only ready tasks outside paused channels are found, by place, in order of sequence', () => {
  fc.assert(
    fc.property(fc.array(specs, { maxLength: 40, size: 'max' }), (list) => {
      const { places, tasks } = indexed(list, 'fifo', NO_AGING, 0);
      places.channel('b').paused = true;
      const wanted = [...tasks.pagesInOrder()].flat().filter((task) => task?.state === 'ready');
      const found = readyByPlace(tasks.pagesInOrder(), places);
      for (const { place, tasks: held } of found) {
        expect(held).toEqual(wanted.filter((task) => task?.place === place.index));
      }
      expect(found.flatMap(({ tasks: held }) => held)).toHaveLength(
        wanted.filter((task) => task?.spec.channel !== 'b').length,
      );
    }),
  );
});

const MONO = 1_000;

/** How many tasks the accounts count, by level and channel, while turns are counted. */
function waiting(index: ReadyIndex): Set<string> {
  const levels = index.countsTurns ? [...index.turns.all()].filter((level) => level.waiting > 0) : [];
  return new Set(
    levels.flatMap(({ level, waiting: all, busy, channels }) => [
      `${level}: ${all} of ${busy}`,
      ...[...channels.values()].map((turn) => `${level} ${turn.channel}: ${turn.waiting}`),
    ]),
  );
}

/** An index with these tasks, inserted one by one, and what it needs around it. */
function indexed(list: readonly Spec[], choice: StrategyChoice, aging: typeof NO_AGING, others: number) {
  const places = new Places(
    () => ({ single: [], needed: [] }),
    () => undefined,
    () => undefined,
    ({ paused }) => paused,
    () => undefined,
    () => undefined,
  );
  const tasks = list.map((spec, i) => taskOf(spec, i + 1, places));
  // Pages have gaps.
  const pages = {
    size: tasks.length + others,
    pagesInOrder: () => [[undefined, ...tasks.slice(0, 9)], tasks.slice(9)],
  };
  let draws = 0;
  const index = new ReadyIndex(
    {
      places,
      tasks: pages,
      changing: () => undefined,
      isServed: () => true,
      uncorrected: () => 0,
      wallOffset: 0,
      pathOf: ({ sequence }) => 1 + (sequence % 2),
      faults: new Faults([]),
      random: () => ((draws += 1) * 0.618) % 1,
    },
    choice,
    aging,
  );
  for (const [i, task] of tasks.entries()) {
    index.insert(task, MONO);
    const { state } = list[i] as Spec;
    if (state === 'ready') continue;
    task.state = 'cancelled';
    index.remove(task, MONO);
    if (state !== 'retried') continue;
    task.state = 'ready';
    index.insert(task, MONO);
  }
  const claim = (): Task | undefined => {
    const task = index.best(index.main, MONO, () => true);
    if (task === undefined) return undefined;
    index.starting(task);
    task.state = 'running';
    index.remove(task, MONO);
    index.charge(task, 1, MONO);
    return task;
  };
  return { index, places, tasks: pages, claim };
}

function taskOf({ deadline, lateBy, waited, ...options }: Spec, sequence: number, places: Places): Task {
  const { type, channel, priority } = options;
  const task = new Task(sequence, parseTaskOptions({ channel, priority }, type), undefined, sequence + lateBy);
  task.place = places.enter(task.spec).index;
  task.state = 'ready';
  task.ready = waited;
  if (deadline !== Infinity) extraOf(task).deadline = deadline;
  return task;
}

function rankedTasks(list: readonly Ranked[]): { task: Task; a: number; b: number }[] {
  const make = taskMaker();
  return list.map(({ a, b, lateBy }) => ({ task: make(lateBy), a, b }));
}

function fail(): never {
  throw new Error('There is always a head to choose from.');
}

test('A2.1 an order built at once goes by due times where the clock was set back, not by sequence', () => {
  const s = sim({ strategy: 'lifo' });
  s.add('later');
  s.jump(-1_000);
  s.add('sooner');
  s.send({ kind: 'setStrategy', strategy: 'fifo' });
  expect(s.claim(2)).toEqual(['sooner', 'later']);
});
