import {
  keptNeeds,
  yieldedNeeds,
  type FailurePolicy,
  type Need,
  type TaskSpec,
  type TaskState,
  type RateLimit,
} from '../../src/model/index.js';
import { lastInTheWay, stuckTasks } from './naive-deadlock.js';
import { pick, type NaiveAging, type NaiveStrategy } from './naive-order.js';
import { NaivePreemption, type NaivePreemptionSettings } from './naive-preemption.js';
import { checkRoom, worst, type NaiveBound } from './naive-pressure.js';
import { Refused, endedBadly, hasEnded, isOver, waitsFor } from './naive-task.js';
import { NaiveRates } from './naive-rates.js';
import { NaiveReservations } from './naive-reservations.js';
import { NaiveTurns } from './naive-turns.js';

/*
 * The scheduler as its rules say it, and nothing else: plain arrays and maps, everything worked out anew whenever it
 * is asked for, no index, no cache. It is slow on purpose. Whatever it and the core disagree on is a bug in one of them.
 */

export interface Edge {
  readonly on: NaiveTask;
  onFailure: FailurePolicy;
  /** It ended badly and the dependant went on: should it be run again, nobody waits for it any more. */
  passed: boolean;
  /** Not the task's own dependency: its attempt waits for it, and goes on however it ends. */
  readonly awaited?: true;
}

export interface NaiveTask {
  readonly id: string;
  readonly sequence: number;
  readonly spec: TaskSpec;
  /** Epoch milliseconds: the later of ETA and submission. */
  readonly due: number;
  readonly estimateMs: number;
  state: TaskState;
  level: number;
  /** Epoch milliseconds before which it does not start; it is passed once, even if the clock is set back afterwards. */
  eta: number;
  edges: Edge[];
  /** When it last began to age; `undefined` while it does not. */
  readySince: number | undefined;
  /** The ready time gathered before that. */
  gatheredMs: number;
  backoffUntil: number;
  failures: number;
  losses: number;
  attempts: number;
  /** How often it was asked to make way. */
  preemptions: number;
  bypasses: number;
  /** The next start is paid for by one that was stopped. */
  turnPaid: boolean;
  endedAt: number;
  /** Beyond what is kept of finished tasks: gone as soon as nobody needs its result. */
  evicted: boolean;
}

export interface NaiveAttempt {
  readonly task: NaiveTask;
  readonly number: number;
  readonly worker: string;
  readonly startedAt: number;
  leaseEndsAt: number;
  /** When it began to run, or last went on after a wait. */
  runningSince: number;
  /** When it began to wait for another task, or gave way; `undefined` while it runs. */
  waitsSince: number | undefined;
  waitedMs: number;
  /** What it has reported as its true cost, by resource. */
  readonly costs: Map<string, number>;
  /** By when it should have made way for a more urgent task; `undefined` unless it was asked to. */
  stopBy: number | undefined;
  /** Whether a turn was counted for its start. */
  readonly charged: boolean;
  /** `abandoned`: it no longer counts, and holds what it took until it settles or its lease ends. */
  life: 'counts' | 'abandoned' | 'over';
}

export interface NaiveWorker {
  readonly id: string;
  readonly slots: number;
  readonly strategy: NaiveStrategy | undefined;
  readonly offers: ReadonlyMap<string, unknown>;
  readonly leaseMs: number;
  readonly retries: number;
}

export interface NaiveOptions {
  readonly wall: number;
  readonly strategy: NaiveStrategy;
  readonly aging: NaiveAging;
  readonly retain: { readonly count: number; readonly ageMs: number };
  readonly preemption: NaivePreemptionSettings;
  readonly sliceMs: number;
  readonly maxBypasses: number;
}

/** A dependency as it is asked for: the id of a task, or a position in the same batch. */
export interface Ref {
  readonly ref: string | number;
  readonly onFailure: FailurePolicy | undefined;
}

export interface NaiveSubmission {
  readonly spec: TaskSpec;
  readonly after: readonly Ref[];
}

const bySequence = (x: NaiveTask, y: NaiveTask): number => x.sequence - y.sequence;

const first = (dues: readonly Due[], now: number): Due | undefined =>
  dues.filter((due) => due.at <= now).sort((x, y) => x.at - y.at || x.kind - y.kind || x.sequence - y.sequence)[0];

