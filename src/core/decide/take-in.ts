import {
  CancelledError,
  CycleError,
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
import type { Link } from '../links.js';
import { etaOf } from '../eta.js';
import { expectedMs } from '../execution.js';
import type { State } from '../state.js';
import { takePlace } from '../succession.js';
import { submitted } from '../transitions.js';
import type { Origin } from './make-room.js';

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

/** A dependency that has ended badly already, and what that means. */
interface Doom {
  readonly id: string;
  readonly state: FinalState;
  readonly verdict: 'fail' | 'skip';
}

const NOBODY: readonly Task[] = [];

/** Takes in a task that nothing speaks against any more. */
export function takeIn(
  state: State,
  sequence: number,
  spec: TaskSpec,
  payload: unknown,
  links: readonly Link[] | Doom,
  parent?: Task,
): Task {
  const eta = etaOf(state, spec);
  const dueAt = eta > state.wall ? eta : state.wall;
  const task = new Task(sequence, spec, payload, unboxed(dueAt - state.origin.wall));
  if (eta > state.wall) extraOf(task).eta = eta;
  const estimateMs = expectedMs(state, spec);
  if (estimateMs !== undefined) extraOf(task).estimateMs = estimateMs;
  if (parent !== undefined) extraOf(task).parent = parent.sequence;
  if ('verdict' in links) {
    // One that ends on arrival needs nothing: not even for a moment may it lend its urgency to others.
    submitted(state, task, NOBODY, undefined);
    if (state.predecessors.size > 0) takePlace(state, task);
    doom(state, task, links.id, links.state, links.verdict);
    advance(state);
  } else {
    submitted(state, task, links, undefined);
    if (state.predecessors.size > 0) takePlace(state, task);
    passGates(state, task);
  }
  return task;
}

/** One that has ended is nobody's parent any more; what was to be a child of a cancelled one is refused. */
export function parentOf(spec: TaskSpec, sequence: number, parent: Task | undefined): Task | undefined {
  if (parent === undefined || !isFinal(parent.state)) return parent;
  if (parent.state !== 'cancelled') return undefined;
  const reason = `its parent ${parent.id} was cancelled`;
  throw new CancelledError({ taskId: spec.id ?? generatedId(sequence), reason });
}

/** What the task is to be linked to; instead, why it ends on arrival. */
export function resolve(
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
export function tombstone(state: State, spec: TaskSpec, sequence: number, ref: DependencyRef): FinalState {
  if (ref === spec.id) throw new CycleError({ path: [ref, ref] });
  const ended = typeof ref === 'string' ? state.table.tombstone(ref) : undefined;
  if (ended !== undefined) return ended;
  throw new UnknownDependencyError({ taskId: spec.id ?? generatedId(sequence), dependencyId: nameOf(ref) });
}

/** The task that an input names, without its policy. */
export function refOf(input: DependencyInput): DependencyRef {
  return typeof input === 'object' && !(input instanceof Task) ? input.task : input;
}

function nameOf(ref: DependencyRef): string {
  return typeof ref === 'object' ? ref.id : String(ref);
}
