import {
  InvalidConfigError,
  parseChoice,
  parseName,
  pathTo,
  refuseConfig,
  type RateLimit,
  type Setting,
} from '../../model/index.js';
import {
  NO_AGING,
  STRATEGY_NAMES,
  isWeight,
  isWeighted,
  type Aging,
  type Strategy,
  type StrategyChoice,
  type WeightedRandom,
} from '../../ready/index.js';
import { holdingAttempts } from '../attempts.js';
import { checkLimit, type LimitScope } from '../limits.js';
import { checkUnits, checkWeight, finite } from '../resources.js';
import { checkLease, nothingCharged } from '../execution.js';
import { forgetImpossible, forgetRooms, forgetRoomsAt } from '../making-way.js';
import { checkOnly } from '../open-channels.js';
import { checkRateFor } from '../limits.js';
import { strategyRecord, workerRecord } from '../records.js';
import type { State } from '../state.js';
import { Worker, type WorkerSpec } from '../worker.js';

/** A strategy by its name or as an object; an unknown name is refused with the known ones. */
export function checkStrategy(choice: unknown, field: string): StrategyChoice {
  if (typeof choice === 'string') {
    const name = choice.replaceAll('_', '-');
    const known = STRATEGY_NAMES.find((each) => each === name);
    if (known !== undefined) return known;
  } else if (isStrategy(choice)) {
    if (isWeighted(choice)) checkWeights(choice, field);
    return choice;
  }
  const expected = `one of ${STRATEGY_NAMES.join(', ')}, or an object with name, rank and describe, and choose only as a function`;
  throw new InvalidConfigError({ field, value: choice, expected });
}

function isStrategy(choice: unknown): choice is Strategy | WeightedRandom {
  if (typeof choice !== 'object' || choice === null) return false;
  const given = choice as Partial<Strategy> & { weight?: unknown };
  if (given.name === 'weighted-random') return typeof given.weight === 'function';
  if (given.choose !== undefined && typeof given.choose !== 'function') return false;
  return typeof given.name === 'string' && typeof given.rank === 'function' && typeof given.describe === 'function';
}

/** The named levels stand for all: a function that is wrong there is refused before it decides anything. */
function checkWeights(choice: WeightedRandom, field: string): void {
  for (const level of [0, 1, 2, 3, 4]) {
    const weight: unknown = choice.weight(level);
    if (isWeight(weight)) continue;
    const expected = `a finite number above 0 for level ${String(level)}`;
    throw new InvalidConfigError({ field: `${field}.weight`, value: weight, expected });
  }
}

/** Aging as a user gives it, checked. */
export function checkAging(aging: Partial<Aging> | false): Aging {
  if (aging === false) return NO_AGING;
  const { everyMs = 10_000, maxBoost = Infinity, maxWaitMs = Infinity } = aging;
  for (const [field, value] of [
    ['aging.every', everyMs],
    ['aging.maxWait', maxWaitMs],
  ] as const) {
    if (typeof value !== 'number' || !(value > 0))
      throw new InvalidConfigError({ field, value, expected: 'a duration above 0' });
  }
  if (typeof maxBoost !== 'number' || !(maxBoost >= 0))
    throw new InvalidConfigError({ field: 'aging.maxBoost', value: maxBoost, expected: 'a number of at least 0' });
  return { everyMs, maxBoost, maxWaitMs };
}

/** Switches the scheduler's own strategy; the new order is built when it is first needed. */
export function setStrategy(state: State, choice: StrategyChoice): void {
  state.index.setStrategy(choice);
  for (const worker of state.workers.values()) followStrategy(state, worker, choice);
  followPaths(state);
  state.starvation.watchAll();
  note(state, { name: 'strategy', ...strategyRecord(choice) });
}

/** A worker with a filter has a view of its own, but without a strategy of its own it goes by the scheduler's. */
function followStrategy(state: State, worker: Worker, choice: StrategyChoice): void {
  const { view: before, spec } = worker;
  if (before === undefined || spec.strategy !== undefined) return;
  worker.view = state.index.open(choice, spec.filter);
  state.index.close(before);
}

export function setAging(state: State, aging: Aging): void {
  state.index.setAging(aging);
  state.starvation.watchAll();
  note(state, {
    name: 'aging',
    everyMs: finite(aging.everyMs),
    maxBoost: finite(aging.maxBoost),
    maxWaitMs: finite(aging.maxWaitMs),
  });
}

/** Changes how much there is of a resource. Below what is held, nothing new starts until that is drained. */
export function setCapacity(state: State, resource: string, units: number): void {
  const name = parseName(resource, 'resource', refuseConfig);
  state.resources.setCapacity(name, checkUnits(pathTo('resources', name), units));
  state.lending.capacityChanged(resource);
  forgetImpossible(state);
  note(state, { name: 'capacity', resource, units: finite(units) });
}

export function setLimit(state: State, scope: LimitScope, key: string, limit: number): void {
  checkLimit(scope, key, limit);
  if (scope === 'global') state.resources.setGlobalLimit(limit);
  else if (scope === 'type') state.resources.setTypeLimit(key, limit);
  else setChannelLimit(state, key, limit);
  forgetImpossible(state);
  note(state, { name: 'limit', scope, key, limit: finite(limit) });
}

function setChannelLimit(state: State, key: string, limit: number): void {
  state.resources.setChannelLimit(key, limit);
  for (const channel of state.places.allChannels()) {
    const wasOpen = channel.isOpen();
    state.resources.prepare(channel);
    if (wasOpen && !channel.isOpen()) state.index.channelClosed(channel);
    if (!wasOpen && channel.isOpen()) state.index.channelOpened(channel);
  }
}