export class Naive {
  readonly tasks = new Map<string, NaiveTask>();
  readonly tombstones = new Map<string, TaskState>();
  readonly attempts: NaiveAttempt[] = [];
  readonly workers = new Map<string, NaiveWorker>();
  readonly capacities = new Map<string, number>();
  readonly paused = new Set<string>();
  readonly limits = { global: Infinity, type: new Map<string, number>(), channel: new Map<string, number>() };
  readonly weights = new Map<string, number>();
  readonly durations = new Map<string, number[]>();
  readonly turns = new NaiveTurns(this);
  readonly preemption: NaivePreemption;
  readonly reservations: NaiveReservations;
  /** Workers that something was ever started for, the latest last. */
  served: string[] = [];
  bound: NaiveBound = { maxPending: Infinity, whenFull: 'wait' };
  /** By `resource name` and `type name`. */
  readonly rates = new NaiveRates(() => this.mono);
  readonly origin: number;
  wall: number;
  mono = 0;
  strategy: NaiveStrategy;
  aging: NaiveAging;
  nextSequence = 1;
  private kept: NaiveTask[] = [];
  private breaking = false;
  private fallout: Fallout[] = [];
  /** Effective levels as of the last {@link relevel}: what turns are counted at. */
  private levels = new Map<NaiveTask, number>();

  constructor(readonly options: NaiveOptions) {
    this.origin = options.wall;
    this.wall = options.wall;
    this.strategy = options.strategy;
    this.aging = options.aging;
    this.preemption = new NaivePreemption(this, options.preemption);
    this.reservations = new NaiveReservations(this, options.maxBypasses);
    this.turns.follow();
  }

  // --- what follows from the present state

  unfinished(): NaiveTask[] {
    return [...this.tasks.values()].filter((task) => !isOver(task)).sort(bySequence);
  }

  unstarted(): NaiveTask[] {
    return this.unfinished().filter((task) => !this.hasBegun(task));
  }

  /** The attempt of the task that waits for another one, or to go on after that. */
  waiting(task: NaiveTask): NaiveAttempt | undefined {
    if (task.attempts === 0 || task.state === 'running') return undefined;
    return this.attempts.find((each) => each.task === task && each.life === 'counts' && each.waitsSince !== undefined);
  }

  /** Whether the task has an attempt that counts, be it that it runs or that it waits. */
  private hasBegun(task: NaiveTask): boolean {
    return this.attempts.some((each) => each.task === task && each.life === 'counts');
  }

  /** What the task has to be given before it starts, or goes on. */
  asksFor(task: NaiveTask): readonly Need[] {
    return this.waiting(task) === undefined ? task.spec.needs : yieldedNeeds(task.spec);
  }

  /** Effective levels: also whoever keeps, while it waits, what a more urgent ready task lacks is as urgent as that. */
  effectiveLevels(): Map<NaiveTask, number> {
    const keepers = this.unfinished().filter((task) => this.waiting(task) !== undefined);
    if (keepers.length === 0) return this.inherited((task) => task.level);
    const levels = new Map(this.unfinished().map((task) => [task, task.level]));
    for (;;) {
      const before = [...levels.values()].join();
      for (const [task, level] of this.inherited((each) => levels.get(each) as number)) levels.set(task, level);
      for (const keeper of keepers) {
        for (const { resource } of keptNeeds(keeper.spec)) {
          for (const other of this.unfinished().filter(({ state }) => state === 'ready')) {
            const amount = this.asksFor(other).find((need) => need.resource === resource)?.amount ?? 0;
            if (amount === 0 || this.held(resource) + amount <= (this.capacities.get(resource) ?? 0)) continue;
            levels.set(keeper, Math.min(levels.get(keeper) as number, levels.get(other) as number));
          }
        }
      }
      if ([...levels.values()].join() === before) return levels;
    }
  }

  /** The smallest of a task's own value and those of the unfinished tasks that wait for it, through any number of steps. */
  inherited(own: (task: NaiveTask) => number): Map<NaiveTask, number> {
    const values = new Map(this.unfinished().map((task) => [task, own(task)]));
    for (let changed = true; changed;) {
      changed = false;
      for (const [task, value] of values) {
        for (const { on, passed } of task.edges) {
          const before = values.get(on);
          if (passed || before === undefined || before <= value) continue;
          values.set(on, value);
          changed = true;
        }
      }
    }
    return values;
  }

  /** The longest sum of estimates along unfinished dependants, the task's own included. */
  path(task: NaiveTask): number {
    const dependants = this.unfinished().filter((other) => waitsFor(other, task));
    return task.estimateMs + Math.max(0, ...dependants.map((other) => this.path(other)));
  }

  /** Ready since, minus the ready time gathered before. */
  readyFrom(task: NaiveTask): number {
    return (task.readySince ?? this.mono) - task.gatheredMs;
  }

  holding(): NaiveAttempt[] {
    return this.attempts.filter((attempt) => attempt.life !== 'over');
  }

  held(resource: string): number {
    const amounts = this.holding().map(({ task, waitsSince }) => {
      const needs = waitsSince === undefined ? task.spec.needs : keptNeeds(task.spec);
      return needs.find((need) => need.resource === resource)?.amount;
    });
    return amounts.reduce<number>((sum, amount) => sum + (amount ?? 0), 0);
  }

  /** Those that hold a slot and places under limits; who waits for another task does not. */
  countHolding(which: (attempt: NaiveAttempt) => boolean): number {
    return this.holding().filter((attempt) => attempt.waitsSince === undefined && which(attempt)).length;
  }

