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
  if (isError(value)) return value;
  const record = task.extra?.error;
  return record === undefined ? new Error('The task failed.', { cause: value }) : errorOf(task, record);
}

/** The error that a record was made of, as far as the record and the task tell. */
export function errorOf(task: Task, { name, code, message, data }: ErrorRecord): Error {
  const taskId = task.id;
  switch (code) {
    case 'CANCELLED':
      return new CancelledError({ taskId, reason: data?.['reason'] });
    case 'CLOSED':
      return new ClosedError({ taskId });
    case 'DROPPED':
      return new DroppedError({ taskId, policy: data?.['policy'] === 'drop-oldest' ? 'drop-oldest' : 'drop-lowest' });
    case 'EXPIRED':
      return new ExpiredError({ taskId, expires: task.spec.expires });
    case 'DEPENDENCY_FAILED':
      return new DependencyFailedError({
        taskId,
        dependencyId: data?.['dependencyId'] ?? '',
        state: (data?.['state'] ?? 'failed') as FinalState,
      });
    default:
      return asRecorded(new Error(message, { cause: task.value }), name, code);
  }
}

/** What was thrown in another process is still known by its name and its code. */
function asRecorded(error: Error, name: string, code: string | undefined): Error {
  if (error.cause === undefined && code !== undefined) Object.assign(error, { name, code });
  return error;
}

/** The outcome of an attempt that threw this, which may be anything. */
export function failedBy(thrown: unknown): Extract<Outcome, { kind: 'failed' }> {
  return { kind: 'failed', error: recordError(thrown), retryable: true, cause: thrown };
}
