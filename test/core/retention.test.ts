import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Retention } from '../../src/core/retention.js';
import { Task, parseTaskOptions } from '../../src/model/index.js';

const which = fc.nat(1_000);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('end' as const), pinned: fc.constantFrom(false, false, true) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('unpin' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('revive' as const), which }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1, 10, 60) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('many' as const), count: fc.constantFrom(10, 1_300) }) },
);
const settings = fc.record({
  count: fc.constantFrom(0, 1, 5, 1_200, Infinity),
  ageMs: fc.constantFrom(0, 50, Infinity),
});

test('F5.1 finished tasks are kept to a count and an age, and a needed result beyond both', () => {
  fc.assert(
    fc.property(settings, fc.array(step, { maxLength: 40, size: 'max' }), (limits, steps) => {
      const pins = new Set<Task>();
      const gone = new Set<Task>();
      const forget = (task: Task): void => {
        expect(gone.has(task)).toBe(false);
        gone.add(task);
      };
      const retention = new Retention(
        limits,
        (task) => pins.has(task),
        () => undefined,
        forget,
      );
      let kept: { readonly task: Task; readonly endedAt: number }[] = [];
      let beyond: Task[] = [];
      const expected = new Set<Task>();
      let now = 0;
      let sequence = 0;
      const settle = (): void => {
        while (kept.length > limits.count || (kept[0] !== undefined && now - kept[0].endedAt >= limits.ageMs)) {
          beyond.push((kept.shift() as { task: Task }).task);
        }
        for (const task of beyond) if (!pins.has(task)) expected.add(task);
        beyond = beyond.filter((task) => pins.has(task));
      };
      const end = (pinned: boolean): void => {
        sequence += 1;
        const task = new Task(sequence, parseTaskOptions(undefined, ''), undefined, sequence);
        if (pinned) pins.add(task);
        kept.push({ task, endedAt: now });
        retention.keep(task, now);
        settle();
      };
      for (const each of steps) {
        if (each.kind === 'end') end(each.pinned);
        else if (each.kind === 'many') for (let i = 0; i < each.count; i += 1) end(false);
        else if (each.kind === 'wait') {
          now += each.ms;
          retention.trim(now);
          settle();
        } else if (each.kind === 'unpin') {
          const task = [...pins][each.which % pins.size];
          if (task === undefined) continue;
          pins.delete(task);
          retention.unpinned(task);
          settle();
        } else {
          const task = [...kept.map((one) => one.task), ...beyond][each.which % (kept.length + beyond.length)];
          if (task === undefined) continue;
          retention.release(task);
          kept = kept.filter((one) => one.task !== task);
          beyond = beyond.filter((one) => one !== task);
        }
        expect([gone.size, [...retention.kept()].length]).toEqual([expected.size, beyond.length + kept.length]);
      }
      expect(gone).toEqual(expected);
      expect(new Set([...retention.kept()].map(([task]) => task))).toEqual(
        new Set([...beyond, ...kept.map(({ task }) => task)]),
      );
    }),
  );
});
