import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_DURATION_MS } from '../../src/model/duration.js';
import { DEFAULT_CHANNEL, parseTaskOptions, type TaskOptions } from '../../src/model/task-options.js';

const parse = (options: unknown, type = '') => parseTaskOptions(options as TaskOptions, type);
const refused = (field: string, value: unknown): unknown =>
  expect.objectContaining({ name: 'InvalidTaskError', field, value });

describe('specs that are shared', () => {
  test('tasks without options share the spec of their type', () => {
    const spec = parse(undefined, 'resize');
    expect(parse(undefined, 'resize')).toBe(spec);
    expect(parse({}, 'resize')).toBe(spec);
    expect(parse({ priority: 'normal', channel: undefined }, 'resize')).toBe(spec);
    expect(parse(undefined, 'other')).not.toBe(spec);
    expect(spec).toEqual({
      id: undefined,
      type: 'resize',
      channel: DEFAULT_CHANNEL,
      level: 2,
      deadline: Infinity,
      expires: Infinity,
      eta: -Infinity,
      delayMs: 0,
      needs: [],
      yieldable: [],
      capabilities: [],
      retry: undefined,
      timeoutMs: Infinity,
      leaseMs: undefined,
      estimateMs: undefined,
      preemptible: false,
      onDependencyFailure: 'fail',
      rare: undefined,
    });
  });

  test('tasks that differ in priority only share a spec per level', () => {
    expect(parse({ priority: 'high' })).toBe(parse({ priority: 1 }));
    expect(parse({ priority: 'high' })).toMatchObject({ level: 1 });
  });

  test('endless types and levels are still right when they are no longer shared', () => {
    for (let i = 0; i < 2_000; i++) {
      expect(parse(undefined, `type ${i}`).type).toBe(`type ${i}`);
      expect(parse({ priority: i / 7 }).level).toBe(i / 7);
    }
    expect(parse({ priority: 'normal' })).toBe(parse(undefined));
  });

  test('an id makes a spec of its own and leaves the shared one alone', () => {
    expect(parse({ id: 'a', priority: 7 })).toMatchObject({ id: 'a', level: 7 });
    expect(parse(undefined)).toMatchObject({ id: undefined, level: 2 });
  });
});

test('a full set of options becomes a frozen spec', () => {
  const retryIf = (): boolean => true;
  const spec = parse(
    {
      id: 'b',
      priority: 'critical',
      deadline: 1_767_225_600_000,
      expires: new Date(1_767_225_700_000),
      channel: 'gold',
      needs: { memoryMb: 512, gpu: 1, none: 0, Zeta: 0.5 },
      yieldable: ['memoryMb', 'gpu'],
      capabilities: { os: 'linux', avx: true, cores: 8 },
      eta: '2026-01-01T00:00:00Z',
      delay: '5s',
      retry: { attempts: 3, backoff: 'exponential', base: '1s', max: '1m', factor: 3, jitter: true, retryIf },
      timeout: '30s',
      lease: '1m',
      estimate: 0,
      preemptible: true,
      onDependencyFailure: 'skip',
    },
    'resize',
  );
  expect(spec).toEqual({
    id: 'b',
    type: 'resize',
    channel: 'gold',
    level: 0,
    deadline: 1_767_225_600_000,
    expires: 1_767_225_700_000,
    eta: 1_767_225_600_000,
    delayMs: 5_000,
    needs: [
      { resource: 'Zeta', amount: 0.5 },
      { resource: 'gpu', amount: 1 },
      { resource: 'memoryMb', amount: 512 },
    ],
    yieldable: ['gpu', 'memoryMb'],
    capabilities: [
      ['avx', true],
      ['cores', 8],
      ['os', 'linux'],
    ],
    retry: {
      attempts: 3,
      backoff: { kind: 'exponential', baseMs: 1_000, factor: 3 },
      maxDelayMs: 60_000,
      jitter: true,
      retryIf,
    },
    timeoutMs: 30_000,
    leaseMs: 60_000,
    estimateMs: 0,
    preemptible: true,
    onDependencyFailure: 'skip',
  });
  for (const part of [spec, spec.needs, spec.needs[0], spec.capabilities, spec.capabilities[0], spec.retry]) {
    expect(Object.isFrozen(part)).toBe(true);
  }
});

