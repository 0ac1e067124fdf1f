import { CorruptJournalError, SchedulerError, StoreError } from '../model/index.js';

/** No connection could be had: nothing was asked of the server. */
export class Unreachable extends Error {}

/** No answer came in time. */
export class Unanswered extends Error {}

/**
 * What becomes of a failed call: `final`, it has not happened and will not; `again`, it has not happened, but may if it is tried
 * later; `unknown`, whoever knew is gone.
 */
export type Verdict = 'final' | 'again' | 'unknown';

// Serialisation, deadlock, a lock not to be had, too many connections, a cancelled statement.
const PASSES = /^(?:40001|40P01|55P03|53300|57014)$/;
// The connection has failed, or the server ends, has crashed, or starts.
const CONNECTION_ENDS = /^(?:08|57P)/;
// Wrong password or user, no such database: waiting does not help.
const NEVER_LET_IN = /^(?:28|3D)/;

export function verdictOf(error: unknown): Verdict {
  if (error instanceof SchedulerError) return 'final';
  if (error instanceof Unreachable) return NEVER_LET_IN.test(stateOf(error.cause)) ? 'final' : 'again';
  const state = stateOf(error);
  if (state === '' || CONNECTION_ENDS.test(state)) return 'unknown';
  return PASSES.test(state) ? 'again' : 'final';
}

/** What a call to PostgreSQL threw, as what it means for whoever asked for the operation. */
export function failureOf(error: unknown, operation: string, source: string): SchedulerError {
  if (error instanceof SchedulerError) return error;
  const cause = error instanceof Unreachable ? error.cause : error;
  const state = stateOf(cause);
  if (state === '53100') return new StoreError({ operation, kind: 'full', cause });
  if (/^XX00[12]$/.test(state)) {
    return new CorruptJournalError({ source, position: 0, reason: 'the server finds its data damaged' });
  }
  return new StoreError({ operation, cause });
}

/** The SQLSTATE, which the server says in every language; empty where it is not the server that says something. */
function stateOf(error: unknown): string {
  if (!(error instanceof Error) || !('severity' in error) || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}
