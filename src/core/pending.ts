import { compareFifo, compareNames, isFinal, type Task } from '../model/index.js';
import {
  Heap,
  Turn,
  agedKey,
  planFor,
  windowOf,
  type LevelTurns,
  type Plan,
  type StrategyChoice,
} from '../ready/index.js';
import type { State } from './state.js';
import { meanOf } from './execution.js';

/**
 * The unfinished tasks that do not run: the ready ones as the scheduler's own strategy would hand them out if all of them
 * could start at this moment, then those of paused channels, then the delayed by their time, then the waiting.
 *
 * A random choice is not foretold: its tasks are listed by sequence, and those of a strategy with a `choose` of its
 * own by rank.
 */
export function pending(state: State): Task[] {
  const ready: Task[] = [];
  const paused: Task[] = [];
  const delayed: Task[] = [];
  const waiting: Task[] = [];
  for (const task of state.table.all()) {
    if (isFinal(task.state) || task.state === 'running') continue;
    if (task.state === 'delayed') delayed.push(task);
    else if (task.state === 'waiting') waiting.push(task);
    else if (state.places.of(task).paused) paused.push(task);
    else ready.push(task);
  }
  return [
    ...inOrder(state, ready),
    ...paused.sort(compareFifo),
    ...delayed.sort((x, y) => untilDue(state, x) - untilDue(state, y) || compareFifo(x, y)),
    ...waiting.sort(compareFifo),
  ];
}

function inOrder(state: State, tasks: readonly Task[]): Task[] {
  const aging = state.index.aging;
  const overdue = tasks.filter((task) => state.mono - task.ready >= aging.maxWaitMs);
  const others = tasks.filter((task) => state.mono - task.ready < aging.maxWaitMs);
  overdue.sort((x, y) => x.ready - y.ready || compareFifo(x, y));
  const plan = planOf(state, state.index.main.choice);
  if (plan === undefined) return [...overdue, ...others.sort((x, y) => x.sequence - y.sequence)];
  if (plan.grouping === 'level') return [...overdue, ...byTurns(state, plan, overdue, others)];
  return [...overdue, ...others.sort((x, y) => boosted(state, plan, x, y) || byRank(plan, x, y))];
}

function planOf(state: State, choice: StrategyChoice): Plan | undefined {
  state.path.refresh();
  const wallOffset = state.origin.wall - state.origin.mono;
  return planFor(choice, { wallOffset, pathOf: (task) => state.path.pathOf(task) }, state.index.aging);
}

function byRank(plan: Plan, x: Task, y: Task): number {
  return compare(plan.first(x), plan.first(y)) || compare(plan.second(x), plan.second(y)) || compareFifo(x, y);
}

/** Ranks may be infinite, and infinities have no difference. */
function compare(x: number, y: number): number {
  return x < y ? -1 : x > y ? 1 : 0;
}

function boosted(state: State, plan: Plan, x: Task, y: Task): number {
  return plan.grouping === 'aged' ? effective(state, x.urgency, x.ready) - effective(state, y.urgency, y.ready) : 0;
}

function effective(state: State, level: number, since: number): number {
  const aging = state.index.aging;
  return agedKey({ level, window: windowOf(aging, since) }, aging.maxBoost, windowOf(aging, state.mono));
}

/** One level as it would be served, with copies of its channels' accounts. */
interface ServedLevel {
  readonly level: number;
  urgency: number;
  readonly queues: Heap<ServedChannel>;
}

interface ServedChannel {
  readonly turn: Turn;
  /** The next one last. */
  readonly tasks: Task[];
}

/** Plays the turns through on copies: nobody joins meanwhile, so that each channel only ever moves back. */
function byTurns(state: State, plan: Plan, overdue: readonly Task[], tasks: readonly Task[]): Task[] {
  const accounts = new Map<number, LevelTurns>();
  for (const turns of state.index.turns.all()) accounts.set(turns.level, turns);
  const levels = new Map<number, Map<string, ServedChannel>>();
  for (const task of [...tasks].sort((x, y) => byRank(plan, y, x))) {
    channelIn(state, levels, accounts.get(task.urgency), task).tasks.push(task);
  }
  for (const task of overdue) {
    const served = levels.get(task.urgency)?.get(task.spec.channel);
    served?.turn.charge(turnOf(state, task), 0);
  }
  const justServed = new Set(overdue.filter(isStart).map((task) => task.urgency));
  const queue = new Heap<ServedLevel>((x, y) => x.urgency - y.urgency || x.level - y.level);
  for (const [level, channels] of levels) {
    const since = justServed.has(level) ? state.mono : (accounts.get(level)?.agesFrom ?? state.mono);
    const queues = new Heap<ServedChannel>(
      (x, y) => x.turn.pass - y.turn.pass || compareNames(x.turn.channel, y.turn.channel),
    );
    queues.rebuild([...channels.values()]);
    queue.push({ level, urgency: effective(state, level, since), queues });
  }
  return serve(state, queue);
}

function serve(state: State, levels: Heap<ServedLevel>): Task[] {
  const order: Task[] = [];
  for (let level = levels.peek(); level !== undefined; level = levels.peek()) {
    const channel = level.queues.peek() as ServedChannel;
    const task = channel.tasks.pop() as Task;
    order.push(task);
    channel.turn.charge(turnOf(state, task), 0);
    if (channel.tasks.length > 0) level.queues.replaceTop(channel);
    else level.queues.pop();
    if (isStart(task)) level.urgency = effective(state, level.level, state.mono);
    if (level.queues.size > 0) levels.replaceTop(level);
    else levels.pop();
  }
  return order;
}

function channelIn(
  state: State,
  levels: Map<number, Map<string, ServedChannel>>,
  account: LevelTurns | undefined,
  task: Task,
): ServedChannel {
  let channels = levels.get(task.urgency);
  if (channels === undefined) {
    channels = new Map<string, ServedChannel>();
    levels.set(task.urgency, channels);
  }
  const name = task.spec.channel;
  let channel = channels.get(name);
  if (channel === undefined) {
    const turn = new Turn(name, state.places.at(task.place).channel.weight);
    turn.load(account?.channels.get(name)?.save() ?? []);
    // Whoever stands behind the level's virtual time competes at it.
    turn.charge(0, account?.virtualTime ?? 0);
    channel = { turn, tasks: [] };
    channels.set(name, channel);
  }
  return channel;
}

/** Whether a claim would start the task: an attempt that waits to go on has taken its turn already. */
function isStart({ attempt }: Task): boolean {
  return attempt === undefined;
}

/** What a claim would be charged. */
function turnOf(state: State, task: Task): number {
  if (!isStart(task)) return 0;
  if (state.charge === 'turns') return task.extra?.turnPaid === true ? 0 : 1;
  return Math.max(1, meanOf(state, task.spec.type) ?? 1);
}

function untilDue(state: State, task: Task): number {
  const { extra } = task;
  if (extra === undefined) return 0;
  return Math.max(extra.eta - state.wall, extra.backoffUntil - state.mono);
}
