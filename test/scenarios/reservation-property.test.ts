import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sim } from '../../src/testing/index.js';

const work = fc.array(
  fc.record({
    gapMs: fc.constantFrom(0, 0, 10, 40),
    slices: fc.integer({ min: 0, max: 4 }),
    gpu: fc.nat(3),
    cpu: fc.nat(3),
    yieldable: fc.constantFrom([], [], ['cpu'], ['gpu']),
  }),
  { minLength: 10, maxLength: 30, size: 'max' },
);

test('C7.2 C11 G9 slices under reservations: whoever gives way with units or without, everybody ends', () => {
  let kept = 0;
  fc.assert(
    fc.property(work, (tasks) => {
      const s = sim({ slots: 3, sliceMs: 10, maxBypasses: 1 });
      for (const resource of ['gpu', 'cpu']) s.send({ kind: 'setCapacity', resource, units: 3 });
      const left = new Map(tasks.map(({ slices }, i) => [`t${String(i)}`, slices]));
      const pass = (): void => {
        s.advance(10);
        for (const name of s.running()) {
          const id = name.split('#')[0] as string;
          const slices = left.get(id) as number;
          left.set(id, slices - 1);
          if (slices > 0) s.yield(id);
          else s.complete(id);
        }
        if (s.core.state.preemption.rooms.reserved !== undefined && s.core.state.suspended.size > 0) kept += 1;
      };
      for (const [i, { gapMs, gpu, cpu, yieldable }] of tasks.entries()) {
        for (let ms = 0; ms < gapMs; ms += 10) pass();
        const needs = { ...(gpu > 0 ? { gpu } : {}), ...(cpu > 0 ? { cpu } : {}) };
        s.add(`t${String(i)}`, { needs, yieldable: yieldable.filter((name) => name in needs) });
      }
      for (let i = 0; s.core.state.pending > 0 && i < 500; i += 1) pass();
      expect(s.core.state.pending).toBe(0);
    }),
    { numRuns: 60 },
  );
  // Otherwise nobody has given way while something was reserved.
  expect(kept).toBeGreaterThan(100);
});
