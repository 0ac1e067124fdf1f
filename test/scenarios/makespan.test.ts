import fc from 'fast-check';
import { expect, test } from 'vitest';
import { STRATEGY_NAMES } from '../../src/ready/index.js';
import { sim } from '../../src/testing/index.js';

/** Tasks that come after some of those before them, each with the time it takes. */
const graph = fc.array(
  fc.record({
    takesMs: fc.integer({ min: 1, max: 9 }),
    level: fc.integer({ min: 0, max: 4 }),
    after: fc.array(fc.nat(200), { maxLength: 3 }),
  }),
  { minLength: 5, maxLength: 40, size: 'max' },
);

test.each(STRATEGY_NAMES)('G10 under %s a graph takes at most W/m + (1 - 1/m) × its longest path', (strategy) => {
  let strained = 0;
  fc.assert(
    fc.property(graph, fc.integer({ min: 1, max: 4 }), (tasks, slots) => {
      const s = sim({ slots, strategy, check: false });
      const lengths: number[] = [];
      s.send({ kind: 'setLimit', scope: 'global', key: '', limit: 0 });
      for (const [i, { takesMs, level, after }] of tasks.entries()) {
        const before = i === 0 ? [] : [...new Set(after.map((each) => each % i))];
        lengths.push(takesMs + Math.max(0, ...before.map((each) => lengths[each] as number)));
        s.add(`t${String(i)}`, {
          priority: level,
          channel: `c${String(i % 3)}`,
          after: before.map((each) => `t${String(each)}`),
        });
      }
      s.send({ kind: 'setLimit', scope: 'global', key: '', limit: Infinity });
      const endsAt = new Map<string, number>();
      while (s.core.state.pending > 0) {
        const now = s.now.mono;
        for (const name of s.running()) {
          const { takesMs } = tasks[Number(/\d+/.exec(name)?.[0])] as { takesMs: number };
          if (!endsAt.has(name)) endsAt.set(name, now + takesMs);
        }
        s.advance(1);
        for (const name of s.running()) if (endsAt.get(name) === s.now.mono) s.complete(name);
      }
      const work = tasks.reduce((sum, { takesMs }) => sum + takesMs, 0);
      const path = Math.max(...lengths);
      expect(s.now.mono).toBeLessThanOrEqual(work / slots + (1 - 1 / slots) * path + 1e-6);
      if (slots > 1 && s.now.mono > Math.max(path, work / slots) + 1) strained += 1;
    }),
    { numRuns: 25 },
  );
  // Otherwise the two plain bounds below it would have said as much.
  expect(strained).toBeGreaterThan(0);
});