describe('ids and names', () => {
  test.each(['__proto__', 'constructor', 'toString', '../x', 'task-', 'task-1a', 'Task-1', ' ', '👋', 'x'.repeat(512)])(
    'takes %o as an id and as a channel',
    (name) => {
      expect(parse({ id: name, channel: name })).toMatchObject({ id: name, channel: name });
    },
  );

  test.each(['', 'x'.repeat(513), 'a\0b', 'a\nb', '\u0085', '\ud800', 'a\udc00', 5, null, {}, Symbol('a')])(
    'refuses %o as an id, a channel and a type',
    (name) => {
      expect(() => parse({ id: name })).toThrow(refused('id', name));
      expect(() => parse({ channel: name })).toThrow(refused('channel', name));
      if (name !== '') expect(() => parse(undefined, name as string)).toThrow(refused('type', name));
    },
  );

  test('the form of generated ids is reserved for ids alone', () => {
    expect(() => parse({ id: 'task-17' })).toThrow(/id is "task-17".*generated/);
    expect(parse({ channel: 'task-17' }).channel).toBe('task-17');
  });
});

test.each(['yes', 1, 0, null])('refuses %o as preemptible', (value) => {
  expect(() => parse({ preemptible: value })).toThrow(refused('preemptible', value));
});

describe('what is read', () => {
  test('a misspelt option is refused with the nearest known name', () => {
    expect(() => parse({ prioritiy: 1 })).toThrow(/options.prioritiy is 1; .* perhaps "priority" is meant\.$/);
    expect(() => parse({ Timeout: 1 })).toThrow(/perhaps "timeout" is meant\.$/);
    expect(() => parse({ onDependencyFail: 'skip' })).toThrow(/perhaps "onDependencyFailure" is meant\.$/);
    expect(() => parse({ frobnicate: 1 })).toThrow(/known are priority, id, deadline/);
    expect(() => parse({ ['x'.repeat(1_000)]: 1 })).toThrow(/options\["x+…" \(1000 characters\)\] is 1/);
  });

  test('options that the caller reads itself are left to it, and suggested', () => {
    const beside = new Set(['after', 'signal']);
    const options = { after: ['a'], priority: 3 } as TaskOptions;
    expect(parseTaskOptions(options, '', beside)).toMatchObject({ level: 3 });
    expect(() => parseTaskOptions({ sinal: 1 } as TaskOptions, '', beside)).toThrow(/perhaps "signal" is meant\.$/);
  });

  test.each([null, 5, 'high', [], new Map([['priority', 1]]), () => 1, new Date(0), Object.create({ priority: 1 })])(
    'refuses %o as options',
    (options: unknown) => {
      expect(() => parse(options)).toThrow(refused('options', options));
    },
  );

  test('a prototype adds nothing, and an own "__proto__" is a name like any other', () => {
    expect(() => parse(JSON.parse('{"__proto__": {"priority": 1}}'))).toThrow(/options.__proto__/);
    const needs = JSON.parse('{"__proto__": 2, "constructor": 1}') as Record<string, number>;
    expect(parse({ needs }).needs).toEqual([
      { resource: '__proto__', amount: 2 },
      { resource: 'constructor', amount: 1 },
    ]);
    expect(({} as Record<string, unknown>)['priority']).toBeUndefined();
    const bare = Object.assign(Object.create(null) as object, { priority: 1 });
    expect(parse(bare)).toMatchObject({ level: 1 });
  });

  test('each option is read once', () => {
    let reads = 0;
    const options = {
      get id() {
        return `read ${++reads}`;
      },
    };
    expect(parse(options).id).toBe('read 1');
    expect(reads).toBe(1);
  });
});

