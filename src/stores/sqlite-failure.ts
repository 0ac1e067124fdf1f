import { CorruptJournalError, SchedulerError, StoreError } from '../model/index.js';

/** Whether somebody else has the file locked, who may let go of it. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_(?:BUSY|LOCKED)/.test(codeOf(error));
}

/** What a call to SQLite threw, as what it means for whoever asked for the operation. */
export function failureOf(error: unknown, operation: string, file: string): SchedulerError {
  if (error instanceof SchedulerError) return error;
  const code = codeOf(error);
  if (/^SQLITE_(?:NOTADB|CORRUPT)/.test(code)) {
    const reason = code === 'SQLITE_NOTADB' ? 'the file is not a database' : 'the database is malformed';
    return new CorruptJournalError({ source: file, position: 0, reason });
  }
  if (code === 'SQLITE_FULL') return new StoreError({ operation, kind: 'full', cause: error });
  return new StoreError({ operation, kind: isBusy(error) ? 'busy' : 'failed', cause: error });
}

function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}