  /** Whether the task could start if a worker asked for it. */
  canStart(task: NaiveTask): boolean {
    return this.lacksTokensOnly(task) && (this.waiting(task) !== undefined || this.tokensAt(task) <= this.mono);
  }

  /** When there are enough tokens for the task, beside what is kept for others. */
  tokensAt({ spec }: NaiveTask, kept = (what: string): number => this.preemption.kept(what)): number {
    const moments = spec.needs.map(({ resource, amount }) =>
      this.rates.soonest(`resource ${resource}`, amount + kept(`resource ${resource}`)),
    );
    return Math.max(this.rates.soonest(`type ${spec.type}`, 1 + kept(`type ${spec.type}`)), ...moments);
  }

  /** Whether the task could start, as far as nothing but tokens is concerned. */
  private lacksTokensOnly(task: NaiveTask): boolean {
    const kept = (resource: string): number => this.preemption.kept(`resource ${resource}`);
    return (
      this.isLetIn(task) &&
      this.asksFor(task).every(
        ({ resource, amount }) => this.held(resource) + kept(resource) + amount <= (this.capacities.get(resource) ?? 0),
      )
    );
  }

  /** Whether it could start, as far as nothing but units and tokens of resources are concerned. */
  lacksResourcesOnly(task: NaiveTask): boolean {
    const { type } = task.spec;
    const cost = 1 + this.preemption.kept(`type ${type}`);
    return this.isLetIn(task) && (this.waiting(task) !== undefined || this.rates.has(`type ${type}`, cost));
  }

  private isLetIn(task: NaiveTask): boolean {
    const { spec } = task;
    const kept = (what: string): number => this.preemption.kept(what);
    const { global, type, channel } = this.limits;
    return (
      task.state === 'ready' &&
      (!this.paused.has(spec.channel) || this.waiting(task) !== undefined) &&
      this.countHolding(() => true) + kept('global') + 1 <= global &&
      this.countHolding((each) => each.task.spec.type === spec.type) + kept(`type ${spec.type}`) + 1 <=
        (type.get(spec.type) ?? Infinity) &&
      this.countHolding((each) => each.task.spec.channel === spec.channel) + kept(`channel ${spec.channel}`) + 1 <=
        (channel.get(spec.channel) ?? channel.get('*') ?? Infinity)
    );
  }

  suits(worker: NaiveWorker, task: NaiveTask): boolean {
    const attempt = this.waiting(task);
    if (attempt !== undefined) return attempt.worker === worker.id;
    return task.spec.capabilities.every(([name, wanted]) => {
      const offered = worker.offers.get(name);
      return Array.isArray(offered) ? offered.includes(wanted) : offered === wanted;
    });
  }

  /** Whom this worker may be given next: one task, or with weighted random those that the draw allows. */
  next(worker: NaiveWorker, draw: () => number, shapeKey: (task: NaiveTask) => string): NaiveTask[] {
    if (this.freeSlots(worker) <= 0) return [];
    const first = this.preemption.next([worker]);
    if (first !== undefined) return [first[0]];
    if (!this.hasSlot(worker)) return [];
    const eligible = this.unfinished().filter((task) => this.canStart(task) && this.suits(worker, task));
    if (eligible.length === 0) return [];
    return pick(this, worker.strategy ?? this.strategy, eligible, draw, shapeKey);
  }

  /** Whom any of the workers that have a free slot may be given next, by the scheduler's own strategy. */
  nextForAny(draw: () => number, shapeKey: (task: NaiveTask) => string): NaiveTask[] {
    const free = [...this.workers.values()].filter((worker) => this.hasSlot(worker));
    const suited = (task: NaiveTask): boolean => free.some((worker) => this.suits(worker, task));
    const eligible = this.unfinished().filter((task) => this.canStart(task) && suited(task));
    return eligible.length === 0 ? [] : pick(this, this.strategy, eligible, draw, shapeKey);
  }

  /** Whether the worker has a slot that is kept for nobody. */
  private hasSlot(worker: NaiveWorker): boolean {
    return this.freeSlots(worker) > this.preemption.kept(`slot ${worker.id}`);
  }

  freeSlots({ id, slots }: NaiveWorker): number {
    return slots - this.countHolding(({ worker }) => worker === id);
  }

  /** Who should get the task: the one with the most free slots, or the one that was not served for longest. */
  workerFor(task: NaiveTask, balance: 'least-loaded' | 'round-robin'): NaiveWorker {
    const able = [...this.workers.values()].filter((worker) => this.hasSlot(worker) && this.suits(worker, task));
    const runs = ({ id }: NaiveWorker): number => this.countHolding(({ worker }) => worker === id);
    if (balance === 'round-robin') {
      able.sort((x, y) => this.served.indexOf(x.id) - this.served.indexOf(y.id));
    } else {
      able.sort((x, y) => {
        const [free, other] = [this.freeSlots(x), this.freeSlots(y)];
        return free === other ? runs(x) - runs(y) : other - free;
      });
    }
    return able[0] as NaiveWorker;
  }

