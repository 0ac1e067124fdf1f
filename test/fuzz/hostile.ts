import fc from 'fast-check';
import { Scheduler } from '../../src/index.js';

/*
 * A case is plain data that names what to do: it prints in a line, whatever it stands for, and replays from its seed.
 */

/** How many cases: `FUZZ_RUNS=100000` looks for longer, `FC_SEED=random` elsewhere. */
export function runsOf(usual: number): number {
  return Number(process.env['FUZZ_RUNS'] ?? usual);
}

/** So long may it take: a case is a matter of milliseconds, and one that never ends is found. */
export function timeFor(runs: number): number {
  return 60_000 + runs * 100;
}

function throwing(): object {
  return {
    get priority(): never {
      throw new RangeError('thrown by a getter');
    },
  };
}

function circular(): object {
  const itself: Record<string, unknown> = { id: 'circular' };
  itself['metadata'] = itself['needs'] = itself;
  return itself;
}

/** Whatever a program without types may hand in by mistake. */
export const HOSTILE: Readonly<Record<string, () => unknown>> = {
  null: () => null,
  true: () => true,
  false: () => false,
  zero: () => 0,
  'minus zero': () => -0,
  'minus one': () => -1,
  fraction: () => 1.5,
  NaN: () => NaN,
  infinity: () => Infinity,
  'minus infinity': () => -Infinity,
  '2^31': () => 2 ** 31,
  '2^53': () => 2 ** 53,
  'largest number': () => Number.MAX_VALUE,
  'smallest number': () => Number.MIN_VALUE,
  'epoch seconds': () => 1_700_000_000,
  'text of a number': () => '5',
  'empty text': () => '',
  blank: () => ' ',
  'a known id': () => 'running',
  __proto__name: () => '__proto__',
  constructor: () => 'constructor',
  path: () => '../x',
  NUL: () => 'a\0b',
  escape: () => '\u001b[31m',
  'half a character': () => '\ud800',
  'right to left': () => '\u202egnp',
  'a megabyte': () => 'x'.repeat(1_000_000),
  'long duration': () => `${'9'.repeat(400)}h`,
  'date of nowhere': () => new Date(NaN),
  'last date': () => new Date(8.64e15),
  bigint: () => 1n,
  symbol: () => Symbol('hostile'),
  function: () => () => undefined,
  class: () => Map,
  list: () => [],
  'list of a list': () => [[]],
  'list with a hole': () => Object.assign(new Array<unknown>(3), { 2: 'last' }),
  'list of __proto__': () => ['__proto__', 'constructor'],
  object: () => ({}),
  'object without a prototype': () => Object.assign(Object.create(null) as object, { id: 'bare' }),
  'own __proto__': () =>
    JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}') as unknown,
  map: () => new Map([['id', 'x']]),
  set: () => new Set(['x']),
  'typed array': () => new Float64Array(3),
  promise: () => Promise.resolve(1),
  error: () => new Error('hostile'),
  circular,
  'deep object': () => nested(5_000),
  'handle of another': () => new Scheduler({ concurrency: 0 }).add(() => 1),
  'aborted signal': () => AbortSignal.abort(new Error('hostile')),
  'throwing getter': throwing,
  'throwing proxy': () => new Proxy({}, { ownKeys: fail, get: fail, getPrototypeOf: fail, has: fail }),
  'revoked proxy': () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
};

function fail(): never {
  throw new RangeError('thrown by a proxy');
}

/** An object in an object in an object. */
export function nested(depth: number): unknown {
  let value: unknown = {};
  for (let level = 0; level < depth; level += 1) value = { needs: value };
  return value;
}

/** What throws when it is looked at or called: that error is the caller's own, and goes back to them. */
const THROWS = new Set(['class', 'throwing getter', 'throwing proxy', 'revoked proxy']);

/** Names that an options object has no business with. */
const ODD_KEYS = ['__proto__', 'constructor', '', 'a\0b', 'prioritty', 'x'.repeat(2_000), '0', 'toString', '*'];

/** One change of a value: where (counted through all its parts), and what is put, added or taken away there. */
export interface Change {
  readonly at: number;
  readonly how: 'replace' | 'add' | 'remove';
  readonly key: number;
  readonly what: string;
}

/** Changes that put one of these in. */
export function changesWith(names: readonly string[]): fc.Arbitrary<Change> {
  return fc.record({
    at: fc.nat(60),
    how: fc.constantFrom('replace', 'replace', 'replace', 'add', 'remove'),
    key: fc.nat(ODD_KEYS.length - 1),
    what: fc.constantFrom(...names),
  });
}

/** Whether what a change puts in throws by itself. */
export function throwsItself({ how, what }: Change): boolean {
  return how !== 'remove' && THROWS.has(what);
}

/** A copy of a value of plain objects and lists, changed in one place. */
export function changed(template: unknown, change: Change, values: Readonly<Record<string, () => unknown>>): unknown {
  const root: Holder = { value: copyOf(template) };
  const places = placesIn(root, change.how === 'add');
  const place = places[change.at % places.length];
  // Nothing is left that could take another field.
  if (place === undefined) return template;
  const [holder, key] = place;
  const value = values[change.what]?.();
  if (typeof value === 'object' && value !== null) putIn.add(value);
  if (change.how === 'replace') put(holder, key, value);
  else if (change.how === 'add') put(holder[key] as Holder, ODD_KEYS[change.key] as string, value);
  else if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else Reflect.deleteProperty(holder, key);
  return root['value'];
}

type Holder = Record<string, unknown>;

function put(holder: Holder, key: string, value: unknown): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}

/** What changes have put in: it is not looked into, as it may have no end. */
const putIn = new WeakSet();

function isPlain(value: unknown): value is Holder {
  if (typeof value !== 'object' || value === null || putIn.has(value)) return false;
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}

function copyOf(value: unknown): unknown {
  if (!isPlain(value)) return value;
  if (Array.isArray(value)) return value.map(copyOf);
  const copy: Holder = {};
  for (const [key, each] of Object.entries(value)) put(copy, key, copyOf(each));
  return copy;
}

/** All that is held by something, from the root on; or only what can take another field. */
function placesIn(root: Holder, takesFields: boolean): (readonly [Holder, string])[] {
  const places: (readonly [Holder, string])[] = [];
  const unseen: Holder[] = [root];
  for (let holder = unseen.shift(); holder !== undefined; holder = unseen.shift()) {
    for (const [key, value] of Object.entries(holder)) {
      if (!takesFields || (isPlain(value) && !Array.isArray(value))) places.push([holder, key]);
      if (isPlain(value)) unseen.push(value);
    }
  }
  return places;
}
