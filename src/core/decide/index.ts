import { parseLevel, type Attempt } from '../../model/index.js';
import type { Command } from '../command.js';
import { checkPressure } from '../pressure.js';
import type { State } from '../state.js';
import { cancel, cancelAll } from './cancel.js';
import { claimBatch, workerFor } from './claim.js';
import * as configure from './configure.js';
import { setPressure } from './make-room.js';
import { plan } from './plan.js';
import { preempt } from './preempt.js';
import { recover } from './recover.js';
import * as series from './repeat.js';
import { report } from './report.js';
import * as settle from './settle.js';
import * as steer from './steer.js';
import { submit } from './submit.js';
import { submitAll } from './submit-all.js';
import { tick } from './tick.js';
import { waitFor, waitingTasks } from './wait.js';
import { atYield } from './yield.js';

/** Carries out one command, by the module that knows how. */
export function decide(state: State, command: Command): void {
  switch (command.kind) {
    case 'submit':
      submit(state, command.spec, command.payload, command.after ?? [], {
        origin: command.origin,
        parent: command.parent === undefined ? undefined : steer.taskFor(state, command.parent),
      });
      return;
    case 'submitAll':
      submitAll(state, command.tasks, { origin: command.origin });
      return;
    case 'claim':
      claimBatch(state, workerFor(state, command.worker), command.count);
      return;
    case 'plan':
      plan(state, command);
      return;
    case 'settle':
    case 'extend':
    case 'checkpoint':
    case 'release':
    case 'waitFor':
    case 'report':
    case 'yield':
      decideAttempt(state, settle.attemptFor(state, command.task, command.token), command);
      return;
    case 'preempt':
      preempt(state);
      return;
    case 'tick':
      tick(state);
      return;
    case 'recover':
      recover(state, command.epoch ?? 0);
      return;
    default:
      decideSteering(state, command);
  }
}

type SteeringKind = 'cancel' | 'cancelAll' | 'setPriority' | 'addDependency' | 'removeDependency' | 'retry';

function decideSteering(
  state: State,
  command: Extract<Command, { kind: SteeringKind | SeriesKind | SettingKind }>,
): void {
  switch (command.kind) {
    case 'cancel':
      cancel(state, steer.taskFor(state, command.task), command);
      return;
    case 'cancelAll':
      cancelAll(
        state,
        command.tasks.map((id) => steer.taskFor(state, id)),
        command,
      );
      return;
    case 'setPriority':
      steer.setPriority(state, steer.taskFor(state, command.task), parseLevel(command.level));
      return;
    case 'addDependency':
      steer.addDependency(state, steer.taskFor(state, command.task), command.dependency, command.onFailure);
      return;
    case 'removeDependency':
      steer.removeDependency(state, steer.taskFor(state, command.task), command.dependency);
      return;
    case 'retry':
      steer.retryByHand(state, steer.taskFor(state, command.task));
      return;
    default:
      decideSeries(state, command);
  }
}

type AttemptKind = 'settle' | 'extend' | 'checkpoint' | 'release' | 'waitFor' | 'report' | 'yield';

function decideAttempt(state: State, attempt: Attempt, command: Extract<Command, { kind: AttemptKind }>): void {
  switch (command.kind) {
    case 'settle':
      settle.settle(state, attempt, command.outcome);
      return;
    case 'extend':
      settle.extend(state, attempt, command.leaseMs);
      return;
    case 'checkpoint':
      settle.checkpoint(state, attempt, command.checkpoint);
      return;
    case 'release':
      settle.settle(state, attempt, { kind: 'aborted' });
      return;
    case 'waitFor':
      waitFor(state, attempt, command.awaited);
      return;
    case 'report':
      report(state, attempt, command.resource, command);
      return;
    case 'yield':
      atYield(state, attempt);
      return;
  }
}

type SeriesKind = 'repeat' | 'cancelSeries' | 'pauseSeries' | 'resumeSeries';

function decideSeries(state: State, command: Extract<Command, { kind: SeriesKind | SettingKind }>): void {
  switch (command.kind) {
    case 'repeat':
      series.repeat(state, command.series, command.spec, command.recurrence, command.payload);
      return;
    case 'cancelSeries':
      series.cancelSeries(state, command.series);
      return;
    case 'pauseSeries':
      series.pauseSeries(state, command.series);
      return;
    case 'resumeSeries':
      series.resumeSeries(state, command.series);
      return;
    default:
      decideSetting(state, command);
  }
}

type SettingKind =
  | 'setStrategy'
  | 'setAging'
  | 'setCapacity'
  | 'setLimit'
  | 'setRate'
  | 'setWeight'
  | 'setCharge'
  | 'setPressure'
  | 'setChannels'
  | 'closeChannel'
  | 'openChannel'
  | 'pauseChannel'
  | 'resumeChannel'
  | 'attachWorker'
  | 'detachWorker';

function decideSetting(state: State, command: Extract<Command, { kind: SettingKind }>): void {
  switch (command.kind) {
    case 'setStrategy':
      configure.setStrategy(state, configure.checkStrategy(command.strategy, 'strategy'));
      return;
    case 'setAging':
      configure.setAging(state, configure.checkAging(command.aging));
      return;
    case 'setCapacity':
      configure.setCapacity(state, command.resource, command.units);
      settle.breakDeadlocks(state, waitingTasks(state));
      return;
    case 'setLimit':
      configure.setLimit(state, command.scope, command.key, command.limit);
      return;
    case 'setRate':
      configure.setRate(state, command.scope, command.key, command.rate);
      return;
    case 'setWeight':
      configure.setWeight(state, command.channel, command.weight);
      return;
    case 'setCharge':
      configure.setCharge(state, command.charge);
      return;
    case 'setPressure':
      setPressure(state, checkPressure(command.pressure));
      return;
    case 'setChannels':
      configure.setChannels(state, command.only);
      return;
    case 'closeChannel':
      configure.closeChannel(state, command.channel);
      return;
    case 'openChannel':
      configure.openChannel(state, command.channel);
      return;
    case 'pauseChannel':
      configure.pauseChannel(state, command.channel);
      return;
    case 'resumeChannel':
      configure.resumeChannel(state, command.channel);
      return;
    case 'attachWorker':
      configure.attach(state, command.worker);
      return;
    case 'detachWorker':
      configure.detach(state, command.worker);
      return;
  }
}