  /** When something happens by itself on each clock, or a worker that would be refused now would be granted a task. */
  wake(): { wall: number; mono: number } {
    return {
      wall: Math.min(Infinity, ...this.wallDues().map((due) => due.at)),
      mono: Math.min(this.preemption.wakeAt(), ...this.monoDues().map((due) => due.at), ...this.tokenMoments()),
    };
  }

  private tokenMoments(): number[] {
    if (!this.rates.any) return [];
    const waiting = this.unfinished().filter((task) => this.lacksTokensOnly(task) && this.waiting(task) === undefined);
    const kept = this.preemption.moments();
    return [...this.workers.values()]
      .flatMap((worker) => {
        if (this.countHolding((attempt) => attempt.worker === worker.id) >= worker.slots) return [];
        const moments = waiting.filter((task) => this.suits(worker, task)).map((task) => this.tokensAt(task));
        return moments.some((moment) => moment <= this.mono) ? [] : moments;
      })
      .concat(kept);
  }

  // --- commands

  submit(spec: TaskSpec, after: readonly Ref[]): void {
    this.submitAll([{ spec, after }]);
  }

  submitAll(batch: readonly NaiveSubmission[]): void {
    const first = this.nextSequence;
    const ids = batch.map(({ spec }, position) => spec.id ?? `task-${first + position}`);
    if (new Set(ids).size < ids.length || ids.some((id) => this.tasks.has(id))) throw new Refused('duplicate');
    const refs = batch.map(({ after }) =>
      after.map(({ ref }) => (typeof ref === 'number' ? (ids[ref] as string) : ref)),
    );
    for (const ref of refs.flat()) {
      if (!ids.includes(ref) && !this.tasks.has(ref) && !this.tombstones.has(ref)) throw new Refused('unknown');
    }
    for (const { resource, amount } of batch.flatMap(({ spec }) => spec.needs)) {
      const burst = this.rates.limit(`resource ${resource}`)?.burst ?? Infinity;
      if (amount > Math.min(burst, this.capacities.get(resource) ?? 0)) throw new Refused('unschedulable');
    }
    // Whoever waits for nobody in the batch comes first, then whoever they free, until none is left.
    const order = ids.filter((_, position) => !(refs[position] as string[]).some((ref) => ids.includes(ref)));
    for (let next = 0; next < order.length; next += 1) {
      for (const [position, id] of ids.entries()) {
        const inside = (refs[position] as string[]).filter((ref) => ids.includes(ref));
        const freed =
          inside.includes(order[next] as string) && inside.every((ref) => order.slice(0, next + 1).includes(ref));
        if (freed && !order.includes(id)) order.push(id);
      }
    }
    if (order.length < ids.length) throw new Refused('cycle');
    const room = checkRoom(this, batch);
    this.nextSequence += batch.length;
    for (const id of order) {
      // One that ended on arrival may be gone already: only its end is known then.
      this.forget();
      const position = ids.indexOf(id);
      this.takeIn(id, first + position, batch[position] as NaiveSubmission, refs[position] as string[]);
    }
    while (this.unstarted().length > room) this.end(worst(this)[0] as NaiveTask, 'cancelled');
  }

  private takeIn(id: string, sequence: number, { spec, after }: NaiveSubmission, refs: readonly string[]): void {
    const eta = spec.delayMs > 0 ? Math.max(spec.eta, this.wall + spec.delayMs) : spec.eta;
    const past = this.durations.get(spec.type) ?? [];
    const mean = spec.type === '' || past.length === 0 ? 1 : past.reduce((sum, ms) => sum + ms, 0) / past.length;
    const task: NaiveTask = {
      ...{ id, sequence, spec, due: Math.max(eta, this.wall), estimateMs: spec.estimateMs ?? mean },
      eta: eta > this.wall ? eta : -Infinity,
      ...{ state: 'waiting', level: spec.level, edges: [], readySince: undefined, gatheredMs: 0 },
      ...{ backoffUntil: -Infinity, failures: 0, losses: 0, attempts: 0, endedAt: 0, evicted: false },
      ...{ preemptions: 0, bypasses: 0, turnPaid: false },
    };
    this.tasks.set(id, task);
    let verdict: FailurePolicy = 'run';
    for (const [at, ref] of refs.entries()) {
      const onFailure = after[at]?.onFailure ?? spec.onDependencyFailure;
      const on = this.tasks.get(ref);
      if (on !== undefined && !task.edges.some((edge) => edge.on === on))
        task.edges.push({ on, onFailure, passed: endedBadly(on.state) });
      const ended = on?.state ?? this.tombstones.get(ref);
      if (ended !== undefined && endedBadly(ended) && verdict === 'run') verdict = onFailure;
    }
    if (verdict === 'run') {
      this.relevel();
      this.passGates(task);
    } else {
      this.end(task, verdict === 'fail' ? 'failed' : 'skipped');
    }
  }

