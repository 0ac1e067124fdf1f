import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sim, type Sim } from '../../src/testing/index.js';

const step = fc.record({
  act: fc.constantFrom('add', 'add', 'add', 'settle', 'urge'),
  level: fc.integer({ min: 0, max: 4 }),
  channel: fc.constantFrom('A', 'B', 'C'),
  nth: fc.nat(9),
  preemptible: fc.boolean(),
});

/** All that were asked give back what they have, until nobody is asked any more; how many that were. */
function makeWay(s: Sim): number {
  let count = 0;
  for (;;) {
    const asked = [...s.core.state.table.all()].filter(({ attempt }) => attempt?.stopBy !== undefined);
    if (asked.length === 0) return count;
    const { id, attempts } = asked[0] as { id: string; attempts: number };
    s.send({ kind: 'release', task: id, token: { epoch: 1, attempt: attempts } });
    count += 1;
  }
}

test('C10.1 no less urgent work that may be stopped is left running in place of more urgent work', () => {
  let made = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 50, size: 'max' }), (steps) => {
      const slots = 3;
      const s = sim({ slots, preemption: { graceMs: 1_000, minRunMs: 0, maxPerTask: 1_000 } });
      s.send({ kind: 'setLimit', scope: 'channel', key: 'A', limit: 1 });
      for (const [i, { act, level, channel, nth, preemptible }] of steps.entries()) {
        const running = s.running().map((name) => name.split('#')[0] as string);
        if (act === 'add') s.add(`t${String(i)}`, { priority: level, channel, preemptible });
        else if (running.length > 0) {
          const chosen = running[nth % running.length] as string;
          if (act === 'settle') s.complete(chosen);
          else s.send({ kind: 'setPriority', task: chosen, level });
        }
        made += makeWay(s);
        const tasks = [...s.core.state.table.all()];
        const runs = tasks.filter(({ state }) => state === 'running');
        for (const { id, state, urgency, spec } of tasks) {
          if (state !== 'ready') continue;
          // Had all made way that may be stopped and are less urgent, it would still not fit.
          const stay = runs.filter((each) => !each.spec.preemptible || each.urgency <= urgency);
          const isOnlyOne = spec.channel === 'A' && stay.some((each) => each.spec.channel === 'A');
          expect({ id, stays: stay.length === slots || isOnlyOne }).toEqual({ id, stays: true });
        }
      }
    }),
    { numRuns: 60 },
  );
  expect(made).toBeGreaterThan(100);
});