describe('needs and capabilities', () => {
  test.each([-1, NaN, Infinity, '1', null, 1n])('refuses a need of %o', (amount) => {
    expect(() => parse({ needs: { gpu: amount } })).toThrow(refused('needs.gpu', amount));
  });

  test.each([NaN, Infinity, null, {}, ['linux'], 1n])('refuses a capability of %o', (value) => {
    expect(() => parse({ capabilities: { os: value } })).toThrow(refused('capabilities.os', value));
  });

  test('names in them follow the rules for names', () => {
    expect(() => parse({ needs: { '': 1 } })).toThrow(/needs\[""\]/);
    expect(() => parse({ capabilities: { 'a\0': 1 } })).toThrow(/capabilities\["a\\u0000"\]/);
    expect(() => parse({ needs: new Map([['gpu', 1]]) })).toThrow(/needs is a Map; expected a plain object/);
  });

  test('needs are sorted by code unit, each once, in whatever order they were given', () => {
    const amounts = fc.dictionary(fc.string({ minLength: 1, maxLength: 5 }), fc.integer({ min: 0, max: 9 }));
    fc.assert(
      fc.property(amounts, (given) => {
        const names = Object.keys(given).filter((name) => (given[name] ?? 0) > 0);
        fc.pre(!names.some((name) => /[\p{Cc}\p{Cs}]/u.test(name)));
        const needs = Object.fromEntries(names.map((name) => [name, given[name]]));
        expect(parse({ needs }).needs.map((need) => need.resource)).toEqual([...names].sort());
      }),
    );
  });
});

describe('retry', () => {
  const retryOf = (retry: unknown) => parse({ retry }).retry;

  test('a number is the count of all executions, with no wait', () => {
    const policy = { attempts: 3, backoff: { kind: 'fixed', baseMs: 0 }, jitter: false, retryIf: undefined };
    expect(retryOf(3)).toEqual({ ...policy, maxDelayMs: MAX_DURATION_MS });
    expect(retryOf({ attempts: 3 })).toEqual({ ...policy, maxDelayMs: MAX_DURATION_MS });
  });

  test('what is left out of a backoff has a default', () => {
    expect(retryOf({ attempts: 2, backoff: 'fixed' })?.backoff).toEqual({ kind: 'fixed', baseMs: 1_000 });
    const exponential = retryOf({ attempts: 2, base: '2s' });
    expect(exponential?.backoff).toEqual({ kind: 'exponential', baseMs: 2_000, factor: 2 });
    expect(exponential?.maxDelayMs).toBe(3_600_000);
    expect(retryOf({ attempts: 2, base: '2h' })?.maxDelayMs).toBe(7_200_000);
    expect(retryOf({ attempts: 2, backoff: 'fixed', base: '2h' })?.maxDelayMs).toBe(MAX_DURATION_MS);
    const delayMs = (): number => 5;
    expect(retryOf({ attempts: 2, backoff: delayMs })?.backoff).toEqual({ kind: 'custom', delayMs });
  });

  test.each<[unknown, string]>([
    [0, 'retry'],
    [1.5, 'retry'],
    [NaN, 'retry'],
    [Infinity, 'retry'],
    ['3', 'retry'],
    [null, 'retry'],
    [{}, 'retry.attempts'],
    [{ attempts: -1 }, 'retry.attempts'],
    [{ attempts: 2, atempts: 3 }, 'retry.atempts'],
    [{ attempts: 2, backoff: 'linear' }, 'retry.backoff'],
    [{ attempts: 2, base: '1 s' }, 'retry.base'],
    [{ attempts: 2, max: -1 }, 'retry.max'],
    [{ attempts: 2, factor: 0.5 }, 'retry.factor'],
    [{ attempts: 2, factor: Infinity }, 'retry.factor'],
    [{ attempts: 2, backoff: 'fixed', factor: 2 }, 'retry.factor'],
    [{ attempts: 2, backoff: () => 1, factor: 2 }, 'retry.factor'],
    [{ attempts: 2, backoff: () => 1, base: 2 }, 'retry.base'],
    [{ attempts: 2, jitter: 1 }, 'retry.jitter'],
    [{ attempts: 2, retryIf: true }, 'retry.retryIf'],
  ])('refuses %o', (retry, field) => {
    expect(() => retryOf(retry)).toThrow(expect.objectContaining({ name: 'InvalidTaskError', field }));
  });
});

test.each<[string, unknown]>([
  ['priority', '5'],
  ['deadline', 5],
  ['expires', 'soon'],
  ['eta', new Date(NaN)],
  ['delay', -1],
  ['timeout', 0],
  ['lease', 0],
  ['estimate', NaN],
  ['onDependencyFailure', 'ignore'],
])('refuses %s: %o by field and value', (field, value) => {
  expect(() => parse({ [field]: value })).toThrow(refused(field, value));
});
