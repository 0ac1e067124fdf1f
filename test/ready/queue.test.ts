import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Task } from '../../src/model/index.js';
import { Queue } from '../../src/ready/queue.js';
import { at, compareKeys, lateness, nth, rank, smallest, taskMaker } from './ranked.js';

interface Entry {
  readonly task: Task;
  readonly a: number;
  readonly b: number;
}

const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('push' as const), a: rank, b: rank, lateBy: lateness }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('run' as const), length: fc.nat(300) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('rank' as const), which: nth, a: rank, b: rank }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('take' as const), count: fc.constantFrom(1, 1, 2, 300) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), which: nth }) },
);

test('B1.1 a queue shows the live task with the smallest rank, then FIFO, after anything that may happen to it', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const make = taskMaker();
      const queue = new Queue();
      const live = new Map<Task, Entry>();
      const isLive = (task: Task, a: number, b: number): boolean => live.get(task)?.a === a && live.get(task)?.b === b;
      let entries = 0;
      const push = (task: Task, a: number, b: number): void => {
        live.set(task, { task, a, b });
        entries += 1;
        // What is said to stand behind others has one of them before it, dead or alive.
        const ahead = queue.length < 20 ? [...queue.entries()] : undefined;
        if (!queue.push(task, a, b) || ahead === undefined) return;
        expect(ahead.some((one) => compareKeys(keyOf(one), keyOf({ task, a, b })) <= 0)).toBe(true);
      };
      for (const each of steps) {
        if (each.kind === 'push') push(make(each.lateBy), each.a, each.b);
        else if (each.kind === 'run') for (let i = 0; i < each.length; i += 1) push(make(), 0, 0);
        else if (each.kind === 'rank') {
          const task = at([...live.keys()], each.which);
          if (task !== undefined) push(task, each.a, each.b);
        } else if (each.kind === 'remove') {
          const task = at([...live.keys()], each.which);
          if (task !== undefined) live.delete(task);
        } else {
          for (let i = 0; i < each.count; i += 1) {
            entries -= queue.refreshHead({ isLive });
            if (queue.task !== undefined) live.delete(queue.task);
          }
        }
        entries -= queue.refreshHead({ isLive });
        const best = first(live);
        expect(queue.task).toBe(best?.task);
        if (best !== undefined) expect([queue.a, queue.b]).toEqual([best.a, best.b]);
        expect(queue.length).toBe(entries);
      }
      const held = new Set([...queue.entries()].filter(({ task, a, b }) => isLive(task, a, b)).map(({ task }) => task));
      expect(held).toEqual(new Set(live.keys()));
      expect([...queue.entries()]).toHaveLength(entries);
    }),
  );
});

const keyOf = ({ task, a, b }: Entry): readonly number[] => [a, b, task.due, task.sequence];

function first(live: ReadonlyMap<Task, Entry>): Entry | undefined {
  return smallest([...live.values()], keyOf);
}
