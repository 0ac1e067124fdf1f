import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Heap } from '../../src/ready/heap.js';

interface Entry {
  key: number;
  readonly sequence: number;
}

const compare = (a: Entry, b: Entry): number => a.key - b.key || a.sequence - b.sequence;
const sorted = (entries: readonly Entry[]): Entry[] => entries.toSorted(compare);
const entriesOf = (keys: readonly number[]): Entry[] => keys.map((key, sequence) => ({ key, sequence }));

function heapOf(entries: readonly Entry[]): Heap<Entry> {
  const heap = new Heap(compare);
  heap.rebuild(entries);
  return heap;
}

/** Takes everything out. */
function drain(heap: Heap<Entry>): Entry[] {
  const taken: Entry[] = [];
  for (let entry = heap.pop(); entry !== undefined; entry = heap.pop()) taken.push(entry);
  return taken;
}

const key = fc.integer({ min: 0, max: 9 });
const operation = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('push' as const), key }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('pop' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('replace' as const), key }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('grow' as const), by: key }) },
  fc.record({ kind: fc.constant('rebuild' as const), keys: fc.array(key, { maxLength: 40 }) }),
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('filter' as const), modulus: fc.integer({ min: 1, max: 4 }) }),
  },
);
type Operation = typeof operation extends fc.Arbitrary<infer O> ? O : never;

/** The same operation on a heap and on a sorted array; returns the array afterwards. */
function applyToBoth(heap: Heap<Entry>, model: Entry[], step: Operation, sequence: number): Entry[] {
  switch (step.kind) {
    case 'push': {
      const entry = { key: step.key, sequence };
      heap.push(entry);
      return sorted([...model, entry]);
    }
    case 'pop':
      expect(heap.pop()).toBe(model[0]);
      return model.slice(1);
    case 'replace': {
      const entry = { key: step.key, sequence };
      heap.replaceTop(entry);
      return sorted([...model.slice(1), entry]);
    }
    case 'grow': {
      const top = heap.peek();
      if (top === undefined) return model;
      top.key += step.by;
      heap.replaceTop(top);
      return sorted(model);
    }
    case 'rebuild': {
      const entries = step.keys.map((k, place) => ({ key: k, sequence: sequence + place / 100 }));
      heap.rebuild(entries);
      return sorted(entries);
    }
    case 'filter': {
      const keep = (entry: Entry): boolean => entry.key % step.modulus === 0;
      const kept = model.filter(keep);
      expect(heap.filter(keep)).toBe(model.length - kept.length);
      return kept;
    }
  }
}

describe('a heap', () => {
  test('agrees with a sorted array after every operation', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 80, size: 'max' }), (steps) => {
        const heap = new Heap(compare);
        let model: Entry[] = [];
        steps.forEach((step, sequence) => {
          model = applyToBoth(heap, model, step, sequence);
          expect(heap.size).toBe(model.length);
          expect(heap.peek()).toBe(model[0]);
          expect(sorted(heap.items())).toEqual(model);
        });
        expect(drain(heap)).toEqual(model);
      }),
    );
  });

  test('shows no parent after its children in items()', () => {
    fc.assert(
      fc.property(fc.array(key), (keys) => {
        const items = heapOf(entriesOf(keys)).items();
        items.forEach((entry, place) => {
          if (place > 0) expect(compare(items[(place - 1) >> 1]!, entry)).toBeLessThan(0);
        });
      }),
    );
  });

  test('copies the array it is rebuilt from, and not the one it shows', () => {
    const entries = entriesOf([3, 1, 2]);
    const heap = heapOf(entries);
    heap.pop();
    expect(entries.map((entry) => entry.key)).toEqual([3, 1, 2]);
    expect(heap.items()).toBe(heap.items());
  });

  test('is rebuilt from its own items after their keys have changed', () => {
    const entries = entriesOf([1, 2, 3, 4, 5]);
    const heap = heapOf(entries);
    for (const entry of entries) entry.key = -entry.key;
    heap.rebuild(heap.items());
    expect(drain(heap).map((entry) => entry.key)).toEqual([-5, -4, -3, -2, -1]);
  });

  test('is unchanged when the predicate of filter throws', () => {
    const heap = heapOf(entriesOf([1, 2, 3]));
    const keep = (entry: Entry): boolean => {
      if (entry.key === 3) throw new Error('refused');
      return entry.key > 1;
    };
    expect(() => heap.filter(keep)).toThrow('refused');
    expect(drain(heap).map((entry) => entry.key)).toEqual([1, 2, 3]);
  });

  test('rebuilding takes a number of comparisons linear in the size', () => {
    let comparisons = 0;
    const heap = new Heap<number>((a, b) => {
      comparisons += 1;
      return a - b;
    });
    heap.rebuild(Array.from({ length: 100_000 }, (_, place) => 100_000 - place));
    expect(comparisons).toBeLessThan(200_001);
  });
});
