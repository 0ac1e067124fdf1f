import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Task, parseTaskOptions } from '../../src/model/index.js';
import { NumberedTasks } from '../../src/ready/numbered-tasks.js';

const SPEC = parseTaskOptions(undefined, '');
const all = Array.from({ length: 3_000 }, (_, at) => new Task(2 * at, SPEC, undefined, 0));

const which = fc.nat(all.length - 1);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('insert' as const), which }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('remove' as const), which }) },
  // Whole stretches, so that blocks fill, are halved, and become empty.
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('insertAll' as const), which, count: fc.nat(1_500) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('removeAll' as const), which, count: fc.nat(1_500) }) },
);

test('A7.1 numbered tasks agree with a sorted array, whatever is put in and taken out', () => {
  fc.assert(
    fc.property(fc.subarray(all), fc.array(step, { maxLength: 30, size: 'max' }), (first, steps) => {
      const numbered = new NumberedTasks();
      numbered.fill(first);
      const model = new Set(first);
      const change = (task: Task, kind: 'insert' | 'remove'): void => {
        const had = model.has(task);
        expect(numbered[kind](task)).toBe(kind === 'insert' ? !had : had);
        if (kind === 'insert') model.add(task);
        else model.delete(task);
      };
      for (const each of steps) {
        if (each.kind === 'insert' || each.kind === 'remove') change(all[each.which] as Task, each.kind);
        else {
          const kind = each.kind === 'insertAll' ? 'insert' : 'remove';
          for (const task of all.slice(each.which, each.which + each.count)) change(task, kind);
        }
        expect(numbered.size).toBe(model.size);
      }
      const sorted = [...model].sort((x, y) => x.sequence - y.sequence);
      expect([...numbered]).toEqual(sorted);
      expect(sorted.map((_, number) => numbered.at(number))).toEqual(sorted);
    }),
    { numRuns: 60 },
  );
});

test('A7.1 a task that comes and goes at the end of a full block finds its number in a few steps', () => {
  const numbered = new NumberedTasks();
  numbered.fill(all.slice(0, 2_560));
  for (let round = 0; round < 1_000; round += 1) {
    expect(numbered.insert(all[2_560] as Task)).toBe(true);
    expect(numbered.at(2_560)).toBe(all[2_560]);
    expect(numbered.remove(all[2_560] as Task)).toBe(true);
    expect(numbered.at(2_559)).toBe(all[2_559]);
  }
  expect([...numbered]).toHaveLength(2_560);
});
