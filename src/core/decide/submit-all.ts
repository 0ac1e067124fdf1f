import { InvalidTaskError, Task, generatedId, isFinal, type TaskSpec } from '../../model/index.js';
import { advance, passGates } from '../advance.js';
import { etaOf } from '../eta.js';
import { checkSchedulable } from '../schedulable.js';
import type { State } from '../state.js';
import { renewed, replaced } from '../succession.js';
import { topological } from './batch-order.js';
import { endAll, meantWith } from './cancel.js';
import { checkRoom, dropBeyond } from './make-room.js';
import { Meetings, type Meeting, type Newcomer } from './meeting.js';
import { refuseCircles } from './replacement-cycles.js';
import { breakDeadlocks } from './settle.js';
import {
  parentOf,
  refOf,
  resolve,
  takeIn,
  tombstone,
  type Belonging,
  type DependencyInput,
  type Submission,
} from './take-in.js';
import { waitingTasks } from './wait.js';

const NOBODYS: Belonging = {};

/** Takes in all tasks or none; they may depend on each other by position or by id, in any order. */
export function submitAll(state: State, submissions: readonly Submission[], belonging: Belonging = NOBODYS): Task[] {
  const { origin = 'outside', parent: adder } = belonging;
  const meetings = new Meetings(state, submissions);
  const { newcomers } = meetings;
  const after = newcomers.map(({ submission }) =>
    submission.after.map((input) => meant(input, meetings, submissions.length)),
  );
  const order = orderOf(meetings, after);
  // Everything that may refuse comes before anything changes.
  for (const { submission, sequence } of newcomers) parentOf(submission.spec, sequence, adder);
  newcomers.forEach((newcomer, i) => {
    checkNewcomer(state, newcomer, after[i] as readonly DependencyInput[]);
  });
  const leaving = leavingFor(state, meetings, after, adder);
  const specs = newcomers.map(({ submission }) => submission.spec);
  const pending = new Set([...leaving.keys()].filter(({ attempt }) => attempt === undefined));
  const room = checkRoom(state, specs, adder === undefined ? origin : 'child', pending);

  for (const task of meetings.replaced.keys()) replaced(state, task);
  endAll(state, leaving);
  const made: Task[] = [];
  for (const at of order) {
    const { position, sequence, submission } = newcomers[at] as Newcomer;
    const { spec, payload } = submission;
    const links = resolve(state, spec, sequence, after[at] as readonly DependencyInput[], made);
    made[position] = takeIn(state, sequence, spec, payload, links, parentOf(spec, sequence, adder));
  }
  const tasks = meetings.all.map((meeting) => (typeof meeting === 'number' ? (made[meeting] as Task) : meeting));
  for (const position of meetings.renewals) renew(state, tasks[position] as Task, submissions[position] as Submission);
  advance(state);
  if (meetings.replaced.size > 0) breakDeadlocks(state, waitingTasks(state));
  dropBeyond(state, room);
  return tasks;
}

/** The task does what the call has brought. The first call has said all else, the pace of this one says when. */
function renew(state: State, task: Task, { spec, payload }: Submission): void {
  if (isFinal(task.state)) return;
  const eta = spec.rare?.debounceMs === undefined ? undefined : Math.max(task.spec.eta, etaOf(state, spec));
  renewed(state, task, payload, eta);
  if (task.state === 'waiting') passGates(state, task);
}

function checkNewcomer(
  state: State,
  { sequence, submission: { spec } }: Newcomer,
  after: readonly DependencyInput[],
): void {
  state.openChannels.check(spec.channel);
  checkSchedulable(state, spec.id ?? generatedId(sequence), spec);
  for (const input of after) {
    const ref = refOf(input);
    if (typeof ref === 'string' && state.table.byId(ref) === undefined) tombstone(state, spec, sequence, ref);
  }
}

/** Who is taken back for those that are to take places: the replaced tasks with their children. */
function leavingFor(
  state: State,
  meetings: Meetings,
  after: readonly (readonly DependencyInput[])[],
  adder: Task | undefined,
): ReturnType<typeof meantWith> {
  const { replaced: places } = meetings;
  if (places.size === 0) return NOBODY_LEAVES;
  refuseCircles(state, meetings, after);
  const leaving = meantWith(state, [...places.keys()], { reason: 'replaced' });
  if (adder !== undefined && leaving.has(adder)) refuseParent(adder.spec);
  return leaving;
}

const NOBODY_LEAVES: ReadonlyMap<Task, string | undefined> = new Map();

function refuseParent({ id }: TaskSpec): never {
  const expected = `a task that the one that adds it, ${String(id)}, does not go with`;
  throw new InvalidTaskError({ field: 'ifExists', value: 'replace', expected });
}

/** Whom a dependency means once those that come in together are known. */
function meant(input: DependencyInput, meetings: Meetings, size: number): DependencyInput {
  const ref = refOf(input);
  let task: Meeting | string = ref;
  if (typeof ref === 'string') task = meetings.byName(ref) ?? ref;
  else if (typeof ref === 'number') task = meetings.all[ref] ?? refusePosition(ref, size);
  else task = meetings.replaced.get(ref) ?? ref;
  if (task === ref) return input;
  return typeof input === 'object' && !(input instanceof Task) ? { task, onFailure: input.onFailure } : task;
}

function refusePosition(value: number, size: number): never {
  const expected = `a position in the batch, 0 to ${String(size - 1)}`;
  throw new InvalidTaskError({ field: 'after', value, expected });
}

/** The newcomers, each after those of them that it depends on; by their places in the list of newcomers. */
function orderOf(meetings: Meetings, after: readonly (readonly DependencyInput[])[]): number[] {
  const { newcomers } = meetings;
  const places = new Map(newcomers.map(({ position }, at) => [position, at]));
  const inside = after.map((inputs) =>
    inputs.flatMap((input) => {
      const ref = refOf(input);
      return typeof ref === 'number' ? [places.get(ref) as number] : [];
    }),
  );
  return topological(inside, (at) => meetings.nameOf((newcomers[at] as Newcomer).position));
}
