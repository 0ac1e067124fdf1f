import type { Task } from '../model/index.js';
import { show } from '../model/show.js';
import type { View } from '../ready/index.js';
import { broken } from './broken.js';
import type { State } from './state.js';

/** Throws unless every order of the ready index holds exactly the tasks it is for. */
export function checkIndex(state: State): void {
  const { index } = state;
  const ready = new Set<Task>();
  for (const task of state.table.all()) if (task.state === 'ready') ready.add(task);
  if (ready.size !== index.size) broken(state, 'index', `${ready.size} tasks are ready, counted ${index.size}`);
  const active = new Set([...ready].filter((task) => !state.places.of(task).paused));
  checkHeld(state, ready);
  for (const view of index.views) if (view.built) checkView(state, view, active);
  compare(state, 'the whole index', new Set(index.all()), active);
  // Accounts that were opened by the last command know of no task until the next one.
  if (index.countsTurns && !index.unbuilt) checkTurns(state, active);
}

function checkHeld(state: State, ready: ReadonlySet<Task>): void {
  const held = new Set<Task>();
  for (const channel of state.places.allChannels()) {
    for (const task of channel.held) {
      held.add(task);
      if (!channel.paused) broken(state, 'G9', 'it is held by a channel that is not paused', task);
    }
  }
  const paused = [...ready].filter((task) => state.places.of(task).paused);
  compare(state, 'what paused channels hold', held, new Set(paused));
}

function checkView(state: State, view: View, active: ReadonlySet<Task>): void {
  const wanted = new Set([...active].filter((task) => view.takes(state.places.of(task))));
  for (const order of view.orders()) {
    compare(state, `an order by ${nameOf(view)}`, new Set(order.tasks()), wanted);
    if (order.entries < wanted.size)
      broken(state, 'index', `an order counts ${order.entries} of ${wanted.size} entries`);
  }
}

function compare(state: State, where: string, found: ReadonlySet<Task>, wanted: ReadonlySet<Task>): void {
  for (const task of wanted) if (!found.has(task)) broken(state, 'G9', `it is ready and missing in ${where}`, task);
  for (const task of found) if (!wanted.has(task)) broken(state, 'index', `it has no business in ${where}`, task);
}

function nameOf(view: View): string {
  return typeof view.choice === 'string' ? view.choice : view.choice.name;
}

function checkTurns(state: State, active: ReadonlySet<Task>): void {
  const waiting = new Map<string, number>();
  const count = (key: string): void => {
    waiting.set(key, (waiting.get(key) ?? 0) + 1);
  };
  for (const { urgency, spec } of active) {
    count(String(urgency));
    count(`${urgency} ${spec.channel}`);
  }
  const compareCount = (key: string, counted: number): void => {
    const found = waiting.get(key) ?? 0;
    waiting.delete(key);
    if (found !== counted) broken(state, 'G12', `${found} tasks wait for a turn at ${show(key)}, counted ${counted}`);
  };
  for (const level of state.index.turns.all()) {
    compareCount(String(level.level), level.waiting);
    for (const turn of level.channels.values()) compareCount(`${level.level} ${turn.channel}`, turn.waiting);
  }
  for (const key of waiting.keys()) broken(state, 'G12', `tasks wait for a turn at ${show(key)}, which has no account`);
}
