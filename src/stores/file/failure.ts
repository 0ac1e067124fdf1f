import { SchedulerError, StoreError } from '../../model/index.js';

/** A failure after which nobody knows what is on disk: nothing may be tried again. */
export class UnknownStateError extends Error {
  static {
    UnknownStateError.prototype.name = 'UnknownStateError';
  }

  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
  }
}

/** Rethrows what a call to the machine fails with as the end of all writing. */
export function fatal(thrown: unknown): never {
  throw new UnknownStateError(thrown);
}

/** The code of an error of the machine, such as `ENOSPC`. */
export function codeOf(thrown: unknown): string | undefined {
  const code = (thrown as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** What the caller of the store is told. */
export function asStoreError(operation: string, thrown: unknown): SchedulerError {
  if (thrown instanceof SchedulerError) return thrown;
  if (thrown instanceof UnknownStateError) return new StoreError({ operation, cause: thrown.cause });
  return new StoreError({ operation, kind: isFull(thrown) ? 'full' : 'failed', cause: thrown });
}

function isFull(thrown: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(codeOf(thrown) ?? '');
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
