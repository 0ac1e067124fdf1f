import { parseChoice, parseLevel, refuseTask } from '../../model/index.js';
import type { Command } from '../command.js';
import type { State } from '../state.js';
import { claimBatch, workerFor } from './claim.js';
import * as configure from './configure.js';
import { recover } from './recover.js';
import * as series from './repeat.js';
import { report } from './report.js';
import * as settle from './settle.js';
import * as steer from './steer.js';
import { submit, submitAll } from './submit.js';
import { tick } from './tick.js';

/** Carries out one command, by the module that knows how. */
export function decide(state: State, command: Command): void {
  switch (command.kind) {
    case 'submit':
      submit(state, command.spec, command.payload, command.after ?? []);
      return;
    case 'submitAll':
      submitAll(state, command.tasks);
      return;
    case 'claim':
      claimBatch(state, workerFor(state, command.worker), command.count);
      return;
    case 'settle':
    case 'extend':
    case 'release':
    case 'report':
      decideForAttempt(state, command);
      return;
    case 'cancel':
      steer.cancel(state, steer.taskFor(state, command.task), command.reason);
      return;
    case 'setPriority':
      steer.setPriority(state, steer.taskFor(state, command.task), parseLevel(command.level));
      return;
    case 'addDependency':
      parseChoice(command.onFailure, ['fail', 'skip', 'run'], 'onFailure', refuseTask);
      steer.addDependency(state, steer.taskFor(state, command.task), command.dependency, command.onFailure);
      return;
    case 'removeDependency':
      steer.removeDependency(state, steer.taskFor(state, command.task), command.dependency);
      return;
    case 'retry':
      steer.retryByHand(state, steer.taskFor(state, command.task));
      return;
    case 'tick':
      tick(state);
      return;
    case 'recover':
      recover(state);
      return;
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

/** What somebody who runs an attempt says of it. */
function decideForAttempt(
  state: State,
  command: Extract<Command, { kind: 'settle' | 'extend' | 'release' | 'report' }>,
): void {
  const attempt = settle.attemptFor(state, command.task, command.token);
  switch (command.kind) {
    case 'settle':
      settle.settle(state, attempt, command.outcome);
      return;
    case 'extend':
      settle.extend(state, attempt, command.leaseMs);
      return;
    case 'release':
      settle.settle(state, attempt, { kind: 'aborted' });
      return;
    case 'report':
      report(state, attempt, command.resource, command);
      return;
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
