import { Attempt, type Task } from '../../model/index.js';
import { expire, passGates } from '../advance.js';
import { graceOver } from '../making-way.js';
import { deadlineMissed } from '../priority.js';
import { tick as tickSeries } from '../recur.js';
import { Series } from '../series.js';
import type { DueSubject } from '../moments.js';
import type { State } from '../state.js';
import { starvationDue } from '../starving.js';
import type { Due } from '../timeline.js';
import { leaseEnded, timeOut } from './settle.js';

/** Lets happen whatever is due by now, wall clock first. */
export function tick(state: State): void {
  passWall(state);
  for (let due = state.monoLine.take(state.mono); due !== undefined; due = state.monoLine.take(state.mono)) {
    happen(state, due);
  }
  state.retention.trim(state.mono);
}

/** Lets happen whatever is due by the wall clock. */
export function passWall(state: State): void {
  for (let due = state.wallLine.take(state.wall); due !== undefined; due = state.wallLine.take(state.wall)) {
    happen(state, due);
  }
}

function happen(state: State, due: Due<DueSubject>): void {
  const { subject } = due;
  if (subject instanceof Series) tickSeries(state, subject);
  else if (subject instanceof Attempt) attemptDue(state, subject, due.kind);
  else taskDue(state, subject, due.kind);
}

function attemptDue(state: State, attempt: Attempt, kind: Due<DueSubject>['kind']): void {
  if (kind === 'timeout') timeOut(state, attempt);
  else leaseEnded(state, attempt);
}

function taskDue(state: State, task: Task, kind: Due<DueSubject>['kind']): void {
  switch (kind) {
    case 'expiry':
      expire(state, task);
      return;
    case 'starvation':
      starvationDue(state, task);
      return;
    case 'grace':
      graceOver(state, task);
      return;
    case 'deadline':
      deadlineMissed(state, task);
      return;
    default:
      passGates(state, task);
  }
}
