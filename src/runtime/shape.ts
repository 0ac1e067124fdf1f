/** Whether a value that came out of a store is what can stand in its place. */
export type Check = (value: unknown) => boolean;

/** The fields that something must have, and what can stand in each; others may be there beside them. */
export type Fields = Readonly<Record<string, Check>>;

export const anything: Check = () => true;
export const text: Check = (value) => typeof value === 'string';
export const truth: Check = (value) => typeof value === 'boolean';
/** JSON itself knows numbers that are infinite, such as `1e999`. */
export const number: Check = (value) => typeof value === 'number' && Number.isFinite(value);
/** A moment or a stretch of time: what is added up of such is a number still. */
export const time: Check = (value) => number(value) && Math.abs(value as number) <= Number.MAX_SAFE_INTEGER;
export const count: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
/** A number of a task or of an attempt. */
export const ordinal: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 1;
export const notNegative: Check = (value) => number(value) && (value as number) >= 0;
export const positive: Check = (value) => number(value) && (value as number) > 0;

/** Or nothing there. */
export const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

/** Or `null`, which stands for what has no end. */
export const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);

/** Or neither. */
export const optional = (check: Check): Check => maybe(orNull(check));

export const either =
  (...checks: readonly Check[]): Check =>
  (value) =>
    checks.some((check) => check(value));

export function oneOf(...choices: readonly unknown[]): Check {
  const known = new Set(choices);
  return (value) => known.has(value);
}

export const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every((each) => check(each));

/** A list of just these, in this order. */
export const entryOf =
  (...checks: readonly Check[]): Check =>
  (value) =>
    Array.isArray(value) && value.length === checks.length && checks.every((check, at) => check(value[at]));

/** An object with these fields. */
export function shapeOf(fields: Fields): Check {
  const entries = Object.entries(fields);
  return (value) => isObject(value) && entries.every(([name, check]) => check(value[name]));
}

/** The first field in which a value is not what can stand there; `undefined` where all is well. */
export function misfitIn(value: unknown, fields: Fields): string | undefined {
  if (!isObject(value)) return 'itself';
  // Every fact of a journal comes by here, so no list is made of the fields.
  for (const name in fields) if (fields[name]?.(value[name]) === false) return name;
  return undefined;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
