import { describe, expect, test } from 'vitest';
import { parseTaskOptions, type TaskOptions } from '../../src/model/task-options.js';

const parse = (options: unknown, base?: TaskOptions) =>
  parseTaskOptions(options as TaskOptions, '', undefined, base === undefined ? undefined : parseTaskOptions(base, ''));

describe('metadata', () => {
  test('is a frozen copy of what was given', () => {
    const given = { tenant: 'acme', tags: ['a', { deep: [1, null, true] }], left: undefined };
    const { rare } = parse({ metadata: given });
    expect(rare).toStrictEqual({ metadata: { tenant: 'acme', tags: ['a', { deep: [1, null, true] }] } });
    given.tags.push('later');
    expect(rare?.metadata?.['tags']).toHaveLength(2);
    expect(Object.isFrozen(rare?.metadata)).toBe(true);
    expect(Object.isFrozen(rare?.metadata?.['tags'])).toBe(true);
  });

  test('row 28 a field named __proto__ is a field, and pollutes nothing', () => {
    const { rare } = parse({ metadata: JSON.parse('{ "__proto__": { "polluted": true } }') as unknown });
    expect(Object.keys(rare?.metadata ?? {})).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(rare?.metadata)).toBe(Object.prototype);
    expect('polluted' in {}).toBe(false);
  });

  test('a call says it anew, what it does not say is as in the definition', () => {
    const base: TaskOptions = { metadata: { tenant: 'acme', plan: 'gold' }, durable: false };
    expect(parse({ metadata: { tenant: 'other' } }, base).rare).toEqual({
      metadata: { tenant: 'other' },
      durable: false,
    });
    expect(parse({ durable: true }, base).rare).toEqual({ ...base, durable: true });
    expect(parse({ channel: 'c' }, base).rare).toEqual(base);
  });

  test('tasks without it share the spec of their type as before', () => {
    expect(parse({ metadata: undefined, durable: undefined })).toBe(parse(undefined));
    expect(parse(undefined).rare).toBeUndefined();
  });

  const within: Record<string, unknown> = {};
  within['itself'] = within;
  test.each<[field: string, value: unknown, metadata: unknown]>([
    ['metadata', 'text', 'text'],
    ['metadata', null, null],
    ['metadata', [1], [1]],
    ['metadata', new Map([['a', 1]]), new Map([['a', 1]])],
    ['metadata.count', Infinity, { count: Infinity }],
    ['metadata.count', 1n, { count: 1n }],
    ['metadata.list[1]', undefined, { list: [1, undefined] }],
    ['metadata.at["a b"]', Symbol.iterator, { at: { 'a b': Symbol.iterator } }],
    ['metadata.when', new Date(0), { when: new Date(0) }],
    [`metadata${'.itself'.repeat(16)}`, within, within],
  ])('%s that is no data is refused with field and value', (field, value, metadata) => {
    expect(() => parse({ metadata })).toThrow(expect.objectContaining({ name: 'InvalidTaskError', field, value }));
  });
});

test.each(['yes', 0, null])('durable: %j is refused', (durable) => {
  expect(() => parse({ durable })).toThrow(
    expect.objectContaining({ name: 'InvalidTaskError', field: 'durable', value: durable }),
  );
});