  /** Starts the task for the worker; that it may is for the caller to have found out by {@link next}. */
  start(worker: NaiveWorker, task: NaiveTask): void {
    const passed = this.waiting(task) === undefined ? this.reservations.passedOverBy(task) : [];
    this.begin(worker, task);
    this.reservations.passOver(passed);
  }

  private begin(worker: NaiveWorker, task: NaiveTask): void {
    this.preemption.rooms.delete(task);
    this.turns.starts(this.levelOf(task));
    this.stopAging(task);
    const attempt = this.waiting(task);
    task.state = 'running';
    if (attempt !== undefined) {
      this.waitOver(attempt);
      this.relevel();
      return;
    }
    this.served = [...this.served.filter((id) => id !== worker.id), worker.id];
    task.attempts += 1;
    task.bypasses = 0;
    this.attempts.push({
      ...{ task, number: task.attempts, worker: worker.id, startedAt: this.mono, life: 'counts' as const },
      runningSince: this.mono,
      ...{ waitsSince: undefined, waitedMs: 0, stopBy: undefined, charged: this.turns.counted },
      costs: new Map(task.spec.needs.map(({ resource, amount }) => [resource, amount])),
      leaseEndsAt: this.mono + (task.spec.leaseMs ?? worker.leaseMs),
    });
    for (const { resource, amount } of task.spec.needs) this.rates.take(`resource ${resource}`, amount);
    this.rates.take(`type ${task.spec.type}`, 1);
    this.turns.started(this.levelOf(task), task.spec.channel, task.turnPaid ? 0 : 1);
    if (this.turns.counted) task.turnPaid = false;
    this.relevel();
  }

  /** Lets the attempt wait; `false` where there is nothing to wait for. */
  waitFor(attempt: NaiveAttempt, id: string): void {
    if (attempt.life !== 'counts') throw new Refused('stale');
    if (attempt.waitsSince !== undefined) throw new Refused('waits already');
    const { task } = attempt;
    const on = this.tasks.get(id);
    if (on === undefined && !this.tombstones.has(id)) throw new Refused('unknown');
    if (on === undefined || isOver(on)) return;
    if (this.comesAfter(on, task)) throw new Refused('circle');
    const before = task.edges;
    task.edges = [...before, { on, onFailure: 'run', passed: false, awaited: true }];
    task.state = 'waiting';
    attempt.waitsSince = this.mono;
    if (stuckTasks(this).length > 0) {
      task.edges = before;
      task.state = 'running';
      attempt.waitsSince = undefined;
      throw new Refused('deadlock');
    }
    this.preemption.forgetImpossible();
    this.relevel();
  }

  /** The attempt is at a yield. */
  atYield(attempt: NaiveAttempt): void {
    if (attempt.life !== 'counts') throw new Refused('stale');
    if (attempt.waitsSince !== undefined) throw new Refused('waits already');
    if (attempt.stopBy !== undefined && this.mono <= attempt.stopBy) {
      if (keptNeeds(attempt.task.spec).length === 0) this.giveWay(attempt);
      return;
    }
    if (this.mono - attempt.runningSince < this.options.sliceMs) return;
    const next = this.preemption.inPlaceOf(attempt);
    if (next === undefined) return;
    this.giveWay(attempt, () => {
      if (next === this.reservations.reserved()) return;
      this.preemption.rooms.set(next, { worker: attempt.worker, until: Infinity });
    });
  }

  private giveWay(attempt: NaiveAttempt, then: () => void = () => undefined): void {
    attempt.stopBy = undefined;
    attempt.waitsSince = this.mono;
    attempt.task.state = 'waiting';
    this.preemption.forgetImpossible();
    this.relevel();
    then();
    this.passGates(attempt.task);
  }

  setCapacity(name: string, units: number): void {
    this.capacities.set(name, units);
    this.preemption.forgetImpossible();
    this.relevel();
    this.breakDeadlocks([]);
  }

  private waitOver(attempt: NaiveAttempt): void {
    attempt.task.edges = attempt.task.edges.filter(({ awaited }) => awaited !== true);
    attempt.waitedMs += this.mono - (attempt.waitsSince ?? this.mono);
    attempt.runningSince = this.mono;
    attempt.waitsSince = undefined;
  }

  /** The attempt no longer counts; one that waited leaves the line, and goes on to hold nothing but what it kept. */
  private stop(attempt: NaiveAttempt, life: 'abandoned' | 'over'): void {
    const { task, waitsSince } = attempt;
    if (waitsSince !== undefined) {
      this.preemption.rooms.delete(task);
      this.stopAging(task);
      this.waitOver(attempt);
      attempt.waitsSince = waitsSince;
      task.state = 'running';
    }
    attempt.life = life;
    this.relevel();
  }

