import {
  CancelledError,
  ClosedError,
  DependencyFailedError,
  DroppedError,
  ExpiredError,
  isError,
  recordError,
  type ErrorRecord,
  type FinalState,
  type Outcome,
  type Task,
} from '../model/index.js';

/** The error that a task which did not complete rejects with: what its handler threw, or why it never came to that. */
export function failureOf(task: Task): Error {
  const { value } = task;
  const record = task.extra?.error;
  // What was thrown belongs to the task with which it began, where this one never ran because of its dependencies.
  if (isError(value) && !isBecauseOfDependency(record)) return value;
  return record === undefined ? new Error('The task failed.', { cause: value }) : errorOf(task, record);
}

/** The error that a record was made of, as far as the record and the task tell. */
export function errorOf({ id, spec, value }: Task, record: ErrorRecord): Error {
  return made(record, id, spec.expires, value);
}

/** Only what the scheduler itself says has data: a handler may have thrown the error of a task that it waited for. */
function isBecauseOfDependency(record: ErrorRecord | undefined): boolean {
  return record?.code === 'DEPENDENCY_FAILED' && record.data !== undefined;
}

function made(record: ErrorRecord, taskId: string, expires: number, thrown: unknown): Error {
  const { code, data } = record;
  switch (code) {
    case 'CANCELLED':
      return new CancelledError({ taskId, reason: data?.['reason'] });
    case 'CLOSED':
      return new ClosedError({ taskId });
    case 'DROPPED':
      return new DroppedError({ taskId, policy: data?.['policy'] === 'drop-oldest' ? 'drop-oldest' : 'drop-lowest' });
    case 'EXPIRED':
      return new ExpiredError({ taskId, expires });
    case 'DEPENDENCY_FAILED':
      return new DependencyFailedError({
        taskId,
        dependencyId: data?.['dependencyId'] ?? '',
        state: (data?.['state'] ?? 'failed') as FinalState,
        cause: causeOf(record, thrown),
      });
    default:
      return plain(record, thrown);
  }
}

/** The error of the dependency; where that is what was thrown in this process, the very same one. */
function causeOf({ because }: ErrorRecord, thrown: unknown): Error | undefined {
  if (because === undefined) return undefined;
  const { data } = because;
  if (because.because === undefined && isError(thrown)) return thrown;
  if (data === undefined) return plain(because, thrown);
  return made(because, data['taskId'] ?? '', Number(data['expires']), thrown);
}

/** What was thrown in another process is still known by its name and its code. */
function plain({ name, code, message }: ErrorRecord, thrown: unknown): Error {
  const error = new Error(message, thrown === undefined ? {} : { cause: thrown });
  return code === undefined ? error : Object.assign(error, { name, code });
}

/** The outcome of an attempt that threw this, which may be anything. */
export function failedBy(thrown: unknown): Extract<Outcome, { kind: 'failed' }> {
  return { kind: 'failed', error: recordError(thrown), retryable: true, cause: thrown };
}
