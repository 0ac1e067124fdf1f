import { DuplicateTaskError, generatedId, type RareSpec, type Task, type TaskSpec } from '../../model/index.js';
import { checkSchedulable } from '../schedulable.js';
import type { State } from '../state.js';
import { checkRoom, dropBeyond } from './make-room.js';
import { submitAll } from './submit-all.js';
import { parentOf, resolve, takeIn, type Belonging, type DependencyInput } from './take-in.js';

const NOBODYS: Belonging = {};
const NOBODY: readonly Task[] = [];

/** Takes in one task, or gives the one that is there already where it is to be shared; refused, it changes nothing. */
export function submit(
  state: State,
  spec: TaskSpec,
  payload: unknown,
  after: readonly DependencyInput[],
  belonging: Belonging = NOBODYS,
): Task {
  if (spec.rare !== undefined && mayBeShared(spec.rare)) {
    return submitAll(state, [{ spec, payload, after }], belonging)[0] as Task;
  }
  const sequence = state.table.next;
  const parent = parentOf(spec, sequence, belonging.parent);
  if (spec.id !== undefined && state.table.byId(spec.id) !== undefined) {
    throw new DuplicateTaskError({ taskId: spec.id });
  }
  state.openChannels.check(spec.channel);
  if (spec.needs.length + spec.capabilities.length > 0) checkSchedulable(state, spec.id ?? generatedId(sequence), spec);
  const links = resolve(state, spec, sequence, after, NOBODY);
  if (state.pressure.maxPending === Infinity) return takeIn(state, sequence, spec, payload, links, parent);
  const room = checkRoom(state, [spec], parent === undefined ? (belonging.origin ?? 'outside') : 'child');
  const task = takeIn(state, sequence, spec, payload, links, parent);
  dropBeyond(state, room);
  return task;
}

function mayBeShared({ ifExists, key }: RareSpec): boolean {
  return ifExists !== undefined || key !== undefined;
}
