import { InvalidConfigError, isFinal, type Task } from '../model/index.js';
import { Heap } from '../ready/index.js';
import { finite } from './resources.js';

/** What happens to a submission for which there is no room; `wait` is for whoever sends it, the core refuses. */
export type WhenFull = 'wait' | 'reject' | 'drop-oldest' | 'drop-lowest';

/** The ways to deal with too many pending tasks. */
const WHEN_FULL = ['wait', 'reject', 'drop-oldest', 'drop-lowest'] as const satisfies readonly WhenFull[];

/** How many tasks may be pending: unfinished and without an attempt, be they waiting, delayed, ready or held in a pause. */
export interface PressureSettings {
  readonly maxPending: number;
  readonly whenFull: WhenFull;
  /** What the number must have fallen to before the bound counts as reached anew. */
  readonly lowWater: number;
}

/** The bound as plain data. */
export interface PressureRecord {
  readonly maxPending: number | null;
  readonly whenFull: WhenFull;
  readonly lowWater: number | null;
  readonly saturated: boolean;
}

/** The bound that was recorded. */
export function pressureOf({ maxPending, whenFull, lowWater }: PressureRecord): PressureSettings {
  return { maxPending: maxPending ?? Infinity, whenFull, lowWater: lowWater ?? Infinity };
}

/** Without a bound. */
export const NO_BOUND: PressureSettings = { maxPending: Infinity, whenFull: 'wait', lowWater: Infinity };

/** How urgent a task is when it comes to dropping: its level, its deadline, and the FIFO order. */
export interface Standpoint {
  readonly level: number;
  readonly deadline: number;
  readonly due: number;
  readonly sequence: number;
}

interface Entry extends Standpoint {
  readonly task: Task;
}

/** Whether the task is unfinished and has no attempt: one that waits for another task has begun, and is not dropped. */
export function isPending({ state, attempt }: Task): boolean {
  return attempt === undefined && !isFinal(state);
}

/**
 * The bound on pending tasks, and who goes first when it is exceeded.
 *
 * Only with a policy that drops are the pending tasks kept in an order of their own. Nothing is taken out of it: an entry
 * whose task has started, ended or changed its urgency is dropped when it comes up.
 */
export class Pressure {
  /** Whether the bound was reached, and the low mark not since. */
  saturated = false;
  private settings: PressureSettings = NO_BOUND;
  private order: Heap<Entry> | undefined = undefined;
  private sweepAt = 64;

  get maxPending(): number {
    return this.settings.maxPending;
  }

  get whenFull(): WhenFull {
    return this.settings.whenFull;
  }

  get lowWater(): number {
    return this.settings.lowWater;
  }

  /** Whether there is anything to follow: a bound, or one that was there. */
  get isFollowed(): boolean {
    return this.saturated || this.settings.maxPending !== Infinity;
  }

  /** Sets the bound; these are all the tasks there are. */
  set(settings: PressureSettings, tasks: Iterable<Task>): void {
    this.settings = settings;
    this.order = undefined;
    if (settings.maxPending === Infinity) return;
    if (settings.whenFull === 'drop-oldest') this.order = new Heap<Entry>((x, y) => x.sequence - y.sequence);
    if (settings.whenFull === 'drop-lowest') this.order = new Heap<Entry>((x, y) => compareUrgency(y, x));
    this.order?.rebuild(Array.from(tasks).filter(isPending).map(entryOf));
    this.sweepAt = Math.max(64, 2 * (this.order?.size ?? 0));
  }

  /** The task has come in, has stopped running, or stands elsewhere by now. */
  enter(task: Task): void {
    const { order } = this;
    if (order === undefined || !isPending(task)) return;
    order.push(entryOf(task));
    if (order.size < this.sweepAt) return;
    // Sweeping each time the size has doubled keeps dead entries from piling up at constant cost.
    const seen = new Set<Task>();
    order.filter((entry) => isLive(entry) && !seen.has(entry.task) && seen.add(entry.task).size > 0);
    this.sweepAt = Math.max(64, 2 * order.size);
  }

  /** Who is dropped next; `undefined` when nobody is, or nothing is pending. */
  next(): Task | undefined {
    const { order } = this;
    if (order === undefined) return undefined;
    for (let top = order.peek(); top !== undefined; top = order.peek()) {
      if (isLive(top)) return top.task;
      order.pop();
    }
    return undefined;
  }

  /** The last of so many that would be dropped, one after another, once these have left. */
  nth(count: number, leaving: ReadonlySet<Task>): Standpoint | undefined {
    const taken = new Map<Task, Entry>();
    const passed = new Map<Task, Entry>();
    while (taken.size < count && this.next() !== undefined) {
      const entry = this.order?.pop() as Entry;
      (leaving.has(entry.task) ? passed : taken).set(entry.task, entry);
    }
    const entries = [...taken.values()];
    for (const entry of [...entries, ...passed.values()]) this.order?.push(entry);
    return entries.at(-1);
  }

  /** The tasks that would be dropped one after another; for checks, as it costs O(n log n). */
  all(): Set<Task> {
    return new Set(this.order?.items().flatMap((entry) => (isLive(entry) ? [entry.task] : [])));
  }

  /** The bound as plain data. */
  save(): PressureRecord {
    const { maxPending, whenFull, lowWater } = this.settings;
    return { maxPending: finite(maxPending), whenFull, lowWater: finite(lowWater), saturated: this.saturated };
  }

  /** Whether the pending tasks are kept in order. */
  get isOrdered(): boolean {
    return this.order !== undefined;
  }
}

function entryOf(task: Task): Entry {
  const { urgency: level, deadline, due, sequence } = task;
  return { task, level, deadline, due, sequence };
}

function isLive({ task, level, deadline }: Entry): boolean {
  return task.urgency === level && task.deadline === deadline && isPending(task);
}

/** The order of urgency, aging aside: smaller is more urgent. Deadlines may be infinite, which have no difference. */
export function compareUrgency(x: Standpoint, y: Standpoint): number {
  if (x.level !== y.level) return x.level - y.level;
  if (x.deadline !== y.deadline) return x.deadline < y.deadline ? -1 : 1;
  return x.due - y.due || x.sequence - y.sequence;
}

/** A bound as a user gives it; the low mark is half of it unless given. */
export function checkPressure(given: Partial<PressureSettings>): PressureSettings {
  const { maxPending = Infinity, whenFull = 'wait' } = given;
  if (maxPending !== Infinity && !(Number.isSafeInteger(maxPending) && maxPending > 0)) {
    const expected = 'a whole number of at least 1, or Infinity';
    throw new InvalidConfigError({ field: 'maxPending', value: maxPending, expected });
  }
  if (!WHEN_FULL.includes(whenFull)) {
    const expected = `one of ${WHEN_FULL.map((each) => `'${each}'`).join(', ')}`;
    throw new InvalidConfigError({ field: 'whenFull', value: whenFull, expected });
  }
  const { lowWater = Math.floor(maxPending / 2) } = given;
  if (maxPending === Infinity) return { maxPending, whenFull, lowWater: Infinity };
  if (!(Number.isSafeInteger(lowWater) && lowWater >= 0 && lowWater < maxPending)) {
    const expected = `a whole number below maxPending, which is ${String(maxPending)}`;
    throw new InvalidConfigError({ field: 'lowWater', value: lowWater, expected });
  }
  return { maxPending, whenFull, lowWater };
}