/** Changes how much may start in the course of time; what is missing to a full bucket stays missing. */
export function setRate(state: State, scope: 'resource' | 'type', key: string, rate: RateLimit | undefined): void {
  checkRateFor(scope, key, rate);
  const isFirst = scope === 'resource' && state.resources.pools.get(key)?.flow?.rate === undefined;
  if (isFirst && rate !== undefined) nothingCharged(state, key);
  if (scope === 'resource') state.resources.setRate(key, rate);
  else state.resources.setTypeRate(key, rate);
  forgetImpossible(state);
  note(state, { name: 'rate', scope, key, rate: rate ?? null });
}

export function setWeight(state: State, name: string, weight: number): void {
  parseName(name, 'channel', refuseConfig);
  state.resources.setChannelWeight(name, checkWeight(pathTo('channels.weights', name), weight));
  for (const channel of state.places.allChannels()) state.resources.prepare(channel);
  state.index.turns.reweigh();
  note(state, { name: 'weight', channel: name, weight });
}

export function setCharge(state: State, charge: 'turns' | 'time'): void {
  state.charge = parseChoice(charge, ['turns', 'time'], 'charge', refuseConfig);
  note(state, { name: 'charge', charge });
}

export function pauseChannel(state: State, name: string): void {
  const channel = state.places.channel(parseName(name, 'channel', refuseConfig));
  if (channel.paused) return;
  forgetRooms(state, (task) => task.spec.channel === name && task.attempt === undefined);
  state.index.pause(channel, state.mono);
  state.emit?.({ kind: 'channel.paused', channel: name, wall: state.wall, mono: state.mono });
}

export function resumeChannel(state: State, name: string): void {
  const channel = state.places.knownChannel(parseName(name, 'channel', refuseConfig));
  if (channel?.paused !== true) return;
  const held = [...channel.held];
  state.index.resume(channel, state.mono);
  for (const task of held) state.waitsFrom(task);
  state.places.release(channel);
  state.emit?.({ kind: 'channel.resumed', channel: name, wall: state.wall, mono: state.mono });
}

/** From now on these channels and no others take tasks; `undefined` for every one. */
export function setChannels(state: State, only: readonly string[] | undefined): void {
  const names = checkOnly(only);
  state.openChannels.setOnly(names);
  note(state, { name: 'channels', only: names ?? null });
}

/** The channel takes no more tasks; those it has still run, and so do the occurrences of its series. */
export function closeChannel(state: State, name: string): void {
  if (state.openChannels.close(parseName(name, 'channel', refuseConfig)))
    state.emit?.({ kind: 'channel.closed', channel: name, wall: state.wall, mono: state.mono });
}

/** The channel takes tasks again, or for the first time. */
export function openChannel(state: State, name: string): void {
  if (state.openChannels.open(parseName(name, 'channel', refuseConfig)))
    state.emit?.({ kind: 'channel.opened', channel: name, wall: state.wall, mono: state.mono });
}

function checkWorker({ id, slots, leaseMs, retries }: WorkerSpec): void {
  parseName(id, 'id', refuseConfig);
  if (slots !== Infinity && !(Number.isSafeInteger(slots) && slots >= 0))
    throw new InvalidConfigError({
      field: 'slots',
      value: slots,
      expected: 'a whole number of at least 0, or Infinity',
    });
  checkLease(leaseMs);
  if (!Number.isInteger(retries) || retries < 0)
    throw new InvalidConfigError({ field: 'retries', value: retries, expected: 'a whole number of at least 0' });
}

/** Lets a worker in; one that was there under the same id is replaced, and keeps what it runs. */
export function attach(state: State, given: WorkerSpec): Worker {
  checkWorker(given);
  const before = state.workers.get(given.id);
  const strategy = given.strategy === undefined ? undefined : checkStrategy(given.strategy, 'strategy');
  const spec = strategy === given.strategy ? given : { ...given, strategy };
  const ownView = strategy !== undefined || spec.filter !== undefined;
  const choice = strategy ?? state.index.main.choice;
  const worker = new Worker(spec, ownView ? state.index.open(choice, spec.filter) : undefined);
  // One that left and comes back still has what it ran.
  worker.running = before?.running ?? slotsTaken(state, spec.id);
  worker.lastStart = before?.lastStart ?? 0;
  if (before?.view !== undefined) state.index.close(before.view);
  state.workers.set(spec.id, worker);
  forgetRoomsAt(state, spec.id);
  followPaths(state);
  state.emit?.({ kind: 'worker.attached', worker: workerRecord(spec), wall: state.wall, mono: state.mono });
  return worker;
}

function slotsTaken(state: State, workerId: string): number {
  return holdingAttempts(state).filter((attempt) => attempt.workerId === workerId && attempt.wait === undefined).length;
}

/** Lets a worker go; what it runs stays its own until it settles or its lease ends. */
export function detach(state: State, id: string): void {
  const worker = state.workers.get(id);
  if (worker === undefined) return;
  if (worker.view !== undefined) state.index.close(worker.view);
  state.workers.delete(id);
  forgetRoomsAt(state, id);
  followPaths(state);
  state.emit?.({ kind: 'worker.detached', worker: id, wall: state.wall, mono: state.mono });
}

/** Paths are kept only while somebody ranks by them. */
function followPaths(state: State): void {
  const used =
    state.index.main.choice === 'critical-path' ||
    [...state.workers.values()].some((worker) => worker.view?.choice === 'critical-path');
  if (used) state.path.use();
  else state.path.stop();
}

function note(state: State, setting: Setting): void {
  state.emit?.({ kind: 'configured', setting, wall: state.wall, mono: state.mono });
}
