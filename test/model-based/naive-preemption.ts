import { keptNeeds } from '../../src/model/index.js';
import { RESERVED } from './naive-reservations.js';
import type { Naive, NaiveAttempt, NaiveTask, NaiveWorker } from './naive.js';

export interface NaivePreemptionSettings {
  readonly graceMs: number;
  readonly minRunMs: number;
  readonly maxPerTask: number;
}

/** What is kept for a task that others make way for: all that it needs, and a slot of this worker. */
export interface NaiveRoom {
  readonly worker: string;
  until: number;
}

type Units = ReadonlyMap<string, number>;

/** Who makes way for whom, worked out from nothing each time. */
export class NaivePreemption {
  readonly rooms = new Map<NaiveTask, NaiveRoom>();
  /** How many were asked to make way so far. */
  asked = 0;

  constructor(
    private readonly model: Naive,
    readonly settings: NaivePreemptionSettings,
  ) {}

  /** How much of something is kept for anybody. */
  kept(what: string): number {
    let sum = 0;
    for (const [task, { worker }] of this.rooms) {
      if (worker === RESERVED && !what.startsWith('resource ')) continue;
      sum += unitsOf(this.model, task, worker).get(what) ?? 0;
    }
    return sum;
  }

  /** Whom the workers that ask may be given before all others, and who gets it. */
  next(asking: readonly NaiveWorker[]): readonly [NaiveTask, NaiveWorker] | undefined {
    const { model } = this;
    const byRank = [...this.rooms.keys()].sort(
      (x, y) => model.levelOf(x) - model.levelOf(y) || x.due - y.due || x.sequence - y.sequence,
    );
    for (const task of byRank) {
      const worker = asking.find((each) => this.fitsNow(task, each));
      if (worker !== undefined) return [task, worker];
    }
    return undefined;
  }

  /** Whether it could start there at this moment, with what is kept for it. */
  private fitsNow(task: NaiveTask, worker: NaiveWorker): boolean {
    const { model } = this;
    if (!model.suits(worker, task)) return false;
    const own = this.rooms.get(task)?.worker === worker.id;
    const slots = model.freeSlots(worker) - (own ? 0 : this.kept(`slot ${worker.id}`));
    const lacking = [...unitsOf(model, task, worker.id)].filter(([what, amount]) => {
      if (what.startsWith('slot ')) return false;
      const isKept = what.startsWith('resource ') || this.rooms.get(task)?.worker !== RESERVED;
      return heldUnits(model, what) + (isKept ? 0 : this.kept(what)) + amount > capacityOf(model, what);
    });
    return slots > 0 && lacking.length === 0 && this.hasTokens(task);
  }

  /** What goes on has paid its tokens when it started; whoever has room has those that are kept. */
  private hasTokens(task: NaiveTask): boolean {
    const { model } = this;
    const moment = this.rooms.has(task) ? model.tokensAt(task, () => 0) : model.tokensAt(task);
    return model.waiting(task) !== undefined || moment <= model.mono;
  }

  /** The moment has come at which what is kept for the task is given up, unless it has only to be claimed. */
  graceOver(task: NaiveTask): void {
    const room = this.rooms.get(task) as NaiveRoom;
    if ([...this.model.workers.values()].some((worker) => this.fitsNow(task, worker))) room.until = Infinity;
    else this.rooms.delete(task);
  }

  /** Nothing is kept any more for those for whom this holds. */
  forget(isLost: (task: NaiveTask, room: NaiveRoom) => boolean): void {
    for (const [task, room] of this.rooms) if (isLost(task, room)) this.rooms.delete(task);
  }

  forgetImpossible(): void {
    const { model } = this;
    this.forget((task, { worker }) => {
      if (worker === RESERVED ? !model.reservations.canBeMet(task) : !this.hasTokens(task)) return true;
      return [...unitsOf(model, task, worker)].some(([what, amount]) => {
        return !what.startsWith('slot ') && amount > capacityOf(model, what);
      });
    });
  }

  /** The worker has gone, or is another one. */
  forgetAt(id: string): void {
    this.forget((task, { worker }) => (worker === RESERVED ? !this.model.reservations.mayStart(task) : worker === id));
  }

  /** When there are tokens for those for whom something is kept that is free. */
  moments(): number[] {
    const { model } = this;
    const moments = [...this.rooms.keys()].flatMap((task) => {
      if (model.waiting(task) !== undefined) return [];
      const isFree = [...unitsOf(model, task, '')].every(([what, amount]) => {
        return what.startsWith('slot ') || heldUnits(model, what) + amount <= capacityOf(model, what);
      });
      return isFree ? [model.tokensAt(task, () => 0)] : [];
    });
    return moments.filter((moment) => moment > model.mono);
  }

