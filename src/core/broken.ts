import { InvariantError, type Task } from '../model/index.js';
import { show } from '../model/show.js';
import type { State } from './state.js';

/** Throws with what is broken, and with all that is known of the task it is about. */
export function broken(state: State, promise: string, what: string, task?: Task): never {
  throw new InvariantError(`${promise}: ${what}.${task === undefined ? '' : ` ${storyOf(state, task)}`}`);
}

function storyOf(state: State, task: Task): string {
  const { extra, attempt, sequence, urgency, level, ready, node, place, attempts } = task;
  const after = state.dependencies.of(task).map((each) => `${show(each.task.id)} ${each.task.state}`);
  const { expires } = task.spec;
  const known = { ...extra, sequence, level, urgency, deadline: task.deadline, expires, ready, node, place, attempts };
  const facts = Object.entries(known).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${typeof value === 'number' ? value : show(value)}`],
  );
  return (
    `Task ${show(task.id)} is ${task.state} in channel ${show(task.spec.channel)}: ${facts.join(', ')}; ` +
    `attempt ${attempt === undefined ? 'none' : attempt.id}; ` +
    `after ${after.length === 0 ? 'nothing' : after.join(', ')}; wall ${state.wall}, mono ${state.mono}.`
  );
}
