import type { Metadata } from './json.js';
import { parseMetadata } from './metadata.js';
import { refuseTask } from './refuse.js';
import type { RareSpec } from './spec.js';

/** What a user may say beside all the rest. */
export interface RareOptions {
  /**
   * Data for its owner, such as a tenant or a request id: seen by the handler, in views, events and log records, and by the
   * function of `cancel`; nothing is decided by it.
   */
  readonly metadata?: Metadata | undefined;
  /** Whether a durable store keeps the task; with `false` it is gone when the process is. */
  readonly durable?: boolean | undefined;
}

/** What was said so far. */
export type RareDraft = { -readonly [Field in keyof RareSpec]: RareSpec[Field] };

type RareReader = (draft: RareDraft, value: unknown) => void;

/** How each is read. */
export const RARE_READERS: ReadonlyMap<string, RareReader> = new Map<keyof RareOptions, RareReader>([
  ['metadata', (draft, value) => (draft.metadata = parseMetadata(value))],
  ['durable', (draft, value) => (draft.durable = parseDurable(value))],
]);

/** What was said, on top of what was said before. */
export function rareSpec(base: RareSpec | undefined, said: RareDraft): RareSpec {
  return Object.freeze({ ...base, ...said });
}

function parseDurable(value: unknown): boolean {
  return typeof value === 'boolean' ? value : refuseTask('durable', value, 'true or false');
}
