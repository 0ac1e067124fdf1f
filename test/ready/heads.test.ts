import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Task } from '../../src/model/index.js';
import { AgedHeads, type Aged } from '../../src/ready/aging.js';
import { Heads, type Contender, type HeadEntry } from '../../src/ready/heads.js';
import { at, lateness, nth, rank, smallest, taskMaker } from './ranked.js';

interface Entry {
  readonly task: Task;
  readonly a: number;
  readonly b: number;
}

/** Tasks in an array; its head is found by sorting them. */
class Crowd implements Contender {
  entry: HeadEntry | undefined = undefined;
  readonly tasks: Entry[] = [];
  private found: Entry | undefined = undefined;
  grown = 0;

  get base(): number {
    return this.grown;
  }

  get head(): Entry | undefined {
    return smallest(this.tasks, ({ task, a, b }) => [a, b, task.due, task.sequence]);
  }

  get task(): Task | undefined {
    return this.found?.task;
  }

  get a(): number {
    return this.found?.a ?? 0;
  }

  get b(): number {
    return this.found?.b ?? 0;
  }

  refresh(): boolean {
    this.found = this.head;
    return this.found !== undefined;
  }

  takeHead(): void {
    const { head } = this;
    if (head !== undefined) this.tasks.splice(this.tasks.indexOf(head), 1);
  }
}

/** A crowd of one level that has aged since a window. */
class AgedCrowd extends Crowd implements Aged {
  capped = false;

  constructor(
    readonly level: number,
    public window: number,
  ) {
    super();
  }

  override get base(): number {
    return this.capped ? this.level : this.level + this.window;
  }
}

const add = fc.record({ kind: fc.constant('add' as const), which: nth, a: rank, b: rank, lateBy: lateness });
const take = fc.record({ kind: fc.constant('take' as const), which: fc.option(nth, { nil: undefined, freq: 2 }) });
const grow = fc.record({ kind: fc.constant('grow' as const), which: nth, by: fc.constantFrom(0.5, 1, 3) });
const drop = fc.record({ kind: fc.constant('drop' as const) });
const wait = fc.record({ kind: fc.constant('wait' as const), windows: fc.constantFrom(1, 1, 2, 5) });
const peek = fc.record({ kind: fc.constant('peek' as const) });

const headKey = (crowd: Crowd): readonly number[] => {
  const { task, a, b } = crowd.head as Entry;
  return [a, b, task.due, task.sequence];
};

describe('the best of many heads', () => {
  test('C7.1 is the contender with the smallest base and head, while heads come, go and grow', () => {
    const steps = fc.array(fc.oneof(add, add, take, grow, drop, peek), { maxLength: 120, size: 'max' });
    fc.assert(
      fc.property(steps, (sequence) => {
        const make = taskMaker();
        const heads = new Heads<Crowd>();
        const crowds = Array.from({ length: 6 }, () => new Crowd());
        const away = new Set<Crowd>();
        for (const each of sequence) {
          const crowd = 'which' in each && each.which !== undefined ? (at(crowds, each.which) as Crowd) : undefined;
          if (each.kind === 'add') {
            const entry = { task: make(each.lateBy), a: each.a, b: each.b };
            (crowd as Crowd).tasks.push(entry);
            // A contender that was taken out comes back with its best head, as its owner would bring it.
            const best = (away.delete(crowd as Crowd) ? (crowd as Crowd).head : entry) as Entry;
            heads.offer(crowd as Crowd, (crowd as Crowd).base, best.task, best.a, best.b);
          } else if (each.kind === 'take') (crowd ?? heads.best())?.takeHead();
          else if (each.kind === 'grow') (crowd as Crowd).grown += each.by;
          else if (each.kind === 'drop') {
            const best = heads.best();
            if (best === undefined) continue;
            expect(heads.dropBest()).toBe(best);
            away.add(best);
          } else {
            const present = crowds.filter((each) => each.head !== undefined && !away.has(each));
            expect(heads.best()).toBe(smallest(present, (each) => [each.base, ...headKey(each)]));
          }
        }
      }),
    );
  });

  test('C9.1 rises with time up to the cap, and starts over when its window does', () => {
    const steps = fc.array(fc.oneof(add, add, take, grow, wait, peek, peek), { maxLength: 120, size: 'max' });
    fc.assert(
      fc.property(fc.constantFrom(0, 1, 2.5, 4, Infinity), steps, (maxBoost, sequence) => {
        const make = taskMaker();
        const heads = new AgedHeads<AgedCrowd>(maxBoost);
        const levels = [0, 0, 1, 2, 2.5, 4];
        const crowds = levels.map((level, place) => new AgedCrowd(level, place % 2));
        let now = 1;
        for (const each of sequence) {
          const crowd = 'which' in each && each.which !== undefined ? (at(crowds, each.which) as AgedCrowd) : undefined;
          if (each.kind === 'add') {
            const entry = { task: make(each.lateBy), a: each.a, b: each.b };
            (crowd as AgedCrowd).tasks.push(entry);
            heads.offer(crowd as AgedCrowd, entry.task, entry.a, entry.b);
          } else if (each.kind === 'take') (crowd ?? heads.best(now))?.takeHead();
          else if (each.kind === 'grow') (crowd as AgedCrowd).window = now;
          else if (each.kind === 'wait') now += each.windows;
          else {
            const present = crowds.filter((each) => each.head !== undefined);
            const levelOf = ({ level, window }: AgedCrowd): number => level - Math.min(maxBoost, now - window);
            const best = smallest(present, (each) => [levelOf(each), ...headKey(each)]);
            expect(heads.best(now)).toBe(best);
          }
        }
      }),
    );
  });
});
