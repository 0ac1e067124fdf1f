import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Task } from '../../src/model/index.js';
import { Heap } from '../../src/ready/heap.js';
import { PackedHeap, compareRank } from '../../src/ready/packed-heap.js';
import { lateness, rank, taskMaker } from './ranked.js';

interface Entry {
  readonly task: Task;
  readonly a: number;
  readonly b: number;
}

const operation = fc.option(fc.record({ a: rank, b: rank, lateBy: lateness }), { nil: 'pop' as const, freq: 2 });

test('B1.2 a packed heap agrees with heap-js, whatever is pushed and popped', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 200, size: 'max' }), (operations) => {
      const make = taskMaker();
      const packed = new PackedHeap();
      const reference = new Heap<Entry>((x, y) => compareRank(x.a, x.b, x.task, y.a, y.b, y.task));
      for (const each of operations) {
        if (each === 'pop') {
          packed.pop();
          reference.pop();
        } else {
          const entry = { task: make(each.lateBy), a: each.a, b: each.b };
          if (reference.size > 0) {
            const goesFirst = compareRank(packed.a, packed.b, packed.task, entry.a, entry.b, entry.task) < 0;
            expect(packed.precedes(entry.a, entry.b, entry.task)).toBe(goesFirst);
          }
          packed.push(entry.task, entry.a, entry.b);
          reference.push(entry);
        }
        expect(packed.size).toBe(reference.size);
        const top = reference.peek();
        if (top !== undefined) expect({ task: packed.task, a: packed.a, b: packed.b }).toEqual(top);
      }
      expect(new Set([...packed.entries()].map(({ task }) => task))).toEqual(
        new Set(reference.items().map(({ task }) => task)),
      );
      for (let top = reference.pop(); top !== undefined; top = reference.pop()) {
        expect(packed.task).toBe(top.task);
        packed.pop();
      }
      expect(packed.size).toBe(0);
    }),
  );
});

test('row 29 infinite ranks are equal to themselves: the order of ranked tasks is total', () => {
  fc.assert(
    fc.property(fc.tuple(rank, rank), fc.tuple(rank, rank), fc.constantFrom(0, 5), ([a1, b1], [a2, b2], lateBy) => {
      const make = taskMaker();
      const [x, y] = [make(lateBy), make()];
      expect(Math.sign(compareRank(a1, b1, x, a2, b2, y))).toBe(-Math.sign(compareRank(a2, b2, y, a1, b1, x)));
      expect(compareRank(a1, b1, x, a2, b2, y)).not.toBe(0);
      expect(compareRank(a1, b1, x, a1, b1, x)).toBe(0);
    }),
  );
});
