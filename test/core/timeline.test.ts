import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Timeline, type Due, type DueKind } from '../../src/core/timeline.js';

const KINDS: readonly DueKind[] = ['expiry', 'deadline', 'eta', 'backoff', 'timeout', 'lease', 'series'];

/** Something due, which may be put off or lose its point. */
interface Subject {
  readonly number: number;
  comesAt: number | undefined;
}

const which = fc.nat(1_000);
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      inMs: fc.integer({ min: -2, max: 30 }),
      what: fc.constantFrom(...KINDS),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('void' as const), which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('put off' as const), which, byMs: fc.nat(20) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(8) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('flood' as const), count: fc.nat(150) }) },
);

test('E5.1 a timeline gives what is due in order of time, kind and sequence, and never what has lost its point', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80, size: 'max' }), (steps) => {
      const isFree = ({ number: n }: Subject): boolean => n % 3 === 0;
      const line = new Timeline<Subject>(({ subject }) => subject.comesAt, isFree);
      const waiting: { readonly subject: Subject; readonly kind: DueKind }[] = [];
      let now = 100;
      let number = 0;
      const add = (inMs: number, kind: DueKind): void => {
        number += 1;
        const subject = { number, comesAt: now + inMs };
        waiting.push({ subject, kind });
        line.add(now + inMs, kind, number, subject);
      };
      const next = () =>
        waiting
          .filter(({ subject }) => subject.comesAt !== undefined)
          .sort(
            (x, y) =>
              (x.subject.comesAt as number) - (y.subject.comesAt as number) ||
              KINDS.indexOf(x.kind) - KINDS.indexOf(y.kind) ||
              x.subject.number - y.subject.number,
          )[0];
      for (const each of steps) {
        if (each.kind === 'add') add(each.inMs, each.what);
        else if (each.kind === 'flood') {
          for (let i = 0; i < each.count; i += 1) add(5, 'lease');
          for (const { subject } of waiting.slice(-each.count)) if (each.count > 0) subject.comesAt = undefined;
        } else if (each.kind === 'pass') now += each.ms;
        else {
          const subject = waiting[each.which % waiting.length]?.subject;
          if (subject?.comesAt === undefined) continue;
          if (each.kind === 'void') subject.comesAt = undefined;
          else subject.comesAt += each.byMs;
        }
        for (let due: Due<Subject> | undefined = line.take(now); due !== undefined; due = line.take(now)) {
          expect({ at: due.at, kind: due.kind, number: due.subject.number }).toEqual({
            at: next()?.subject.comesAt,
            kind: next()?.kind,
            number: next()?.subject.number,
          });
          due.subject.comesAt = undefined;
        }
        expect(line.next()).toBe(next()?.subject.comesAt ?? Infinity);
        expect(line.next()).toBeGreaterThan(now);
        const held = waiting
          .filter(({ subject }) => !isFree(subject))
          .map(({ subject }) => subject.comesAt ?? Infinity);
        expect(line.nextHeld()).toBe(Math.min(...held, Infinity));
        const live = waiting.filter(({ subject }) => subject.comesAt !== undefined).length;
        expect(line.pending()).toHaveLength(live);
        // What has lost its point does not pile up.
        expect(line.size).toBeLessThanOrEqual(Math.max(64, 2 * number));
      }
    }),
  );
});

test('F5.2 entries that have lost their point are swept away as new ones come', () => {
  const line = new Timeline<Subject>(({ subject }) => subject.comesAt);
  for (let number = 0; number < 10_000; number += 1) {
    const subject: Subject = { number, comesAt: 5 };
    line.add(5, 'lease', number, subject);
    subject.comesAt = undefined;
  }
  expect(line.size).toBeLessThanOrEqual(64);
});
