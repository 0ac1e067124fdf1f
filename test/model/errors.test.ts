import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as errors from '../../src/model/errors.js';
import { invariant, InvariantError } from '../../src/model/invariant.js';
import { cut, show } from '../../src/model/show.js';

const revoked = (): unknown => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

const everyKind: [string, errors.SchedulerError, string[]][] = [
  [
    'InvalidTaskError',
    new errors.InvalidTaskError({ field: 'f', value: NaN, expected: 'a level' }),
    ['f', 'NaN', 'a level'],
  ],
  ['InvalidConfigError', new errors.InvalidConfigError({ field: 'f', value: '', expected: 'x' }), ['f', '""', 'x']],
  ['DuplicateTaskError', new errors.DuplicateTaskError({ taskId: 'a' }), ['"a"', 'another id', 'retain']],
  ['UnknownTaskError', new errors.UnknownTaskError({ taskId: 'a' }), ['"a"']],
  [
    'UnknownDependencyError',
    new errors.UnknownDependencyError({ taskId: 'a', dependencyId: 'b' }),
    ['"a"', '"b"', 'addAll'],
  ],
  ['UnknownHandlerError', new errors.UnknownHandlerError({ type: 'resize' }), ['"resize"', 'define()']],
  ['CycleError', new errors.CycleError({ path: ['a', 'b', 'a'] }), ['"a" → "b" → "a"']],
  [
    'UnschedulableError',
    new errors.UnschedulableError({ taskId: 'a', resource: 'gpu', need: 2, capacity: 1 }),
    ['"a"', '"gpu"', '2', '1'],
  ],
  ['SaturatedError', new errors.SaturatedError({ pending: 7, maxPending: 6 }), ['7', '6', 'maxPending']],
  [
    'PayloadError',
    new errors.PayloadError({ taskId: 'a', part: 'input', reason: 'too large' }),
    ['input', 'too large'],
  ],
  ['CancelledError', new errors.CancelledError({ taskId: 'a', reason: 'no need' }), ['"a"', 'no need']],
  ['TimeoutError', new errors.TimeoutError({ taskId: 'a', attempt: 2, timeoutMs: 50 }), ['2', '"a"', '50 ms']],
  [
    'PreemptedError',
    new errors.PreemptedError({ taskId: 'a', attempt: 2, by: 'b', graceMs: 50 }),
    ['2', '"a"', '"b"', '50 ms'],
  ],
  ['ExpiredError', new errors.ExpiredError({ taskId: 'a', expires: 1_767_225_600_000 }), ['2026-01-01T00:00:00.000Z']],
  ['ExpiredError', new errors.ExpiredError({ taskId: 'a', expires: Infinity }), ['Infinity']],
  ['DroppedError', new errors.DroppedError({ taskId: 'a', policy: 'drop-oldest' }), ['"a"', 'drop-oldest']],
  [
    'DependencyFailedError',
    new errors.DependencyFailedError({ taskId: 'a', dependencyId: 'b', state: 'cancelled' }),
    ['"a"', '"b" was cancelled'],
  ],
  ['DeadlockError', new errors.DeadlockError({ taskId: 'a', path: ['a', 'b', 'a'] }), ['"a" → "b" → "a"']],
  ['ClosedError', new errors.ClosedError(), ['closed']],
  ['ClosedError', new errors.ClosedError({ taskId: 'a' }), ['"a"']],
  [
    'IllegalTransitionError',
    new errors.IllegalTransitionError({ taskId: 'a', from: 'ready', to: 'completed' }),
    ['ready'],
  ],
  [
    'ExecutorLostError',
    new errors.ExecutorLostError({ taskId: 'a', attempt: 2, executorId: 'threads', cause: new Error('gone') }),
    ['2', '"a"', '"threads"', 'gone'],
  ],
  [
    'ExecutorLostError',
    new errors.ExecutorLostError({ taskId: 'a', attempt: 2, executorId: 'threads' }),
    ['"threads". It'],
  ],
  [
    'StaleLeaseError',
    new errors.StaleLeaseError({ taskId: 'a', attempt: 1, reason: 'its lease ended' }),
    ['lease ended'],
  ],
  ['DeposedError', new errors.DeposedError({ epoch: 1, currentEpoch: 2 }), ['1', '2']],
  [
    'StoreError',
    new errors.StoreError({ operation: 'append', cause: new Error('disk full') }),
    ['append', 'disk full'],
  ],
  ['StoreError', new errors.StoreError({ operation: 'append' }), ['append.']],
  [
    'StrategyError',
    new errors.StrategyError(
      { by: 'rank', strategy: 'mine', taskId: 'a', taskType: 'mail' },
      { threw: new Error('no size') },
    ),
    ['"mine"', '"a"', 'threw', 'no size', 'goes last'],
  ],
  ['StrategyError', new errors.StrategyError({ by: 'choose', strategy: 'mine' }, { gave: 7 }), ['"mine"', 'gave 7']],
  [
    'StrategyError',
    new errors.StrategyError({ by: 'weight', strategy: 'weighted-random', level: 3 }, { gave: -1 }),
    ['"weighted-random"', 'level 3', 'gave -1', 'by default'],
  ],
  [
    'StrategyError',
    new errors.StrategyError({ by: 'filter', channel: 'c', taskType: 'mail' }, { gave: 'yes' }),
    ['"mail"', '"c"', 'gave "yes"', 'true or false'],
  ],
  [
    'CorruptJournalError',
    new errors.CorruptJournalError({ source: 'j.log', position: 12, reason: 'bad checksum' }),
    ['"j.log"', '12', 'bad checksum'],
  ],
  [
    'UnsupportedVersionError',
    new errors.UnsupportedVersionError({ source: 'snapshot', version: 7, supported: 1 }),
    ['snapshot', '7', '1'],
  ],
];

