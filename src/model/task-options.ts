import { type Duration, parseDuration, parsePositiveDuration } from './duration.js';
import { fieldsOf, parseChoice, pathTo, plainObject, refuseUnknown } from './fields.js';
import { type Instant, parseInstant } from './instant.js';
import { DEFAULT_LEVEL, parseLevel, type Priority } from './level.js';
import { compareNames, parseName, parseTaskId } from './name.js';
import { refuseTask } from './refuse.js';
import { RARE_READERS, rareSpec, type RareDraft, type RareOptions } from './rare-options.js';
import { parseRetry, type RetryOptions } from './retry-options.js';
import type { CapabilityValue, FailurePolicy, Need, TaskSpec } from './spec.js';

/** What a user may say about a task. */
export interface TaskOptions extends RareOptions {
  /** Unique among the tasks the scheduler knows; generated unless given. */
  readonly id?: string | undefined;
  /** The lower runs first; `normal` (2) unless given. */
  readonly priority?: Priority | undefined;
  /** The latest useful time: it orders tasks inside a level. */
  readonly deadline?: Instant | undefined;
  /** When the task is dropped if it has not started. */
  readonly expires?: Instant | undefined;
  /** The stream of tasks it shares its turns with; `default` unless given. */
  readonly channel?: string | undefined;
  /** Units of named resources, held while an attempt runs. */
  readonly needs?: Readonly<Record<string, number>> | undefined;
  /** Those of the needs that an attempt gives back while it waits for another task; the others it keeps. */
  readonly yieldable?: readonly string[] | undefined;
  /** What a worker must offer. */
  readonly capabilities?: Readonly<Record<string, CapabilityValue>> | undefined;
  /** The earliest start. */
  readonly eta?: Instant | undefined;
  /** The earliest start, counted from the submission; with an `eta` too, the later of both counts. */
  readonly delay?: Duration | undefined;
  /** The number of all executions, or a whole policy. */
  readonly retry?: number | RetryOptions | undefined;
  /** How long one attempt may take. */
  readonly timeout?: Duration | undefined;
  /** How long an attempt may go without a heartbeat; otherwise its worker says. */
  readonly lease?: Duration | undefined;
  /** The expected duration, for the critical path. */
  readonly estimate?: Duration | undefined;
  /** Whether a running attempt may be stopped to let a more urgent task start; not unless given. It goes again later. */
  readonly preemptible?: boolean | undefined;
  /** What becomes of the task when a dependency does not complete; `fail` unless given. */
  readonly onDependencyFailure?: FailurePolicy | undefined;
}

/** The channel of a task that names none. */
export const DEFAULT_CHANNEL = 'default';

type Draft = { -readonly [Field in keyof TaskSpec]: TaskSpec[Field] };
type Reader = (draft: Draft, value: unknown) => void;

const FAILURE_POLICIES = ['fail', 'skip', 'run'] as const;

// Without the priority, which alone does not make a spec of its own necessary.
const READERS: ReadonlyMap<string, Reader> = new Map<keyof TaskOptions, Reader>([
  ['id', (draft, value) => (draft.id = parseTaskId(value))],
  ['deadline', (draft, value) => (draft.deadline = parseInstant(value, 'deadline'))],
  ['expires', (draft, value) => (draft.expires = parseInstant(value, 'expires'))],
  ['channel', (draft, value) => (draft.channel = parseName(value, 'channel'))],
  ['needs', (draft, value) => (draft.needs = parseNeeds(value))],
  ['yieldable', (draft, value) => (draft.yieldable = parseYieldable(value))],
  ['capabilities', (draft, value) => (draft.capabilities = parseCapabilities(value))],
  ['eta', (draft, value) => (draft.eta = parseInstant(value, 'eta'))],
  ['delay', (draft, value) => (draft.delayMs = parseDuration(value, 'delay'))],
  ['retry', (draft, value) => (draft.retry = parseRetry(value))],
  ['timeout', (draft, value) => (draft.timeoutMs = parsePositiveDuration(value, 'timeout'))],
  ['lease', (draft, value) => (draft.leaseMs = parsePositiveDuration(value, 'lease'))],
  ['estimate', (draft, value) => (draft.estimateMs = parseDuration(value, 'estimate'))],
  ['preemptible', (draft, value) => (draft.preemptible = parsePreemptible(value))],
  [
    'onDependencyFailure',
    (draft, value) =>
      (draft.onDependencyFailure = parseChoice(value, FAILURE_POLICIES, 'onDependencyFailure', refuseTask)),
  ],
]);

const NONE: ReadonlySet<string> = new Set();
const NO_NEEDS: readonly Need[] = Object.freeze([]);
const NONE_YIELDABLE: readonly string[] = Object.freeze([]);
const NO_CAPABILITIES: TaskSpec['capabilities'] = Object.freeze([]);

/**
 * Checks what a user said about a task and makes the frozen spec of it.
 *
 * Without options every task of a type shares one spec, and so do those that differ in priority only. `beside` names
 * the options that the caller reads itself, such as dependencies; any other unknown name is refused as a mistake. What
 * is not said is as in `base`, where there is one.
 */
