import type { SchedulerError } from './scheduler-error.js';
import { cut, show } from './show.js';

/** What is kept of an error: plain data that survives a restart. */
export interface ErrorRecord {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  /** What one of the scheduler's own errors is about, from which it is made again. */
  readonly data?: Readonly<Record<string, string | undefined>>;
  /** What led to it, the nearest cause first, as `name: message`. */
  readonly causes?: readonly string[];
  /** The error of the dependency that it follows from. */
  readonly because?: ErrorRecord;
}

const NAME_LENGTH = 128;
const MESSAGE_LENGTH = 4_096;
const STACK_LENGTH = 8_192;
const CAUSE_LENGTH = 512;
const CAUSES = 4;
/** How many dependencies deep an error tells what it follows from. */
const DEPTH = 4;

/**
 * Records whatever was thrown, which may be anything: `undefined`, a frozen object, a proxy that throws, an error that
 * is its own cause. Never throws itself, and keeps a bounded amount.
 */
export function recordError(thrown: unknown): ErrorRecord {
  const { name, message } = headline(thrown);
  const code = read(thrown, 'code');
  const stack = read(thrown, 'stack');
  const told = causesOf(thrown);
  return Object.freeze({
    name: cut(name, NAME_LENGTH),
    message: cut(message, MESSAGE_LENGTH),
    ...(typeof code === 'string' || typeof code === 'number' ? { code: cut(String(code), NAME_LENGTH) } : {}),
    ...(typeof stack === 'string' ? { stack: cut(stack, STACK_LENGTH) } : {}),
    ...(told.length > 0 ? { causes: Object.freeze(told) } : {}),
  });
}

/**
 * Records one of the scheduler's own errors, whose message says everything. Its stack would only show the scheduler
 * at work, differ from machine to machine, and take longer to write than all the rest of a cancelled graph.
 */
export function recordOwnError(error: SchedulerError): ErrorRecord {
  return Object.freeze({ name: error.name, message: cut(error.message, MESSAGE_LENGTH), code: error.code });
}

const causes = new WeakMap<ErrorRecord, ErrorRecord>();

/**
 * What those that depend on a task keep of its error: without the stack, and of a long chain without the middle, so that
 * each keeps a bounded amount whatever it hangs on. They share it, as a hundred thousand may fall with one task.
 */
export function causeRecord(record: ErrorRecord): ErrorRecord {
  const known = causes.get(record);
  if (known !== undefined) return known;
  const { name, message, code, data } = record;
  const { root, depth } = rootOf(record);
  const because = depth < DEPTH ? record.because : root;
  const kept = Object.freeze({
    name,
    message: cut(message, CAUSE_LENGTH),
    ...(code === undefined ? {} : { code }),
    ...(data === undefined ? {} : { data }),
    ...(because === undefined ? {} : { because }),
  });
  causes.set(record, kept);
  return kept;
}

/** What it began with, and how many errors follow from that one by one until this; `undefined` for one that began itself. */
function rootOf({ because }: ErrorRecord): { root: ErrorRecord | undefined; depth: number } {
  let root = because;
  let depth = 1;
  for (let next = because; next !== undefined; next = next.because) {
    root = next;
    depth += 1;
  }
  return { root, depth };
}

function headline(thrown: unknown): { name: string; message: string } {
  if (typeof thrown === 'string') return { name: 'NonError', message: thrown };
  const message = read(thrown, 'message');
  if (typeof message !== 'string') return { name: 'NonError', message: `${show(thrown)} was thrown` };
  const name = read(thrown, 'name');
  return { name: typeof name === 'string' && name !== '' ? name : 'Error', message };
}

function causesOf(thrown: unknown): string[] {
  const causes: string[] = [];
  const seen = new Set<unknown>([thrown]);
  let cause = read(thrown, 'cause');
  while (cause !== undefined && causes.length < CAUSES && !seen.has(cause)) {
    seen.add(cause);
    const { name, message } = headline(cause);
    causes.push(cut(`${cut(name, NAME_LENGTH)}: ${message}`, CAUSE_LENGTH));
    cause = read(cause, 'cause');
  }
  return causes;
}

function read(from: unknown, key: string): unknown {
  if ((typeof from !== 'object' && typeof from !== 'function') || from === null) return undefined;
  try {
    return (from as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

/** What a failure is known by: the error that was thrown, where that was in this process, else its record. */
export type Failure = Error | ErrorRecord;

/** What the user's own functions are given of a failure. */
export function failureShown(record: ErrorRecord, thrown: unknown): Failure {
  return isError(thrown) ? thrown : record;
}

/** Whether it is an error; what was thrown may be anything, also something that throws when it is looked at. */
export function isError(thrown: unknown): thrown is Error {
  try {
    return thrown instanceof Error;
  } catch {
    return false;
  }
}