  /** Those that may be asked, the least urgent first, among equals the latest started. */
  candidates(): NaiveAttempt[] {
    const { model, settings } = this;
    const able = model.holding().filter(({ task, life, waitsSince, stopBy }) => {
      const may = task.spec.preemptible && task.preemptions < settings.maxPerTask;
      return may && life === 'counts' && waitsSince === undefined && stopBy === undefined;
    });
    return able.sort(
      (x, y) =>
        model.levelOf(y.task) - model.levelOf(x.task) ||
        runsSince(y) - runsSince(x) ||
        y.task.sequence - x.task.sequence,
    );
  }

  /** Those that would like to be let in, the most urgent first, among equals the longest wait. */
  hungry(): NaiveTask[] {
    const { model } = this;
    const ready = model.unfinished().filter((task) => {
      const stands = !model.paused.has(task.spec.channel) || model.waiting(task) !== undefined;
      const isMadeWayFor = (this.rooms.get(task)?.worker ?? RESERVED) !== RESERVED;
      return task.state === 'ready' && stands && !isMadeWayFor;
    });
    const wait = (x: NaiveTask, y: NaiveTask): number => model.readyFrom(x) - model.readyFrom(y);
    return ready.sort(
      (x, y) => model.levelOf(x) - model.levelOf(y) || wait(x, y) || x.due - y.due || x.sequence - y.sequence,
    );
  }

  preempt(): void {
    const { model } = this;
    if (this.candidates().length === 0) return;
    model.passWall();
    for (const task of this.hungry()) {
      if (this.candidates().some((attempt) => model.levelOf(attempt.task) > model.levelOf(task))) this.makeRoom(task);
    }
  }

  /** What is reserved for the task itself is not in its way. */
  private makeRoom(task: NaiveTask): void {
    const reservation = this.rooms.get(task);
    this.rooms.delete(task);
    const room = this.roomFor(task) ?? reservation;
    if (room !== undefined) this.rooms.set(task, room);
  }

  private roomFor(task: NaiveTask): NaiveRoom | undefined {
    const { model } = this;
    const workers = [...model.workers.values()].filter((worker) => model.suits(worker, task));
    const isFree = (worker: NaiveWorker): boolean => model.freeSlots(worker) > this.kept(`slot ${worker.id}`);
    if (!this.hasTokens(task) || (model.canStart(task) && workers.some(isFree))) return undefined;
    const victims: NaiveAttempt[] = [];
    for (const attempt of this.candidates()) {
      const lacks = this.lacks(task, workers, victims);
      if (lacks.length === 0) break;
      if (model.levelOf(attempt.task) <= model.levelOf(task)) break;
      if (runsSince(attempt) + this.settings.minRunMs > model.mono || this.isWanted(attempt, task)) continue;
      if (lacks.some((what) => (heldBy(attempt).get(what) ?? 0) > 0)) victims.push(attempt);
    }
    if (this.lacks(task, workers, victims).length > 0) return undefined;
    // Whoever can be spared is, the most urgent first.
    for (const attempt of victims.toReversed()) {
      const others = victims.filter((each) => each !== attempt);
      if (this.lacks(task, workers, others).length === 0) victims.splice(victims.indexOf(attempt), 1);
    }
    const until = model.mono + this.settings.graceMs;
    const worker = workers.find((each) => this.shortOfSlots(each, victims) <= 0) as NaiveWorker;
    this.asked += victims.length;
    for (const attempt of victims) {
      attempt.stopBy = until;
      attempt.task.preemptions += 1;
    }
    return { worker: worker.id, until };
  }

  /** Who could start on the same worker if it gave way: the holder of the reservation, the most urgent, the longest wait. */
  inPlaceOf(attempt: NaiveAttempt): NaiveTask | undefined {
    const { model } = this;
    const reserved = model.reservations.reserved();
    const worker = model.workers.get(attempt.worker);
    const kept = keptNeeds(attempt.task.spec).map(({ resource }) => `resource ${resource}`);
    const freed = (what: string): number => (kept.includes(what) ? 0 : (heldBy(attempt).get(what) ?? 0));
    const level = Math.min(model.levelOf(attempt.task), ...this.lacking(kept).map((task) => model.levelOf(task)));
    return [...(reserved === undefined ? [] : [reserved]), ...this.hungry()].find((task) => {
      if (worker === undefined || model.levelOf(task) > level) return false;
      if (!model.suits(worker, task) || !this.hasTokens(task)) return false;
      const workers = [...model.workers.values()].filter((each) => model.suits(each, task));
      const isFree = (each: NaiveWorker): boolean => model.freeSlots(each) > this.kept(`slot ${each.id}`);
      if (task === reserved && workers.some((each) => this.fitsNow(task, each))) return false;
      if (model.canStart(task) && workers.some(isFree)) return false;
      const fits = [...unitsOf(model, task, worker.id)].every(([what, amount]) => {
        if (what.startsWith('slot ')) return model.freeSlots(worker) + 1 > this.kept(what);
        const keptForOthers = task === reserved && what.startsWith('resource ') ? 0 : this.kept(what);
        return heldUnits(model, what) - freed(what) + keptForOthers + amount <= capacityOf(model, what);
      });
      return fits;
    });
  }

