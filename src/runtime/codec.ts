import { pathTo } from '../model/index.js';
import { cut, show } from '../model/show.js';

/**
 * How inputs, results and checkpoints are written into a store, and read again. What `encode` gives must be what JSON can
 * say; what it throws refuses the value.
 *
 * @example
 * ```ts
 * const codec: Codec = {
 *   encode: (value) => serialize(value).toString('base64'), // from node:v8
 *   decode: (data) => deserialize(Buffer.from(data as string, 'base64')),
 * };
 * ```
 */
export interface Codec {
  /** What JSON can say, for a value. */
  encode(value: unknown): unknown;
  /** The value again. */
  decode(data: unknown): unknown;
}

/** Deeper than any data that is meant to be; JSON itself gives up at a few thousand. */
const MAX_DEPTH = 256;

/** A path is told up to so many characters. */
const SHOWN_PATH = 200;

/** An object with this key is not itself, but stands for what JSON has no word for. */
const TAG = '$';

/**
 * JSON, and beside it dates, maps, sets, big integers, `undefined` in lists, and the numbers that JSON lacks. A field that is
 * `undefined` counts as absent. All else that would not come back as it was is refused with its path.
 */
export const JSON_CODEC: Codec = {
  encode: (value) => encodeWithin(value, Infinity),
  decode,
};

/**
 * As {@link JSON_CODEC} does it, of a value with so many parts at the most. Few objects may stand for many, where each is in
 * several places: counting finds out before they fill the memory.
 */
export function encodeWithin(value: unknown, mostParts: number): unknown {
  return new Encoding(mostParts).of(value);
}

/** What cannot be kept, in words that can be printed. */
export class NotKeptError extends TypeError {}

/** One value on its way, and where in it we are. */
class Encoding {
  private readonly path: (string | number)[] = [];
  private readonly within: object[] = [];
  private left: number;

  constructor(private readonly mostParts: number) {
    this.left = mostParts;
  }

  of(value: unknown): unknown {
    this.left -= 1;
    if (this.left < 0) return this.refuse(`brings it beyond ${this.mostParts} parts`);
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value;
      case 'number':
        return Number.isFinite(value) && !Object.is(value, -0) ? value : { [TAG]: 'number', is: nameOf(value) };
      case 'undefined':
        return { [TAG]: 'undefined' };
      case 'bigint':
        return { [TAG]: 'bigint', is: String(value) };
      case 'object':
        return value === null ? null : this.ofObject(value);
      default:
        return this.refuse(`is ${show(value)}, which is gone when the process ends`);
    }
  }

  private ofObject(value: object): unknown {
    const { within } = this;
    if (within.includes(value)) this.refuse('contains itself');
    if (within.length >= MAX_DEPTH) this.refuse(`is nested more than ${MAX_DEPTH} levels deep`);
    within.push(value);
    const encoded = this.ofKind(value);
    within.pop();
    return encoded;
  }

  private ofKind(value: object): unknown {
    if (Array.isArray(value)) return this.ofList(value);
    if (value instanceof Date) return { [TAG]: 'date', is: value.getTime() };
    if (value instanceof Map) {
      const entries = [...value].map(([key, each], at) => [this.at(key, 'keys', at), this.at(each, 'values', at)]);
      return { [TAG]: 'map', is: entries };
    }
    return value instanceof Set ? { [TAG]: 'set', is: this.ofList([...value]) } : this.ofPlain(value);
  }

  private ofList(list: readonly unknown[]): unknown {
    // One with holes may be longer than there is room for, and take none itself.
    if (list.length > this.left) this.refuse(`has a length of ${list.length}, beyond ${this.mostParts} parts`);
    return Array.from(list, (each, at) => this.at(each, at));
  }

  private ofPlain(value: object): unknown {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) {
      this.refuse(`is ${show(value)}, an object of a class, and would come back without it`);
    }
    if (Object.getOwnPropertySymbols(value).length > 0) this.refuse('has a symbol as a key');
    const encoded: Record<string, unknown> = {};
    for (const key of Object.keys(value)) {
      const each = (value as Record<string, unknown>)[key];
      if (each !== undefined) putOwn(encoded, key, this.at(each, key));
    }
    return Object.hasOwn(value, TAG) ? { [TAG]: 'object', is: encoded } : encoded;
  }

  /** What is found one step, or some, further on. */
  private at(value: unknown, ...steps: readonly (string | number)[]): unknown {
    const { path } = this;
    const { length } = path;
    path.push(...steps);
    const encoded = this.of(value);
    path.length = length;
    return encoded;
  }

  /** Says what is wrong where; who has asked says of what. */
  private refuse(what: string): never {
    let path = '';
    for (const step of this.path) path = typeof step === 'number' ? `${path}[${step}]` : pathTo(path, step);
    throw new NotKeptError(`${path === '' ? 'it' : cut(path, SHOWN_PATH)} ${what}`);
  }
}

/** `-0` loses its sign as a text. */
function nameOf(value: number): string {
  return value === 0 ? '-0' : String(value);
}

/** An own field, whatever its name: `__proto__` is one like any other. */
function putOwn(fields: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') fields[key] = value;
  else Object.defineProperty(fields, key, { value, enumerable: true });
}

function decode(data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return data;
  if (Array.isArray(data)) return data.map(decode);
  return Object.hasOwn(data, TAG) ? decodeTagged(data as Tagged) : decodeFields(data);
}

interface Tagged {
  readonly [TAG]: unknown;
  readonly is?: unknown;
}

function decodeTagged({ [TAG]: tag, is }: Tagged): unknown {
  switch (tag) {
    case 'number':
    case 'bigint':
      return tag === 'number' ? Number(is) : BigInt(is as string);
    case 'undefined':
      return undefined;
    case 'date':
      return new Date((is as number | null) ?? NaN);
    case 'map':
      return new Map((is as [unknown, unknown][]).map(([key, each]) => [decode(key), decode(each)]));
    case 'set':
      return new Set((is as unknown[]).map(decode));
    case 'object':
      return decodeFields(is as object);
    default:
      throw new TypeError(`${show(tag)} is no kind of value that this version knows`);
  }
}

function decodeFields(data: object): object {
  return Object.fromEntries(Object.entries(data).map(([key, each]: [string, unknown]) => [key, decode(each)]));
}
