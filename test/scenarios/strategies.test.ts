import { describe, expect, test } from 'vitest';
import { Core, type Strategy, type StrategyChoice, type StrategyName } from '../../src/core/index.js';
import { InvalidConfigError } from '../../src/model/index.js';
import { SIM_START, sim, type Sim, type SimTaskOptions } from '../../src/testing/index.js';

/** One set of tasks that every strategy puts into an order of its own. */
const MIXED: Readonly<Record<string, SimTaskOptions>> = {
  report: { priority: 'low', channel: 'b', deadline: SIM_START + 50_000, estimate: 5 },
  fetch: { priority: 'high', channel: 'b', estimate: 1 },
  clean: { priority: 'normal', channel: 'a', deadline: SIM_START + 90_000, estimate: 9 },
  index: { priority: 'high', channel: 'b', estimate: 7 },
  mail: { priority: 'high', channel: 'c', deadline: SIM_START + 70_000, estimate: 1 },
};

const ORDERS: Readonly<Record<Exclude<StrategyName, 'weighted-random'>, readonly string[]>> = {
  fifo: ['report', 'fetch', 'clean', 'index', 'mail'],
  lifo: ['mail', 'index', 'clean', 'fetch', 'report'],
  priority: ['mail', 'fetch', 'index', 'clean', 'report'],
  deadline: ['report', 'mail', 'clean', 'fetch', 'index'],
  fair: ['fetch', 'mail', 'index', 'clean', 'report'],
  'critical-path': ['index', 'mail', 'fetch', 'clean', 'report'],
};
const NAMES = Object.keys(ORDERS) as (keyof typeof ORDERS)[];

const byIdBackwards: Strategy = {
  name: 'by-id-backwards',
  rank: (task) => -(task.id.codePointAt(0) ?? 0),
  describe: () => 'id backwards → FIFO',
};

function mixed(strategy?: StrategyChoice) {
  const s = sim(strategy === undefined ? {} : { strategy });
  s.addAll(MIXED);
  return s;
}