  /** It will run again, and needs again what it gave back. */
  private goAgain(task: NaiveTask): void {
    this.passGates(task);
    this.breakDeadlocks([task]);
  }

  private breakDeadlocks(around: readonly NaiveTask[]): void {
    if (this.breaking) return;
    this.breaking = true;
    for (let attempt = lastInTheWay(this, around); attempt !== undefined; attempt = lastInTheWay(this, around)) {
      this.stop(attempt, 'abandoned');
      this.fail(attempt, true);
    }
    this.breaking = false;
  }

  settle(attempt: NaiveAttempt, outcome: 'succeeded' | 'failed' | 'failed for good' | 'released' | 'lost'): void {
    if (attempt.life !== 'counts') {
      attempt.life = 'over';
      this.relevel();
      throw new Refused('stale');
    }
    const makesWay = outcome === 'released' || (outcome.startsWith('failed') && this.mono <= (attempt.stopBy ?? -1));
    const ranMs = (attempt.waitsSince ?? this.mono) - attempt.startedAt - attempt.waitedMs;
    this.stop(attempt, 'over');
    const { task } = attempt;
    if (outcome === 'succeeded') {
      this.durations.set(task.spec.type, [...(this.durations.get(task.spec.type) ?? []), ranMs]);
      this.end(task, 'completed');
    } else if (makesWay) {
      if (attempt.stopBy !== undefined && attempt.charged) task.turnPaid = true;
      this.goAgain(task);
    } else if (outcome === 'lost') {
      task.losses += 1;
      if (task.losses >= 3) this.end(task, 'failed');
      else this.goAgain(task);
    } else {
      this.fail(attempt, outcome === 'failed');
    }
  }

  extend(attempt: NaiveAttempt, leaseMs: number): void {
    if (attempt.life !== 'counts') throw new Refused('stale');
    if (attempt.leaseEndsAt !== Infinity) attempt.leaseEndsAt = this.mono + leaseMs;
  }

  report(attempt: NaiveAttempt, resource: string, cost: number): void {
    if (attempt.life !== 'counts' || this.rates.limit(`resource ${resource}`) === undefined)
      throw new Refused('report');
    this.rates.take(`resource ${resource}`, cost - (attempt.costs.get(resource) ?? 0));
    attempt.costs.set(resource, cost);
    this.preemption.forgetImpossible();
  }

  /** Whoever started while there was no rate has paid nothing that could be given back. */
  setRate(scope: 'resource' | 'type', key: string, rate: RateLimit | undefined): void {
    const isFirst = this.rates.limit(`${scope} ${key}`) === undefined;
    this.rates.set(`${scope} ${key}`, rate);
    if (scope === 'resource' && isFirst) for (const { costs } of this.attempts) costs.set(key, 0);
  }

  closeResource(attempt: NaiveAttempt, resource: string, forMs: number): void {
    if (attempt.life !== 'counts') throw new Refused('stale');
    this.rates.close(`resource ${resource}`, this.mono + forMs);
    this.preemption.forgetImpossible();
  }

  cancel(id: string): void {
    const task = this.known(id);
    if (isOver(task)) throw new Refused('over');
    for (const attempt of this.attempts)
      if (attempt.task === task && attempt.life === 'counts') this.stop(attempt, 'abandoned');
    this.end(task, 'cancelled');
  }

  setPriority(id: string, level: number): void {
    const task = this.known(id);
    if (isOver(task)) throw new Refused('over');
    task.level = level;
    this.relevel();
  }

  addDependency(id: string, dependencyId: string, onFailure: FailurePolicy): void {
    const task = this.known(id);
    if (isOver(task) || this.hasBegun(task)) throw new Refused('state');
    const on = this.tasks.get(dependencyId);
    const ended = on?.state ?? this.tombstones.get(dependencyId);
    if (ended === undefined) throw new Refused('unknown');
    if (on !== undefined) {
      if (this.comesAfter(on, task)) throw new Refused('cycle');
      const known = task.edges.find((edge) => edge.on === on && (isOver(on) || !edge.passed));
      if (known !== undefined) {
        if (!isOver(on)) known.onFailure = onFailure;
        return;
      }
      const before = task.edges;
      task.edges = [...task.edges.filter((edge) => edge.on !== on), { on, onFailure, passed: endedBadly(on.state) }];
      if (!isOver(on) && stuckTasks(this).length > 0) {
        task.edges = before;
        throw new Refused('deadlock');
      }
    }
    if (hasEnded(ended)) {
      if (ended !== 'completed' && onFailure !== 'run') this.end(task, onFailure === 'fail' ? 'failed' : 'skipped');
      return;
    }
    this.preemption.rooms.delete(task);
    this.stopAging(task);
    task.state = 'waiting';
    this.relevel();
  }

