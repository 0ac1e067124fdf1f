import {
  CancelledError,
  CycleError,
  DuplicateTaskError,
  InvalidTaskError,
  Task,
  UnknownDependencyError,
  extraOf,
  generatedId,
  isFinal,
  unboxed,
  type FailurePolicy,
  type FinalState,
  type TaskSpec,
} from '../../model/index.js';
import { advance, doom, passGates } from '../advance.js';
import type { Link } from '../dependencies.js';
import { meanOf } from '../execution.js';
import { checkSchedulable } from '../schedulable.js';
import type { State } from '../state.js';
import { submitted } from '../transitions.js';
import { checkRoom, dropBeyond, type Origin } from './make-room.js';

/** A task to wait for: itself, its id, or its position in the same batch. */
export type DependencyRef = Task | string | number;

/** A dependency as submitted: its failure policy is the task's unless it has one of its own. */
export type DependencyInput = DependencyRef | { readonly task: DependencyRef; readonly onFailure: FailurePolicy };

/** One task of a batch. */
export interface Submission {
  readonly spec: TaskSpec;
  readonly payload: unknown;
  readonly after: readonly DependencyInput[];
}

/** Whom a task belongs to. */
export interface Belonging {
  readonly origin?: Origin | undefined;
  /** Whoever has added it. */
  readonly parent?: Task | undefined;
}

const NOBODYS: Belonging = {};

/** A dependency that has ended badly already, and what that means. */
interface Doom {
  readonly id: string;
  readonly state: FinalState;
  readonly verdict: 'fail' | 'skip';
}

const NOBODY: readonly Task[] = [];

/** Takes in one task; refused, it changes nothing. */
export function submit(
  state: State,
  spec: TaskSpec,
  payload: unknown,
  after: readonly DependencyInput[],
  { origin = 'outside', parent: adder }: Belonging = NOBODYS,
): Task {
  const sequence = state.table.next;
  const parent = parentOf(spec, sequence, adder);
  checkId(state, spec);
  state.openChannels.check(spec.channel);
  if (spec.needs.length + spec.capabilities.length > 0) checkSchedulable(state, spec.id ?? generatedId(sequence), spec);
  const links = resolve(state, spec, sequence, after, NOBODY);
  if (state.pressure.maxPending === Infinity) return takeIn(state, sequence, spec, payload, links, parent);
  const room = checkRoom(state, [spec], parent === undefined ? origin : 'child');
  const task = takeIn(state, sequence, spec, payload, links, parent);
  dropBeyond(state, room);
  return task;
}

/** Takes in all tasks or none; they may depend on each other by position or by id, in any order. */
export function submitAll(state: State, submissions: readonly Submission[], origin: Origin = 'outside'): Task[] {
  const first = state.table.next;
  const byId = positionsById(state, submissions, first);
  const inside = submissions.map((submission) => positionsIn(submission, byId, submissions.length));
  const order = topological(inside, (position) => idOf(submissions, first, position));
  // Everything that may refuse comes before anything changes.
  submissions.forEach(({ spec }, position) => {
    state.openChannels.check(spec.channel);
    checkSchedulable(state, idOf(submissions, first, position), spec);
  });
  for (const [position, submission] of submissions.entries()) checkOutside(state, submission, first + position, byId);
  const tasks: Task[] = [];
  const room = checkRoom(
    state,
    submissions.map(({ spec }) => spec),
    origin,
  );
  for (const position of order) {
    const { spec, payload, after } = submissions[position] as Submission;
    const local = after.map((input) => withPosition(input, byId));
    const links = resolve(state, spec, first + position, local, tasks);
    tasks[position] = takeIn(state, first + position, spec, payload, links);
  }
  dropBeyond(state, room);
  return tasks;
}

function takeIn(
  state: State,
  sequence: number,
  spec: TaskSpec,
  payload: unknown,
  links: readonly Link[] | Doom,
  parent?: Task,
): Task {
  const eta = spec.delayMs > 0 ? Math.max(spec.eta, state.wall + spec.delayMs) : spec.eta;
  const dueAt = eta > state.wall ? eta : state.wall;
  const task = new Task(sequence, spec, payload, unboxed(dueAt - state.origin.wall));
  if (eta > state.wall) extraOf(task).eta = eta;
  const estimateMs = spec.estimateMs ?? (spec.type === '' ? undefined : meanOf(state, spec.type));
  if (estimateMs !== undefined) extraOf(task).estimateMs = estimateMs;
  if (parent !== undefined) extraOf(task).parent = parent.sequence;
  if ('verdict' in links) {
    // One that ends on arrival needs nothing: not even for a moment may it lend its urgency to others.
    submitted(state, task, NOBODY, undefined);
    doom(state, task, links.id, links.state, links.verdict);
    advance(state);
  } else {
    submitted(state, task, links, undefined);
    passGates(state, task);
  }
  return task;
}

/** One that has ended is nobody's parent any more; what was to be a child of a cancelled one is refused. */
function parentOf(spec: TaskSpec, sequence: number, parent: Task | undefined): Task | undefined {
  if (parent === undefined || !isFinal(parent.state)) return parent;
  if (parent.state !== 'cancelled') return undefined;
  const reason = `its parent ${parent.id} was cancelled`;
  throw new CancelledError({ taskId: spec.id ?? generatedId(sequence), reason });
}

function checkId(state: State, spec: TaskSpec): void {
  if (spec.id !== undefined && state.table.byId(spec.id) !== undefined)
    throw new DuplicateTaskError({ taskId: spec.id });
}