function seizeError(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('A1.1 strategies by name', () => {
  test.each(NAMES)('A1.1 %s hands out tasks in its own order', (name) => {
    expect(mixed(name).drain()).toEqual(ORDERS[name]);
  });

  test('A1.1 without a choice the strategy is priority', () => {
    expect(mixed().drain()).toEqual(ORDERS.priority);
    expect(mixed().core.describeOrder()).toBe(mixed('priority').core.describeOrder());
  });

  test('A1.1 weighted-random may be written weighted_random, and hands out every task once', () => {
    const drawn = mixed('weighted-random').drain();
    const alias = mixed('weighted_random' as StrategyName).drain();
    expect(alias).toEqual(drawn);
    expect([...drawn].sort()).toEqual(Object.keys(MIXED).sort());
    const later = sim({ strategy: 'fifo' });
    later.send({ kind: 'setStrategy', strategy: 'weighted_random' as StrategyName });
    later.addAll(MIXED);
    expect(later.drain()).toEqual(drawn);
    // What is recorded of a worker is the name that a restart knows.
    later.worker('w', { strategy: 'weighted_random' as StrategyName });
    later.core = Core.restore(later.core.snapshot());
    expect(later.core.state.workers.get('w')?.spec.strategy).toBe('weighted-random');
  });
});

test('A1.1 under critical-path an occurrence of a series is expected to take as long as others of its type', () => {
  const s = sim({ strategy: 'critical-path' });
  s.add('before', { type: 'render' });
  s.claim();
  s.advance(500);
  s.complete('before');
  s.add('short', { estimate: 100 });
  s.repeat('nightly', { every: '1d', type: 'render' });
  s.add('long', { estimate: 900 });
  const [first, second = '', third] = s.claim(3);
  expect([first, s.task(second).extra?.series, third]).toEqual(['long', 'nightly', 'short']);
});

describe('A1.2 strategies of one’s own', () => {
  test('A1.2 the smallest rank goes first, equal ranks are FIFO, and what has no usable rank goes last', () => {
    expect(mixed(byIdBackwards).drain()).toEqual(['report', 'mail', 'index', 'fetch', 'clean']);
    const picky: Strategy = {
      name: 'picky',
      rank: (task) => {
        if (task.id === 'report') throw new Error('no rank for reports');
        return task.id === 'fetch' ? NaN : 0;
      },
      describe: () => 'picky',
    };
    expect(mixed(picky).drain()).toEqual(['clean', 'index', 'mail', 'report', 'fetch']);
  });

  test('A1.2 a worker may have one as well as the scheduler', () => {
    const s = mixed('fifo');
    s.worker('backwards', { strategy: byIdBackwards });
    expect(s.claim(2, 'backwards')).toEqual(['report', 'mail']);
    expect(s.claim()).toEqual(['fetch']);
    expect(s.claim(1, 'backwards')).toEqual(['index']);
  });

  test('A1.2 a rank is asked again when the level of a waiting task changes, also in a paused channel', () => {
    const byLevel: Strategy = { name: 'by-level', rank: (task) => task.level, describe: () => 'level' };
    const s = sim({ strategy: byLevel });
    for (const id of ['x', 'y', 'z']) s.add(id, { channel: id });
    s.send({ kind: 'setPriority', task: 'y', level: 1 });
    s.send({ kind: 'pauseChannel', channel: 'z' });
    s.send({ kind: 'setPriority', task: 'z', level: 0 });
    s.send({ kind: 'resumeChannel', channel: 'z' });
    expect(s.drain()).toEqual(['z', 'y', 'x']);
  });

  test('A1.2 a rank is asked again for every attempt', () => {
    const freshFirst: Strategy = {
      name: 'fresh-first',
      rank: (task) => task.attempts,
      describe: () => 'attempts → FIFO',
    };
    const s = sim({ strategy: freshFirst });
    for (const id of ['x', 'y', 'z']) s.add(id, { retry: 2 });
    expect(s.claim()).toEqual(['x']);
    s.fail('x#1');
    s.advance(60_000);
    expect(s.drain()).toEqual(['y', 'z', 'x']);
  });

  test('A1.2 choose picks among the heads of lanes, with the scheduler’s time and chance', () => {
    const times: number[] = [];
    const lastChannel: Strategy = {
      name: 'last-channel',
      rank: (task) => task.level,
      choose: (heads, context) => {
        times.push(context.now);
        expect(context.random()).toBeLessThan(1);
        return [...heads].sort((x, y) => (x.channel < y.channel ? 1 : -1))[0] ?? (heads[0] as never);
      },
      describe: () => 'last channel → priority',
    };
    const s = mixed(lastChannel);
    s.advance(40);
    expect(s.drain()).toEqual(['mail', 'fetch', 'index', 'report', 'clean']);
    expect(times).toEqual([40, 40, 40, 40, 40]);
  });

  test('A1.2 a choice that is none of the heads falls back on the rank instead of idling', () => {
    const astray: Strategy = { ...byIdBackwards, choose: (heads) => ({ ...(heads[0] as (typeof heads)[0]) }) };
    expect(mixed(astray).drain()).toEqual(['report', 'mail', 'index', 'fetch', 'clean']);
  });

  test('A1.2 an unknown name is refused with the known ones, wherever a strategy is given', () => {
    const unknown = 'round-robin' as StrategyName;
    const s = sim();
    for (const refused of [
      () => sim({ strategy: unknown }),
      () => s.send({ kind: 'setStrategy', strategy: unknown }),
      () => {
        s.worker('w', { strategy: unknown });
      },
      () => s.send({ kind: 'setStrategy', strategy: { name: 'half', rank: () => 0 } as unknown as Strategy }),
    ]) {
      const error = seizeError(refused);
      expect(error).toBeInstanceOf(InvalidConfigError);
      for (const name of [...NAMES, 'weighted-random']) expect((error as Error).message).toContain(name);
    }
    expect(s.core.state.workers.has('w')).toBe(false);
  });

  test('A1.2 a choose that is no function is refused, before anything is ordered by it', () => {
    const wrong = { ...byIdBackwards, choose: 5 } as unknown as Strategy;
    const s = mixed();
    for (const refused of [
      () => sim({ strategy: wrong }),
      () => s.send({ kind: 'setStrategy', strategy: wrong }),
      () => {
        s.worker('w', { strategy: wrong });
      },
    ]) {
      expect(seizeError(refused)).toBeInstanceOf(InvalidConfigError);
    }
    expect(s.drain()).toEqual(ORDERS.priority);
  });

  test('A1.2 a weight function that gives no share above zero is refused', () => {
    for (const weight of [() => 0, () => -1, () => NaN, () => Infinity]) {
      const error = seizeError(() => sim({ strategy: { name: 'weighted-random', weight } }));
      expect(error).toBeInstanceOf(InvalidConfigError);
      expect((error as InvalidConfigError).field).toBe('strategy.weight');
    }
  });
});

describe('A1.4 what decides and goes wrong is told of', () => {
  const faultsOf = (s: Sim): unknown[] =>
    s.core.outbox.faults.splice(0).map(({ by, strategy, taskId, value, cause }) => ({
      by,
      strategy,
      taskId,
      ...(cause === undefined ? { value } : { cause }),
    }));

  test('A1.4 a rank that throws or is no number is told of once for each type of tasks', () => {
    const thrown = new Error('no size');
    const s = sim({
      strategy: {
        name: 'mine',
        rank: ({ id }) => {
          if (id === 'throws') throw thrown;
          return id === 'fine' ? 1 : ('7' as unknown as number);
        },
        describe: () => 'mine',
      },
    });
    s.add('fine', { type: 'mail' });
    expect(faultsOf(s)).toEqual([]);
    s.add('text', { type: 'mail' });
    s.add('again', { type: 'mail' });
    s.add('throws', { type: 'report' });
    expect(faultsOf(s)).toEqual([
      { by: 'rank', strategy: 'mine', taskId: 'text', value: '7' },
      { by: 'rank', strategy: 'mine', taskId: 'throws', cause: thrown },
    ]);
    expect(s.drain()).toEqual(['fine', 'text', 'again', 'throws']);
    expect(faultsOf(s)).toEqual([]);
    for (let i = 0; i < 100; i += 1) s.add(`t${i}`, { type: `type ${i}` });
    expect(faultsOf(s)).toHaveLength(14);
  });

  test('A1.4 so is a choice that is none of the candidates', () => {
    const strange: Strategy = { ...byIdBackwards, choose: (heads) => ({ ...(heads[0] as (typeof heads)[0]) }) };
    const s = mixed(strange);
    expect(s.drain()).toHaveLength(5);
    expect(faultsOf(s)).toMatchObject([{ by: 'choose', strategy: 'by-id-backwards', value: { id: 'report' } }]);
    const thrown = new Error('no idea');
    const throwing: Strategy = {
      ...byIdBackwards,
      choose: () => {
        throw thrown;
      },
    };
    const t = mixed(throwing);
    expect(t.drain()).toEqual(['report', 'mail', 'index', 'fetch', 'clean']);
    expect(faultsOf(t)).toEqual([{ by: 'choose', strategy: 'by-id-backwards', taskId: undefined, cause: thrown }]);
  });

  test('A1.4 so is a weight that is none, and where the level is asked about again, only once', () => {
    const weight = (level: number): number => (level < 5 ? 1 : -level);
    const s = sim({ strategy: { name: 'weighted-random', weight } });
    s.add('a', { priority: 1 });
    expect(faultsOf(s)).toEqual([]);
    s.add('b', { priority: 40 });
    s.add('c', { priority: 40 });
    expect(faultsOf(s)).toEqual([{ by: 'weight', strategy: 'weighted-random', taskId: undefined, value: -40 }]);
    expect(s.drain().sort()).toEqual(['a', 'b', 'c']);
  });

  test('A1.4 so is a filter that throws or says neither yes nor no, and its worker takes nothing of that place', () => {
    const thrown = new Error('no idea');
    const s = sim();
    s.worker('w', {
      slots: 9,
      filter: ({ type }) => {
        if (type === 'throws') throw thrown;
        return type === 'fine' ? true : (1 as unknown as boolean);
      },
    });
    for (const type of ['fine', 'odd', 'throws']) {
      s.add(type, { type });
      s.add(`${type} again`, { type });
    }
    expect(s.claim(9, 'w')).toEqual(['fine', 'fine again']);
    expect(faultsOf(s)).toEqual([
      { by: 'filter', strategy: undefined, taskId: undefined, value: 1 },
      { by: 'filter', strategy: undefined, taskId: undefined, cause: thrown },
    ]);
  });
});

test('A1.3 a strategy of one’s own sees how long a task is said to take', () => {
  const shortest: Strategy = {
    name: 'shortest',
    rank: ({ estimateMs }) => estimateMs ?? Infinity,
    describe: () => 'estimate → FIFO',
  };
  const s = sim({ strategy: shortest });
  s.add('unknown');
  for (const [id, estimate] of [
    ['long', '5m'],
    ['short', '1s'],
    ['middle', '1m'],
  ] as const)
    s.add(id, { estimate });
  expect(s.claim(9)).toEqual(['short', 'middle', 'long', 'unknown']);
});

describe('A2.1 switching strategies', () => {
  const pairs = NAMES.flatMap((from) => NAMES.filter((to) => to !== from).map((to) => [from, to] as const));
  /** What is left of an order once its first task under another strategy has gone. */
  const rest = (to: keyof typeof ORDERS, taken: string) => ORDERS[to].filter((id) => id !== taken);

  test.each(pairs)('A2.1 %s to %s and back: the very next claim obeys the order in force', (from, to) => {
    const s = mixed(from);
    s.send({ kind: 'setStrategy', strategy: to });
    const first = s.claim();
    expect(first).toEqual([ORDERS[to][0]]);
    s.send({ kind: 'setStrategy', strategy: from });
    const second = s.claim();
    expect(second).toEqual([rest(from, first[0] as string)[0]]);
    expect([...s.claim(9), ...first, ...second].sort()).toEqual(Object.keys(MIXED).sort());
  });

  test.each(pairs)('A2.1 a worker that goes from %s to %s sees all ready tasks', (from, to) => {
    const s = mixed('lifo');
    s.worker('w', { strategy: from });
    const first = s.claim(1, 'w');
    expect(first).toEqual([ORDERS[from][0]]);
    s.worker('w', { strategy: to });
    expect(s.claim(1, 'w')).toEqual([rest(to, first[0] as string)[0]]);
    expect(s.claim(9)).toHaveLength(3);
  });

  test.each(NAMES)('A2.1 tasks that came under weighted-random are all in the order of %s, and back', (name) => {
    const s = mixed('weighted-random');
    const [first = ''] = s.claim();
    s.send({ kind: 'setStrategy', strategy: name });
    const [second = ''] = s.claim();
    // The accounts of channels begin with the switch, so what is left of the list is the list without it.
    expect(second).toBe(rest(name, first)[0]);
    s.send({ kind: 'setStrategy', strategy: 'weighted-random' });
    expect([first, second, ...s.drain()].sort()).toEqual(Object.keys(MIXED).sort());
  });

  test('A2.1 a worker with a filter and no strategy of its own follows the scheduler’s', () => {
    const s = mixed('fifo');
    s.worker('only-b', { filter: ({ channel }) => channel === 'b' });
    expect(s.claim(1, 'only-b')).toEqual(['report']);
    s.send({ kind: 'setStrategy', strategy: 'lifo' });
    expect(s.claim(9, 'only-b')).toEqual(['index', 'fetch']);
  });

  test('A2.1 changing the filter of a worker that takes turns counts nobody twice', () => {
    const s = sim({ strategy: 'fifo' });
    for (let i = 0; i < 3; i += 1) s.add(`a${String(i)}`, { channel: 'a' });
    s.worker('w', { strategy: 'fair', filter: () => true });
    s.claim(1, 'w');
    s.worker('w', { strategy: 'fair', filter: ({ channel }) => channel !== 'none' });
    s.claim(1, 'w');
    s.claim(1, 'w');
    expect([...s.core.state.index.turns.all()].map((level) => level.waiting)).toEqual([0]);
  });

  test('A2.1 a strategy of one’s own takes over and gives back like the others', () => {
    const s = mixed('priority');
    s.send({ kind: 'setStrategy', strategy: byIdBackwards });
    expect(s.claim()).toEqual(['report']);
    s.send({ kind: 'setStrategy', strategy: 'fifo' });
    expect(s.drain()).toEqual(['fetch', 'clean', 'index', 'mail']);
  });
});

test('A6 one, two, three: FIFO forwards, LIFO backwards; levels 100, 50, 1: the lowest first', () => {
  const numbered = (strategy: StrategyName) => {
    const s = sim({ strategy });
    for (const id of ['1', '2', '3']) s.add(id);
    return s.drain();
  };
  expect(numbered('fifo')).toEqual(['1', '2', '3']);
  expect(numbered('lifo')).toEqual(['3', '2', '1']);
  const s = sim({ strategy: 'priority' });
  for (const level of [100, 50, 1]) s.add(`level ${String(level)}`, { priority: level });
  expect(s.drain()).toEqual(['level 1', 'level 50', 'level 100']);
});