describe('every kind of error', () => {
  test.each(everyKind)('%s has its name, a code, and a message that names its data', (name, error, parts) => {
    expect(error).toBeInstanceOf(errors.SchedulerError);
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe(name);
    expect(error.code).toBe(
      name
        .replace(/Error$/, '')
        .replace(/[a-z](?=[A-Z])/g, (letter) => `${letter}_`)
        .toUpperCase(),
    );
    expect(error.stack).toMatch(new RegExp(`^${name}: `));
    for (const part of parts) expect(error.message).toContain(part);
    expect(error.message).toMatch(/\.$/);
  });

  test('codes tell the kinds apart', () => {
    const codes = new Map(everyKind.map(([name, error]) => [name, error.code]));
    expect(new Set(codes.values()).size).toBe(codes.size);
    const classes = Object.keys(errors).filter((name) => name !== 'SchedulerError');
    expect([...codes.keys()].sort()).toEqual(classes.sort());
  });

  test('data travels as fields, and a reason as the cause', () => {
    const reason = new Error('shutting down');
    const cancelled = new errors.CancelledError({ taskId: 'a', reason });
    expect(cancelled).toMatchObject({ taskId: 'a', reason, cause: reason });
    expect('cause' in new errors.CancelledError({ taskId: 'a' })).toBe(false);
    const failed = new errors.DependencyFailedError({ taskId: 'a', dependencyId: 'b', state: 'failed', cause: reason });
    expect(failed).toMatchObject({ dependencyId: 'b', state: 'failed', cause: reason });
    expect(failed.message).toContain('"b" failed');
  });

  test('a cycle through a hundred thousand tasks still has a short message and its whole path', () => {
    const path = Array.from({ length: 100_000 }, (_, i) => `t${i}`);
    const error = new errors.CycleError({ path });
    expect(error.path).toHaveLength(100_000);
    expect(error.message.length).toBeLessThan(300);
    expect(error.message).toContain('99988 more');
  });

  test('a message never breaks its line, whatever the id', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (taskId) => {
        const { message } = new errors.DuplicateTaskError({ taskId });
        expect(message).not.toMatch(/[\p{Cc}\p{Cs}]/u);
        expect(message.length).toBeLessThan(900);
      }),
    );
  });
});

describe('show', () => {
  test.each<[unknown, string]>([
    ['a"b\\', '"a\\"b\\\\"'],
    ['line\nbreak\0', '"line\\u000abreak\\u0000"'],
    ['lone \ud800 surrogate', '"lone \\ud800 surrogate"'],
    ['right\u202eleft', '"right\\u202eleft"'],
    ['grüße 👋', '"grüße 👋"'],
    [5, '5'],
    [NaN, 'NaN'],
    [-0, '-0'],
    [-Infinity, '-Infinity'],
    [12n, '12n'],
    [true, 'true'],
    [undefined, 'undefined'],
    [null, 'null'],
    [Symbol('s'), 'a symbol "s"'],
    [Symbol(), 'a symbol ""'],
    [() => 1, 'a function'],
    [parseInt, 'a function "parseInt"'],
    [[1, 2], 'an array of length 2'],
    [{ a: 1 }, 'an object'],
    [Object.create(null), 'an object'],
    [{ constructor: 'odd' }, 'an object'],
    [new Map(), 'a Map'],
    [new Date(NaN), 'an invalid Date'],
    [new Date(0), 'a Date 1970-01-01T00:00:00.000Z'],
    [new Error('e'), 'an error "e"'],
  ])('%# %o', (value, expected) => {
    expect(show(value)).toBe(expected);
  });

  test('a megabyte is cut, and its length is told', () => {
    expect(show('x'.repeat(1_000_000))).toBe(`"${'x'.repeat(80)}…" (1000000 characters)`);
  });

  test('neither a throwing getter nor a revoked proxy gets through', () => {
    const nasty = Object.defineProperty({}, 'constructor', {
      get: () => {
        throw new Error('no');
      },
    });
    expect(show(nasty)).toBe('a value that cannot be read');
    expect(show(revoked())).toBe('a value that cannot be read');
  });

  test('anything at all is shown on one line', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
        (value) => {
          expect(show(value)).toMatch(/^[^\n\r]{1,600}$/);
        },
      ),
    );
  });

  test('a cut never splits a surrogate pair', () => {
    expect(cut('ab👋', 3)).toBe('ab…');
    expect(cut('ab👋', 4)).toBe('ab👋');
  });
});

test('an invariant that fails is a bug of ours, and says so', () => {
  expect(() => {
    invariant(1 + 1 === 2, 'never seen');
  }).not.toThrow();
  expect(() => {
    invariant(Number('1') > 1, 'One is not more than one.');
  }).toThrow(InvariantError);
  expect(new InvariantError('One.')).toMatchObject({ name: 'InvariantError', code: 'INVARIANT' });
});