  /** What the task would lack if these made way, and all that were asked before. */
  private lacks(task: NaiveTask, workers: readonly NaiveWorker[], victims: readonly NaiveAttempt[]): string[] {
    const { model } = this;
    const lacking: string[] = [];
    for (const [what, amount] of unitsOf(model, task, '')) {
      if (what.startsWith('slot ')) continue;
      const held = heldUnits(model, what) - sumOf(this.leaving(), what) - sumOf(victims, what);
      if (held + this.kept(what) + amount > capacityOf(model, what)) lacking.push(what);
    }
    if (workers.every((worker) => this.shortOfSlots(worker, victims) > 0)) {
      lacking.push(...workers.map(({ id }) => `slot ${id}`), 'a slot');
    }
    return lacking;
  }

  private shortOfSlots(worker: NaiveWorker, victims: readonly NaiveAttempt[]): number {
    const what = `slot ${worker.id}`;
    const free = this.model.freeSlots(worker) + sumOf(this.leaving(), what) + sumOf(victims, what) - this.kept(what);
    return 1 - free;
  }

  /** Those that were asked and have time left. */
  private leaving(): NaiveAttempt[] {
    return this.model.holding().filter(({ life, stopBy, waitsSince }) => {
      return life === 'counts' && waitsSince === undefined && stopBy !== undefined && stopBy >= this.model.mono;
    });
  }

  /** Whether somebody more urgent than the task lacks what the attempt holds. */
  private isWanted(attempt: NaiveAttempt, task: NaiveTask): boolean {
    const { model } = this;
    const held = attempt.task.spec.needs.map(({ resource }) => `resource ${resource}`);
    return this.lacking(held).some((other) => model.levelOf(other) < model.levelOf(task));
  }

  /** The ready tasks that lack any of these. */
  private lacking(resources: readonly string[]): NaiveTask[] {
    const { model } = this;
    return model.unfinished().filter(
      (task) =>
        task.state === 'ready' &&
        model.asksFor(task).some(({ resource, amount }) => {
          const lacks = model.held(resource) + amount > (model.capacities.get(resource) ?? 0);
          return lacks && resources.includes(`resource ${resource}`);
        }),
    );
  }

  /** When the next of those that may be asked has run for long enough, where somebody more urgent waits. */
  wakeAt(): number {
    const { model } = this;
    const most = Math.min(Infinity, ...this.hungry().map((task) => model.levelOf(task)));
    const young = this.candidates().filter((attempt) => model.levelOf(attempt.task) > most);
    const ripeAt = young.map((attempt) => runsSince(attempt) + this.settings.minRunMs);
    return Math.min(Infinity, ...ripeAt.filter((at) => at > model.mono));
  }
}

/** When it would have started had it never waited. */
function runsSince({ startedAt, waitedMs }: NaiveAttempt): number {
  return startedAt + waitedMs;
}

/** What a start of the task takes: units of resources, places under limits, and a slot of the worker. */
function unitsOf(model: Naive, task: NaiveTask, worker: string): Units {
  const { type, channel } = task.spec;
  return new Map([
    ...model.asksFor(task).map(({ resource, amount }) => [`resource ${resource}`, amount] as const),
    ...[`type ${type}`, `channel ${channel}`, 'global', `slot ${worker}`].map((what) => [what, 1] as const),
  ]);
}

function heldBy({ task, worker }: NaiveAttempt): Units {
  const { type, channel, needs } = task.spec;
  return new Map([
    ...needs.map(({ resource, amount }) => [`resource ${resource}`, amount] as const),
    ...[`type ${type}`, `channel ${channel}`, 'global', `slot ${worker}`].map((what) => [what, 1] as const),
  ]);
}

function sumOf(attempts: readonly NaiveAttempt[], what: string): number {
  return attempts.reduce((sum, attempt) => sum + (heldBy(attempt).get(what) ?? 0), 0);
}

function heldUnits(model: Naive, what: string): number {
  const [kind, ...rest] = what.split(' ');
  const name = rest.join(' ');
  if (kind === 'resource') return model.held(name);
  if (kind === 'global') return model.countHolding(() => true);
  if (kind === 'type') return model.countHolding(({ task }) => task.spec.type === name);
  return model.countHolding(({ task }) => task.spec.channel === name);
}

function capacityOf(model: Naive, what: string): number {
  const [kind, ...rest] = what.split(' ');
  const name = rest.join(' ');
  const { global, type, channel } = model.limits;
  if (kind === 'resource') return model.capacities.get(name) ?? 0;
  if (kind === 'global') return global;
  if (kind === 'type') return type.get(name) ?? Infinity;
  return channel.get(name) ?? channel.get('*') ?? Infinity;
}