export function parseTaskOptions(
  options: TaskOptions | undefined,
  type: string,
  beside: ReadonlySet<string> = NONE,
  base?: TaskSpec,
): TaskSpec {
  if (options === undefined) return base ?? sharedSpec(type, DEFAULT_LEVEL);
  let draft: Draft | undefined;
  let rare: RareDraft | undefined;
  let level = base === undefined ? DEFAULT_LEVEL : base.level;
  const given = plainObject(options, 'options', refuseTask);
  // A list of the keys would be made for every task that has options.
  for (const key in given) {
    if (!Object.hasOwn(given, key)) continue;
    // Each field is read once: a getter may answer differently the next time.
    const value = given[key];
    if (value === undefined) continue;
    if (key === 'priority') level = parseLevel(value);
    else if (!beside.has(key)) {
      const read = READERS.get(key);
      if (read !== undefined) read((draft ??= draftOf(type, base)), value);
      else (RARE_READERS.get(key) ?? refuseOption(key, value, beside))((rare ??= {}), value);
    }
  }
  if (rare !== undefined) {
    draft ??= draftOf(type, base);
    draft.rare = rareSpec(base?.rare, rare);
  }
  if (draft === undefined) return base === undefined ? sharedSpec(type, level) : atLevel(base, level);
  draft.level = level;
  if (draft.yieldable === base?.yieldable) keepYieldable(draft);
  checkYieldable(draft);
  return Object.freeze(draft);
}

function draftOf(type: string, base: TaskSpec | undefined): Draft {
  return { ...(base ?? sharedSpec(type, DEFAULT_LEVEL)) };
}

function refuseOption(key: string, value: unknown, beside: ReadonlySet<string>): never {
  const known = ['priority', ...READERS.keys(), ...RARE_READERS.keys(), ...beside];
  return refuseUnknown('options', key, value, known, refuseTask);
}

function atLevel(base: TaskSpec, level: number): TaskSpec {
  return level === base.level ? base : Object.freeze({ ...base, level });
}

// Both bounds only keep a program that makes up types or levels without end from growing these caches for ever; past
// them they start anew.
const SHARED_TYPES = 1_024;
const SHARED_LEVELS = 64;
const shared = new Map<string, Map<number, TaskSpec>>();
/** Those of closures, which have no type, are asked for most. */
const closures = new Map<number, TaskSpec>();

/** That of most tasks; it stays the same one when the caches start anew. */
const PLAIN = Object.freeze(bareSpec('', DEFAULT_LEVEL));

function sharedSpec(type: string, level: number): TaskSpec {
  if (type === '' && level === DEFAULT_LEVEL) return PLAIN;
  const levels = type === '' ? closures : (shared.get(type) ?? new Map<number, TaskSpec>());
  const found = levels.get(level);
  if (found !== undefined) return found;
  const spec = Object.freeze(bareSpec(type, level));
  if (levels.size >= SHARED_LEVELS) levels.clear();
  levels.set(level, spec);
  if (type === '') return spec;
  if (levels.size === 1 && shared.size >= SHARED_TYPES) shared.clear();
  shared.set(type, levels);
  return spec;
}

function bareSpec(type: string, level: number): TaskSpec {
  return {
    id: undefined,
    type: type === '' ? type : parseName(type, 'type'),
    channel: DEFAULT_CHANNEL,
    level,
    deadline: Number.POSITIVE_INFINITY,
    expires: Number.POSITIVE_INFINITY,
    eta: Number.NEGATIVE_INFINITY,
    delayMs: 0,
    needs: NO_NEEDS,
    yieldable: NONE_YIELDABLE,
    capabilities: NO_CAPABILITIES,
    retry: undefined,
    timeoutMs: Number.POSITIVE_INFINITY,
    leaseMs: undefined,
    estimateMs: undefined,
    preemptible: false,
    onDependencyFailure: 'fail',
    rare: undefined,
  };
}

function parseNeeds(value: unknown): readonly Need[] {
  const needs: Need[] = [];
  for (const [name, amount] of fieldsOf(value, 'needs', refuseTask)) {
    const path = pathTo('needs', name);
    const resource = parseName(name, path);
    if (typeof amount !== 'number' || !Number.isFinite(amount) || amount < 0) {
      return refuseTask(path, amount, 'a finite number of units, not negative');
    }
    // Zero units hold nothing, so they are no need; computed needs may well come out at zero.
    if (amount > 0) needs.push(Object.freeze({ resource, amount }));
  }
  return Object.freeze(needs.sort((a, b) => compareNames(a.resource, b.resource)));
}

function parsePreemptible(value: unknown): boolean {
  return typeof value === 'boolean' ? value : refuseTask('preemptible', value, 'true or false');
}

function parseYieldable(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return refuseTask('yieldable', value, 'a list of names of needs');
  const names = value.map((name: unknown, i) => parseName(name, `yieldable[${i}]`));
  return Object.freeze([...new Set(names)].sort(compareNames));
}

/** What was said to be yieldable before the needs were others counts for those that are left. */
function keepYieldable(draft: Draft): void {
  const { needs, yieldable } = draft;
  if (yieldable.length === 0) return;
  draft.yieldable = Object.freeze(yieldable.filter((name) => needs.some(({ resource }) => resource === name)));
}

/** Only what is needed can be given back; a need that came out at zero is none. */
function checkYieldable(draft: Draft): void {
  const { needs, yieldable } = draft;
  if (yieldable.length === 0) return;
  const unknown = yieldable.find((name) => !needs.some(({ resource }) => resource === name));
  if (unknown !== undefined) refuseTask('yieldable', unknown, 'the name of one of the needs, with units above 0');
}

function parseCapabilities(value: unknown): TaskSpec['capabilities'] {
  const capabilities: (readonly [string, CapabilityValue])[] = [];
  for (const [name, wanted] of fieldsOf(value, 'capabilities', refuseTask)) {
    const path = pathTo('capabilities', name);
    if (!isCapabilityValue(wanted)) return refuseTask(path, wanted, 'a string, a finite number, or true or false');
    capabilities.push(Object.freeze([parseName(name, path), wanted] as const));
  }
  return Object.freeze(capabilities.sort(([a], [b]) => compareNames(a, b)));
}

/** Whether a worker could offer this, and a task ask for it. */
export function isCapabilityValue(value: unknown): value is CapabilityValue {
  return (
    typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  );
}
