import { parsePositiveDuration, type Duration } from './duration.js';
import { parseChoice } from './fields.js';
import type { Metadata } from './json.js';
import { parseMetadata } from './metadata.js';
import { parseName } from './name.js';
import { refuseTask } from './refuse.js';
import type { IfExists, RareSpec, TaskSpec } from './spec.js';

/** What a user may say beside all the rest. */
export interface RareOptions {
  /**
   * Data for its owner, such as a tenant or a request id: seen by the handler, in views, events and log records, and by the
   * function of `cancel`; nothing is decided by it.
   */
  readonly metadata?: Metadata | undefined;
  /** Whether a durable store keeps the task; with `false` it is gone when the process is. */
  readonly durable?: boolean | undefined;
  /**
   * What happens if a task with the `id` is there already: `keep` gives a handle of that one and adds nothing, `replace`
   * puts the new one in its place, cancels the old one if it is unfinished, and lets whoever waits for that wait for the
   * new one. Unless given, the call is refused with `DuplicateTaskError`.
   */
  readonly ifExists?: IfExists | undefined;
  /**
   * Names the work that the call asks for, among tasks of the same definition: while a task with the key is unfinished, a
   * call gives a handle of that one and adds nothing. With `debounce` or `throttle` it is the last call that counts.
   */
  readonly key?: string | undefined;
  /** Starts when no call with the `key` has come for so long; of all calls before the start only the last one runs. */
  readonly debounce?: Duration | undefined;
  /** Starts no sooner than so long after the last start with the `key`; of all calls before the start only the last one runs. */
  readonly throttle?: Duration | undefined;
}

/** What was said so far. */
export type RareDraft = { -readonly [Field in keyof RareSpec]: RareSpec[Field] };

type RareReader = (draft: RareDraft, value: unknown) => void;

const IF_EXISTS = ['keep', 'replace'] as const;

/** How each is read. */
export const RARE_READERS: ReadonlyMap<string, RareReader> = new Map<keyof RareOptions, RareReader>([
  ['metadata', (draft, value) => (draft.metadata = parseMetadata(value))],
  ['durable', (draft, value) => (draft.durable = parseDurable(value))],
  ['ifExists', (draft, value) => (draft.ifExists = parseChoice(value, IF_EXISTS, 'ifExists', refuseTask))],
  ['key', (draft, value) => (draft.key = parseName(value, 'key'))],
  ['debounce', (draft, value) => (draft.debounceMs = parsePositiveDuration(value, 'debounce'))],
  ['throttle', (draft, value) => (draft.throttleMs = parsePositiveDuration(value, 'throttle'))],
]);

/** What was said, on top of what was said before. */
export function rareSpec(base: RareSpec | undefined, said: RareDraft): RareSpec {
  return Object.freeze({ ...base, ...said });
}

/** Refuses what says how to deal with others without saying with whom; a definition may say one half and its calls the other. */
export function checkSharing({ id, rare }: TaskSpec): void {
  if (rare === undefined) return;
  const { ifExists, key, debounceMs, throttleMs } = rare;
  if (ifExists !== undefined && id === undefined) refuseTask('ifExists', ifExists, 'an id beside it');
  if (ifExists !== undefined && key !== undefined) refuseTask('ifExists', ifExists, 'no key beside it');
  if (debounceMs !== undefined && key === undefined) refuseTask('debounce', debounceMs, 'a key beside it');
  if (throttleMs !== undefined && key === undefined) refuseTask('throttle', throttleMs, 'a key beside it');
  if (debounceMs !== undefined && throttleMs !== undefined) {
    refuseTask('throttle', throttleMs, 'either debounce or throttle, not both');
  }
}

/** Refuses a key and what belongs to it where every task is one of its own. */
export function checkUnshared({ rare }: TaskSpec, why: string): void {
  for (const field of ['ifExists', 'key', 'debounceMs', 'throttleMs'] as const) {
    const value = rare?.[field];
    if (value !== undefined) refuseTask(field.replace('Ms', ''), value, `nothing: ${why}`);
  }
}

function parseDurable(value: unknown): boolean {
  return typeof value === 'boolean' ? value : refuseTask('durable', value, 'true or false');
}
