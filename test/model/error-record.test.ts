import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { recordError } from '../../src/model/error-record.js';
import { TimeoutError } from '../../src/model/errors.js';

describe('recordError', () => {
  test('keeps name, message, code and stack of an error', () => {
    const error = new TimeoutError({ taskId: 'a', attempt: 1, timeoutMs: 5 });
    expect(recordError(error)).toEqual({
      name: 'TimeoutError',
      message: error.message,
      code: 'TIMEOUT',
      stack: error.stack,
    });
  });

  test.each<[unknown, string]>([
    [undefined, 'undefined was thrown'],
    [null, 'null was thrown'],
    [42, '42 was thrown'],
    ['only text', 'only text'],
    [Object.freeze({ a: 1 }), 'an object was thrown'],
  ])('records what is no error: %o', (thrown, message) => {
    expect(recordError(thrown)).toEqual({ name: 'NonError', message });
  });

  test('records objects that only look like errors, with numbers as codes', () => {
    expect(recordError(Object.freeze({ message: 'm', code: 5, stack: 7, name: '' }))).toEqual({
      name: 'Error',
      message: 'm',
      code: '5',
    });
  });

  test('survives getters and proxies that throw', () => {
    const hostile = {
      get message(): string {
        throw new Error('no');
      },
    };
    expect(recordError(hostile).message).toBe('an object was thrown');
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(recordError(proxy).message).toBe('a value that cannot be read was thrown');
  });

  test('keeps a few causes as text and stops at a circle', () => {
    const root = new RangeError('root');
    const error = new Error('top', { cause: new TypeError('middle', { cause: root }) });
    expect(recordError(error).causes).toEqual(['TypeError: middle', 'RangeError: root']);
    root.cause = error;
    expect(recordError(error).causes).toEqual(['TypeError: middle', 'RangeError: root']);
    let deep = new Error('0');
    for (let i = 1; i < 10; i++) deep = new Error(String(i), { cause: deep });
    expect(recordError(deep).causes).toEqual(['Error: 8', 'Error: 7', 'Error: 6', 'Error: 5']);
  });

  test('bounds what it keeps', () => {
    const huge = 'x'.repeat(1_000_000);
    const error = Object.assign(new Error(huge, { cause: huge }), { code: huge, name: huge });
    expect(JSON.stringify(recordError(error)).length).toBeLessThan(20_000);
  });

  test('records anything thrown as data that survives a restart', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true }), (thrown) => {
        const record = recordError(thrown);
        expect(JSON.parse(JSON.stringify(record))).toEqual(record);
        expect(Object.isFrozen(record)).toBe(true);
      }),
    );
  });
});