  removeDependency(id: string, dependencyId: string): void {
    const task = this.known(id);
    const kept = task.edges.filter(({ on }) => on.id !== dependencyId);
    if (isOver(task) || this.hasBegun(task) || kept.length === task.edges.length) throw new Refused('no edge');
    task.edges = kept;
    this.relevel();
    if (task.state === 'waiting') this.passGates(task);
  }

  retry(id: string): void {
    const task = this.known(id);
    if (task.state !== 'failed') throw new Refused('state');
    Object.assign(task, { state: 'waiting', failures: 0, losses: 0, backoffUntil: -Infinity, evicted: false });
    this.kept = this.kept.filter((each) => each !== task);
    this.relevel();
    this.passGates(task);
  }

  pause(channel: string): void {
    this.preemption.forget((task) => task.spec.channel === channel && this.waiting(task) === undefined);
    for (const task of this.unfinished())
      if (task.spec.channel === channel && this.waiting(task) === undefined) this.stopAging(task);
    this.paused.add(channel);
  }

  resume(channel: string): void {
    if (!this.paused.delete(channel)) return;
    for (const task of this.unfinished()) {
      if (task.state !== 'ready' || task.spec.channel !== channel || this.waiting(task) !== undefined) continue;
      this.startAging(task);
    }
  }

  setStrategy(strategy: NaiveStrategy): void {
    this.strategy = strategy;
    this.turns.follow();
  }

  attach(worker: NaiveWorker): void {
    this.workers.set(worker.id, worker);
    this.preemption.forgetAt(worker.id);
    this.turns.follow();
  }

  detach(id: string): void {
    this.workers.delete(id);
    this.served = this.served.filter((each) => each !== id);
    this.preemption.forgetAt(id);
    this.turns.follow();
  }

  /** Whatever is due by now happens, the wall clock's first, each clock's in the order in which it came due. */
  tick(): void {
    this.passWall();
    for (let due = first(this.monoDues(), this.mono); due !== undefined; due = first(this.monoDues(), this.mono)) {
      due.happen();
    }
    this.trim();
  }

  /** What is due by the wall clock happens, also at a claim that finds a free slot. */
  passWall(): void {
    for (let due = first(this.wallDues(), this.wall); due !== undefined; due = first(this.wallDues(), this.wall)) {
      due.happen();
    }
  }

  /** To be called after every command: finished tasks beyond what is kept go, unless a result is still needed. */
  forget(): void {
    for (const [id, task] of this.tasks) {
      if (!task.evicted || this.unfinished().some((other) => other.edges.some(({ on }) => on === task))) continue;
      this.tasks.delete(id);
      this.tombstones.set(id, task.state);
    }
  }

  // --- how tasks move

  levelOf(task: NaiveTask): number {
    return this.levels.get(task) ?? task.level;
  }

  private known(id: string): NaiveTask {
    const task = this.tasks.get(id);
    if (task === undefined) throw new Refused('unknown');
    return task;
  }

  private comesAfter(task: NaiveTask, other: NaiveTask): boolean {
    return task === other || task.edges.some(({ on }) => this.comesAfter(on, other));
  }

  private passGates(task: NaiveTask): void {
    if (task.edges.some(({ on }) => waitsFor(task, on))) return;
    if (this.waiting(task) !== undefined) {
      task.state = 'ready';
      this.startAging(task);
      this.relevel();
      return;
    }
    if (task.spec.expires <= this.wall) this.end(task, 'cancelled');
    else if (task.eta > this.wall || task.backoffUntil > this.mono) task.state = 'delayed';
    else {
      task.state = 'ready';
      task.eta = -Infinity;
      task.backoffUntil = -Infinity;
      if (!this.paused.has(task.spec.channel)) this.startAging(task);
      this.relevel();
    }
  }

  private startAging(task: NaiveTask): void {
    this.turns.joins(this.levelOf(task), task.spec.channel);
    task.readySince = this.mono;
  }

  private stopAging(task: NaiveTask): void {
    if (task.readySince !== undefined) task.gatheredMs += this.mono - task.readySince;
    task.readySince = undefined;
  }

  private fail(attempt: NaiveAttempt, retryable: boolean): void {
    const { task } = attempt;
    const { retry } = task.spec;
    task.failures += 1;
    const allowed = retry?.attempts ?? 1 + (this.workers.get(attempt.worker)?.retries ?? 0);
    if (!retryable || task.failures >= allowed) {
      this.end(task, 'failed');
      return;
    }
    const backoff = retry?.backoff ?? { kind: 'fixed', baseMs: 0 };
    if (backoff.kind === 'custom') throw new Error('The model knows no custom backoff.');
    const waitMs = backoff.baseMs * (backoff.kind === 'exponential' ? backoff.factor ** (task.failures - 1) : 1);
    task.backoffUntil = this.mono + Math.min(waitMs, retry?.maxDelayMs ?? Infinity);
    this.goAgain(task);
  }

