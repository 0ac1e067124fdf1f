import { type Refuse, refuseTask } from './refuse.js';

/** The longest id or name, in UTF-16 units. */
const MAX_NAME_LENGTH = 512;

const UNSAFE = /[\p{Cc}\p{Cs}]/u;
const GENERATED_ID = /^task-\d+$/;

/**
 * A name a user may give to a channel, a resource, a task type or a capability.
 *
 * Any well-formed text without control characters will do, `__proto__` included: names are only ever keys of a `Map`.
 */
export function parseName(value: unknown, field: string, refuse: Refuse = refuseTask): string {
  if (typeof value !== 'string' || value === '') return refuse(field, value, 'a non-empty string');
  if (value.length > MAX_NAME_LENGTH) return refuse(field, value, `at most ${MAX_NAME_LENGTH} characters`);
  if (UNSAFE.test(value)) return refuse(field, value, 'no control characters and no lone surrogates');
  return value;
}

/** A user's own task id: a name that cannot be mistaken for one the scheduler generates. */
export function parseTaskId(value: unknown, field = 'id', refuse: Refuse = refuseTask): string {
  const id = parseName(value, field, refuse);
  return GENERATED_ID.test(id) ? refuse(field, id, 'another form: "task-<number>" is kept for generated ids') : id;
}

/** Code-unit order: the same on every machine, whatever its locale. */
export function compareNames(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
