import { CancelledError, DependencyFailedError, ExpiredError, type ErrorRecord, type Task } from '../model/index.js';

/** The error that a task which did not complete rejects with: what its handler threw, or why it never came to that. */
export function failureOf(task: Task): Error {
  const { value } = task;
  if (value instanceof Error) return value;
  const record = task.extra?.error;
  if (task.state === 'cancelled') return saying(cancelOf(task, record), record);
  if (record?.code === 'DEPENDENCY_FAILED') {
    return saying(new DependencyFailedError({ taskId: task.id, dependencyId: '', state: 'failed' }), record);
  }
  return saying(new Error('The task failed.', { cause: value }), record);
}

function cancelOf(task: Task, record: ErrorRecord | undefined): Error {
  if (record?.code === 'EXPIRED') return new ExpiredError({ taskId: task.id, expires: task.spec.expires });
  return new CancelledError({ taskId: task.id, reason: undefined });
}

/** The message was made when it happened, and knew more. */
function saying(error: Error, record: ErrorRecord | undefined): Error {
  if (record !== undefined) error.message = record.message;
  return error;
}