  /** Ends a task, and whoever follows from that: what ends on the way waits for its turn in the queue. */
  private end(ended: NaiveTask, how: TaskState): void {
    this.finish(ended, how);
    if (this.fallout.length > 1) return;
    for (let next = 0; next < this.fallout.length; next += 1) {
      const { met, doomed } = this.fallout[next] as Fallout;
      for (const task of met) if (task.state === 'waiting') this.passGates(task);
      for (const [task, state] of doomed) if (task.state === 'waiting') this.finish(task, state);
    }
    this.fallout = [];
  }

  private finish(task: NaiveTask, state: TaskState): void {
    this.preemption.rooms.delete(task);
    this.stopAging(task);
    task.state = state;
    task.endedAt = this.mono;
    this.kept.push(task);
    this.trim();
    const met: NaiveTask[] = [];
    const doomed: [NaiveTask, TaskState][] = [];
    for (const other of this.unfinished()) {
      const edge = other.edges.find(({ on, passed }) => on === task && !passed);
      if (edge === undefined) continue;
      edge.passed = endedBadly(state);
      if (edge.passed && edge.onFailure !== 'run')
        doomed.push([other, edge.onFailure === 'fail' ? 'failed' : 'skipped']);
      else if (!other.edges.some(({ on }) => waitsFor(other, on))) met.push(other);
    }
    task.edges = [];
    this.relevel();
    this.fallout.push({ met, doomed });
  }

  private trim(): void {
    const { count, ageMs } = this.options.retain;
    while (this.kept.length > count || this.mono - (this.kept[0]?.endedAt ?? this.mono) >= ageMs) {
      const oldest = this.kept.shift();
      if (oldest === undefined) return;
      oldest.evicted = true;
    }
  }

  /** Works out all effective levels anew: a ready task whose level has changed takes its turns at the new one. */
  private relevel(): void {
    const before = this.levels;
    const after = this.effectiveLevels();
    for (const [task, level] of after) {
      const old = before.get(task) ?? task.spec.level;
      if (level !== old && task.readySince !== undefined) {
        // While it moves it stands at neither level.
        const since = task.readySince;
        task.readySince = undefined;
        before.set(task, old);
        this.turns.joins(level, task.spec.channel);
        task.readySince = since;
      }
      before.set(task, level);
    }
    this.levels = after;
  }

  private wallDues(): Due[] {
    const dues: Due[] = [];
    for (const task of this.unfinished()) {
      const { sequence } = task;
      const expire = (): void => {
        this.end(task, 'cancelled');
      };
      // A task that runs at its expiry has started in time.
      if (!this.hasBegun(task)) dues.push({ at: task.spec.expires, kind: 0, sequence, happen: expire });
      if (task.state === 'delayed' && task.eta > -Infinity && task.backoffUntil <= this.mono) {
        dues.push({
          at: task.eta,
          kind: 1,
          sequence,
          happen: () => {
            this.passGates(task);
          },
        });
      }
    }
    return dues.filter(({ at }) => at < Infinity);
  }

  private monoDues(): Due[] {
    const dues: Due[] = [];
    for (const task of this.unfinished()) {
      const { sequence } = task;
      if (task.state === 'delayed' && task.backoffUntil > -Infinity) {
        dues.push({
          at: task.backoffUntil,
          kind: 0,
          sequence,
          happen: () => {
            this.passGates(task);
          },
        });
      }
    }
    for (const attempt of this.holding()) {
      const { sequence, spec } = attempt.task;
      const timeOut = (): void => {
        this.stop(attempt, 'abandoned');
        this.fail(attempt, true);
      };
      const lose = (): void => {
        if (attempt.life === 'abandoned') {
          attempt.life = 'over';
          this.relevel();
        } else {
          this.settle(attempt, 'lost');
        }
      };
      const timesOutAt = attempt.startedAt + spec.timeoutMs + attempt.waitedMs;
      if (attempt.life === 'counts' && attempt.waitsSince === undefined)
        dues.push({ at: timesOutAt, kind: 1, sequence, happen: timeOut });
      dues.push({ at: attempt.leaseEndsAt, kind: 2, sequence, happen: lose });
    }
    for (const [task, { until }] of this.preemption.rooms) {
      const happen = (): void => {
        this.preemption.graceOver(task);
      };
      dues.push({ at: until, kind: 3, sequence: task.sequence, happen });
    }
    return dues.filter(({ at }) => at < Infinity);
  }
}

/** Who goes on, or ends too, because a task has ended. */
interface Fallout {
  readonly met: readonly NaiveTask[];
  readonly doomed: readonly (readonly [NaiveTask, TaskState])[];
}

interface Due {
  readonly at: number;
  readonly kind: number;
  readonly sequence: number;
  happen(): void;
}