/** What the task is to be linked to; instead, why it ends on arrival. */
function resolve(
  state: State,
  spec: TaskSpec,
  sequence: number,
  after: readonly DependencyInput[],
  batch: readonly (Task | undefined)[],
): readonly Link[] | Doom {
  if (areAllGood(after)) return after;
  const links: Link[] = [];
  let doomedBy: Doom | undefined;
  for (const input of after) {
    const { ref, onFailure } = parse(input, spec);
    const task = find(state, ref, batch);
    const ended =
      task === undefined ? tombstone(state, spec, sequence, ref) : isFinal(task.state) ? task.state : undefined;
    if (task !== undefined) links.push({ task, onFailure });
    if (ended !== undefined && ended !== 'completed' && onFailure !== 'run' && doomedBy === undefined) {
      doomedBy = { id: task === undefined ? nameOf(ref) : task.id, state: ended, verdict: onFailure };
    }
  }
  return doomedBy ?? links;
}

/** Whether all are tasks that may yet complete, or have: the usual case, in which nothing is left to find out. */
function areAllGood(after: readonly DependencyInput[]): after is readonly Task[] {
  for (const input of after) {
    if (!(input instanceof Task) || (isFinal(input.state) && input.state !== 'completed')) return false;
  }
  return true;
}

function parse(input: DependencyInput, spec: TaskSpec): { ref: DependencyRef; onFailure: FailurePolicy } {
  return typeof input === 'object' && !(input instanceof Task)
    ? { ref: input.task, onFailure: input.onFailure }
    : { ref: input, onFailure: spec.onDependencyFailure };
}

function find(state: State, ref: DependencyRef, batch: readonly (Task | undefined)[]): Task | undefined {
  if (typeof ref === 'number') return batch[ref];
  return typeof ref === 'string' ? state.table.byId(ref) : ref;
}

/** How a dependency that is no longer known ended; one that never was known is refused. */
function tombstone(state: State, spec: TaskSpec, sequence: number, ref: DependencyRef): FinalState {
  if (ref === spec.id) throw new CycleError({ path: [ref, ref] });
  const ended = typeof ref === 'string' ? state.table.tombstone(ref) : undefined;
  if (ended !== undefined) return ended;
  throw new UnknownDependencyError({ taskId: spec.id ?? generatedId(sequence), dependencyId: nameOf(ref) });
}

function nameOf(ref: DependencyRef): string {
  return typeof ref === 'object' ? ref.id : String(ref);
}

function idOf(submissions: readonly Submission[], first: number, position: number): string {
  return submissions[position]?.spec.id ?? generatedId(first + position);
}

function positionsById(state: State, submissions: readonly Submission[], first: number): Map<string, number> {
  const byId = new Map<string, number>();
  submissions.forEach(({ spec }, position) => {
    const id = idOf(submissions, first, position);
    if (byId.has(id)) throw new DuplicateTaskError({ taskId: id });
    checkId(state, spec);
    byId.set(id, position);
  });
  return byId;
}

function withPosition(input: DependencyInput, byId: ReadonlyMap<string, number>): DependencyInput {
  if (typeof input === 'string') return byId.get(input) ?? input;
  if (typeof input === 'object' && !(input instanceof Task) && typeof input.task === 'string') {
    return { task: byId.get(input.task) ?? input.task, onFailure: input.onFailure };
  }
  return input;
}

function refOf(input: DependencyInput): DependencyRef {
  return typeof input === 'object' && !(input instanceof Task) ? input.task : input;
}

function positionsIn(submission: Submission, byId: ReadonlyMap<string, number>, size: number): number[] {
  const positions: number[] = [];
  for (const input of submission.after) {
    const ref = refOf(withPosition(input, byId));
    if (typeof ref !== 'number') continue;
    if (!Number.isInteger(ref) || ref < 0 || ref >= size) {
      throw new InvalidTaskError({
        field: 'after',
        value: ref,
        expected: `a position in the batch, 0 to ${String(size - 1)}`,
      });
    }
    positions.push(ref);
  }
  return positions;
}

function checkOutside(state: State, submission: Submission, sequence: number, byId: ReadonlyMap<string, number>): void {
  for (const input of submission.after) {
    const ref = refOf(withPosition(input, byId));
    if (typeof ref === 'string' && state.table.byId(ref) === undefined)
      tombstone(state, submission.spec, sequence, ref);
  }
}

/** The positions, each after those it depends on; a cycle is refused with its path. */
function topological(inside: readonly (readonly number[])[], idAt: (position: number) => string): number[] {
  const unmet = inside.map((positions) => positions.length);
  const dependants: number[][] = inside.map(() => []);
  inside.forEach((positions, position) => {
    for (const dependency of positions) (dependants[dependency] as number[]).push(position);
  });
  const order: number[] = [];
  unmet.forEach((count, position) => {
    if (count === 0) order.push(position);
  });
  for (let next = 0; next < order.length; next += 1) {
    for (const dependant of dependants[order[next] as number] as number[]) {
      unmet[dependant] = (unmet[dependant] as number) - 1;
      if (unmet[dependant] === 0) order.push(dependant);
    }
  }
  if (order.length < inside.length) throw new CycleError({ path: cycleIn(inside, unmet).map(idAt) });
  return order;
}

/** Walking backwards from a position that was never freed must come round: each has an unfreed dependency. */
function cycleIn(inside: readonly (readonly number[])[], unmet: readonly number[]): number[] {
  const seen = new Map<number, number>();
  const path: number[] = [];
  let at = unmet.findIndex((count) => count > 0);
  while (!seen.has(at)) {
    seen.set(at, path.length);
    path.push(at);
    at = (inside[at] as number[]).find((dependency) => (unmet[dependency] as number) > 0) as number;
  }
  return [...path.slice(seen.get(at)), at];
}
