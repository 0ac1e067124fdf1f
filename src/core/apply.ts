import { SeededRandom, StaleLeaseError, Task, extraOf, type Attempt, type Fact } from '../model/index.js';
import { applyToSeries } from './apply-series.js';
import { applySetting } from './apply-setting.js';
import { workerFor } from './decide/claim.js';
import * as configure from './decide/configure.js';
import { setSaturated } from './decide/make-room.js';
import { taskFor } from './decide/steer.js';
import type { Dependency } from './links.js';
import { dependencyAdded, dependencyRemoved } from './edges.js';
import { checkpointed, costReported, ended, leaseExtended, resourceClosed, settledLate, started } from './execution.js';
import { askedToStop, roomDropped, roomKept } from './making-way.js';
import { countStart } from './overrun.js';
import { deadlineMissed, prioritySet } from './priority.js';
import { specOf, workerOf } from './records.js';
import { bypassed } from './reservation.js';
import { startExpected, starved } from './starving.js';
import type { State } from './state.js';
import { gaveWay, resumed, suspended } from './suspension.js';
import { renewed, replaced, takePlace } from './succession.js';
import * as transitions from './transitions.js';

/**
 * Lets a recorded fact happen again, by the same transitions and without deciding anything: what was decided is in
 * the facts that follow. Facts that have been through JSON will do.
 */
export function apply(state: State, fact: Fact): void {
  const { retention, outbox, fallout } = state;
  const settled = outbox.settled.length;
  const resumptions = outbox.resumed.length;
  const renewals = outbox.renewed.length;
  retention.replaying = true;
  try {
    applyFact(state, fact);
  } finally {
    retention.replaying = false;
    // Whoever had to act on it has done so when it happened for the first time.
    outbox.settled.length = settled;
    outbox.resumed.length = resumptions;
    outbox.renewed.length = renewals;
    fallout.clear();
  }
}

type TaskFact = Extract<
  Fact,
  { kind: `task.${string}` | `room.${string}` | `dependency.${string}` | 'deadline.missed' | 'priority.set' }
>;
type AttemptFact = Extract<
  Fact,
  { kind: `attempt.${string}` | 'lease.extended' | 'cost.reported' | 'resource.closed' }
>;
type RoomFact = Extract<Fact, { kind: `room.${string}` | 'task.preempted' | 'task.bypassed' }>;

function applyFact(state: State, fact: Fact): void {
  switch (fact.kind) {
    case 'channel.paused':
      configure.pauseChannel(state, fact.channel);
      return;
    case 'channel.resumed':
      configure.resumeChannel(state, fact.channel);
      return;
    case 'channel.closed':
      configure.closeChannel(state, fact.channel);
      return;
    case 'channel.opened':
      configure.openChannel(state, fact.channel);
      return;
    case 'configured':
      applySetting(state, fact.setting);
      return;
    case 'pending.saturated':
      setSaturated(state, 'saturated');
      return;
    case 'pending.relieved':
      setSaturated(state, 'relieved');
      return;
    case 'worker.attached':
      configure.attach(state, workerOf(fact.worker, state.options.strategies));
      return;
    case 'worker.detached':
      configure.detach(state, fact.worker);
      return;
    case 'random.drawn':
      state.random = SeededRandom.restore(fact.state);
      return;
    case 'recovered':
      state.epoch = fact.epoch;
      return;
    case 'attempt.started':
    case 'attempt.waiting':
    case 'attempt.gaveWay':
    case 'attempt.resumed':
    case 'attempt.ended':
    case 'attempt.settledLate':
    case 'lease.extended':
    case 'cost.reported':
    case 'resource.closed':
      applyToAttempt(state, fact);
      return;
    case 'series.added':
    case 'series.updated':
    case 'series.scheduled':
    case 'series.paused':
    case 'series.resumed':
    case 'series.overran':
    case 'series.ended':
      applyToSeries(state, fact);
      return;
    default:
      applyToTask(state, fact);
  }
}

function applyToTask(state: State, fact: TaskFact): void {
  if (fact.kind === 'task.submitted') {
    applySubmitted(state, fact);
    return;
  }
  const task = taskFor(state, fact.task);
  switch (fact.kind) {
    case 'task.delayed':
      transitions.delayed(state, task);
      return;
    case 'task.ready':
      transitions.ready(state, task);
      return;
    case 'task.completed':
      transitions.completed(state, task, fact.value);
      return;
    case 'task.checkpointed':
      checkpointed(state, currentAttempt(state, fact.task, fact.attempt), fact.checkpoint);
      return;
    case 'task.retryScheduled':
      transitions.retryScheduled(state, task, fact.untilMono, fact.spent, fact.error);
      return;
    case 'task.failed':
      transitions.failed(state, task, fact.error);
      return;
    case 'task.cancelled':
      transitions.cancelled(state, task, fact.error);
      return;
    case 'task.skipped':
      transitions.skipped(state, task, fact.dependency);
      return;
    case 'task.revived':
      transitions.revived(state, task);
      return;
    case 'deadline.missed':
      deadlineMissed(state, task);
      return;
    case 'task.startExpected':
      startExpected(state, task, fact.byMono);
      return;
    case 'task.starved':
      starved(state, task);
      return;
    case 'room.kept':
    case 'room.dropped':
    case 'task.preempted':
    case 'task.bypassed':
      applyToRooms(state, task, fact);
      return;
    case 'priority.set':
      prioritySet(state, task, fact.level);
      return;
    default:
      applyToBonds(state, task, fact);
  }
}

