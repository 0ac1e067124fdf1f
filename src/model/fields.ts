import type { Refuse } from './refuse.js';
import { show } from './show.js';

/**
 * The own fields of a plain object, each read once; `undefined` counts as absent.
 *
 * Anything but a plain object is refused: the entries of a `Map` or the inherited options of a class instance would
 * otherwise be ignored without a word.
 */
export function fieldsOf(value: unknown, field: string, refuse: Refuse): [key: string, value: unknown][] {
  const object = plainObject(value, field, refuse);
  const fields: [string, unknown][] = [];
  for (const key of Object.keys(object)) {
    const entry = object[key];
    if (entry !== undefined) fields.push([key, entry]);
  }
  return fields;
}

/** The value, if it is a plain object: for those who read many and have no use for a list of the fields. */
export function plainObject(value: unknown, field: string, refuse: Refuse): Readonly<Record<string, unknown>> {
  return isPlainObject(value) ? value : refuse(field, value, 'a plain object');
}

/** The path of a nested field, readable for usual names and safe for all others; of one that is in nothing, its name. */
export function pathTo(field: string, key: string): string {
  if (!/^[\w-]{1,40}$/.test(key)) return `${field}[${show(key)}]`;
  return field === '' ? key : `${field}.${key}`;
}

/** One of a few fixed texts. */
export function parseChoice<Choice extends string>(
  value: unknown,
  choices: readonly Choice[],
  field: string,
  refuse: Refuse,
): Choice {
  const chosen = choices.find((choice) => choice === value);
  return chosen ?? refuse(field, value, `one of ${choices.map(show).join(', ')}`);
}

/** Refuses a name within a field that is none of the known ones, with the nearest of them where it looks like a typing mistake. */
export function refuseUnknown(
  field: string,
  key: string,
  value: unknown,
  known: Iterable<string>,
  refuse: Refuse,
): never {
  const names = [...known];
  const path = pathTo(field, key);
  const guess = nearest(key, names);
  return refuse(
    path,
    value,
    guess === undefined
      ? `no such option; known are ${names.join(', ')}`
      : `no such option; perhaps ${show(guess)} is meant`,
  );
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // An object of another realm has that realm's root prototype, so identity with Object.prototype would be too strict.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nearest(name: string, known: readonly string[]): string | undefined {
  // A long unknown name is no typing mistake, and comparing it would cost time in its length.
  if (name.length > 40) return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance && distance < candidate.length) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
