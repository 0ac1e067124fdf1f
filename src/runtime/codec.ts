import { show } from '../model/show.js';

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

/** An object with this key is not itself, but stands for what JSON has no word for. */
const TAG = '$';

/**
 * JSON, and beside it dates, maps, sets, big integers, `undefined` in lists, and the numbers that JSON lacks. A field that is
 * `undefined` counts as absent. All else that would not come back as it was is refused with its path.
 */
export const JSON_CODEC: Codec = {
  encode: (value) => encode(value, '', []),
  decode,
};

function encode(value: unknown, path: string, within: readonly object[]): unknown {
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
      if (value === null) return null;
      if (within.includes(value)) refuse(path, 'contains itself');
      if (within.length >= MAX_DEPTH) refuse(path, `is nested more than ${MAX_DEPTH} levels deep`);
      return encodeObject(value, path, [...within, value]);
    default:
      return refuse(path, `is ${show(value)}, which is gone when the process ends`);
  }
}

/** `-0` loses its sign as a text. */
function nameOf(value: number): string {
  return value === 0 ? '-0' : String(value);
}

function encodeObject(value: object, path: string, within: readonly object[]): unknown {
  if (Array.isArray(value)) {
    return Array.from(value, (each: unknown, at) => encode(each, `${path}[${at}]`, within));
  }
  if (value instanceof Date) return { [TAG]: 'date', is: value.getTime() };
  if (value instanceof Map) {
    const entries = [...value].map(([key, each], at) => [
      encode(key, `${path}.keys[${at}]`, within),
      encode(each, `${path}.values[${at}]`, within),
    ]);
    return { [TAG]: 'map', is: entries };
  }
  if (value instanceof Set) {
    return { [TAG]: 'set', is: Array.from(value, (each: unknown, at) => encode(each, `${path}[${at}]`, within)) };
  }
  return encodePlain(value, path, within);
}

function encodePlain(value: object, path: string, within: readonly object[]): unknown {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    refuse(path, `is ${show(value)}, an object of a class, and would come back without it`);
  }
  if (Object.getOwnPropertySymbols(value).length > 0) refuse(path, 'has a symbol as a key');
  const encoded: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const each = (value as Record<string, unknown>)[key];
    if (each !== undefined) putOwn(encoded, key, encode(each, path === '' ? key : `${path}.${key}`, within));
  }
  return Object.hasOwn(value, TAG) ? { [TAG]: 'object', is: encoded } : encoded;
}

/** An own field, whatever its name: `__proto__` is one like any other. */
function putOwn(fields: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') fields[key] = value;
  else Object.defineProperty(fields, key, { value, enumerable: true });
}

/** Says what is wrong where; who has asked says of what. */
function refuse(path: string, what: string): never {
  throw new TypeError(`${path === '' ? 'it' : path} ${what}`);
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