/** What is kept for a task, and why. */
function applyToRooms(state: State, task: Task, fact: RoomFact): void {
  switch (fact.kind) {
    case 'room.kept':
      roomKept(state, task, fact.workerId, fact.untilMono ?? Infinity);
      return;
    case 'room.dropped':
      roomDropped(state, task);
      return;
    case 'task.preempted':
      askedToStop(state, currentAttempt(state, fact.task, fact.attempt), fact.by, fact.stopByMono);
      return;
    case 'task.bypassed':
      bypassed(state, task, fact.by);
      return;
  }
}

type BondFact = Extract<
  TaskFact,
  {
    kind: 'task.pinned' | 'task.forgotten' | 'task.replaced' | 'task.waiting' | 'task.renewed' | `dependency.${string}`;
  }
>;

/** What a task is kept for, and what it waits for. */
function applyToBonds(state: State, task: Task, fact: BondFact): void {
  switch (fact.kind) {
    case 'task.waiting':
      // It is, since the one that it waits for has come in.
      return;
    case 'task.replaced':
      replaced(state, task);
      return;
    case 'task.renewed':
      renewed(state, task, fact.payload, fact.eta ?? undefined);
      return;
    case 'task.pinned':
      state.retention.linger(task);
      return;
    case 'task.forgotten':
      state.retention.release(task);
      state.table.remove(task);
      return;
    case 'dependency.added': {
      const dependency = taskFor(state, fact.dependency);
      // One that is known already has only been given another policy.
      if (state.dependencies.has(dependency, task)) state.dependencies.setPolicy(dependency, task, fact.onFailure);
      else state.dependencies.connect(dependency, task, fact.onFailure);
      dependencyAdded(state, task, dependency, fact.onFailure);
      return;
    }
    case 'dependency.removed':
      dependencyRemoved(state, task, taskFor(state, fact.dependency));
      return;
  }
}

function applySubmitted(state: State, fact: Extract<Fact, { kind: 'task.submitted' }>): void {
  const task = new Task(fact.sequence, specOf(fact.spec), fact.payload, fact.due - state.origin.wall);
  if (fact.eta !== null) extraOf(task).eta = fact.eta;
  if (fact.estimateMs !== 1) extraOf(task).estimateMs = fact.estimateMs;
  if (fact.parent !== undefined) extraOf(task).parent = taskFor(state, fact.parent).sequence;
  const dependencies = fact.after.flatMap(({ task: id, onFailure }): Dependency[] => {
    const dependency = state.table.byId(id);
    return dependency === undefined ? [] : [{ task: dependency, onFailure }];
  });
  transitions.submitted(state, task, dependencies, fact.occurrence);
  takePlace(state, task);
}

function startedAgain(state: State, fact: Extract<Fact, { kind: 'attempt.started' }>): Attempt {
  const task = taskFor(state, fact.task);
  const attempt = started(state, task, workerFor(state, fact.workerId), fact.leaseMs ?? Infinity);
  if (attempt.number === fact.attempt) return attempt;
  throw new StaleLeaseError({ taskId: fact.task, attempt: fact.attempt, reason: 'it is not the next one of its task' });
}

function applyToAttempt(state: State, fact: AttemptFact): void {
  switch (fact.kind) {
    case 'attempt.started':
      countStart(state, startedAgain(state, fact).task);
      return;
    case 'attempt.waiting': {
      const awaited = taskFor(state, fact.awaited);
      state.dependencies.beginWait(awaited, taskFor(state, fact.task));
      suspended(state, currentAttempt(state, fact.task, fact.attempt), awaited);
      return;
    }
    case 'attempt.gaveWay':
      gaveWay(state, currentAttempt(state, fact.task, fact.attempt));
      return;
    case 'attempt.resumed':
      resumed(state, currentAttempt(state, fact.task, fact.attempt));
      return;
    case 'attempt.ended':
      ended(state, currentAttempt(state, fact.task, fact.attempt), fact.how);
      return;
    case 'attempt.settledLate':
      settledLate(state, abandonedAttempt(state, fact.task, fact.sequence, fact.attempt));
      return;
    case 'lease.extended':
      leaseExtended(state, currentAttempt(state, fact.task, fact.attempt), fact.leaseEndsAt ?? Infinity);
      return;
    case 'cost.reported':
      costReported(state, currentAttempt(state, fact.task, fact.attempt), fact.resource, fact.cost);
      return;
    case 'resource.closed':
      resourceClosed(state, currentAttempt(state, fact.task, fact.attempt), fact.resource, fact.untilMono);
      return;
  }
}

function currentAttempt(state: State, taskId: string, number: number): Attempt {
  const { attempt } = taskFor(state, taskId);
  if (attempt?.number === number) return attempt;
  throw new StaleLeaseError({ taskId, attempt: number, reason: 'it does not run where the fact says that it ended' });
}

function abandonedAttempt(state: State, taskId: string, sequence: number, number: number): Attempt {
  for (const attempt of state.abandoned) {
    if (attempt.task.sequence === sequence && attempt.number === number) return attempt;
  }
  throw new StaleLeaseError({ taskId, attempt: number, reason: 'it was not abandoned where the fact says so' });
}
