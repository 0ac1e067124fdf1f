import type { FailurePolicy, TaskSpec, TaskState } from '../../src/model/index.js';
import { pick, type NaiveAging, type NaiveStrategy } from './naive-order.js';
import { checkRoom, worst, type NaiveBound } from './naive-pressure.js';
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

/** What a command that is refused throws. */
export class Refused extends Error {}

const FINAL: readonly TaskState[] = ['completed', 'failed', 'cancelled', 'skipped'];
export const isOver = (task: NaiveTask): boolean => FINAL.includes(task.state);
const endedBadly = (state: TaskState): boolean => FINAL.includes(state) && state !== 'completed';
const waitsFor = (task: NaiveTask, other: NaiveTask): boolean =>
  !isOver(other) && task.edges.some(({ on, passed }) => on === other && !passed);
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
  lastServed = '';
  bound: NaiveBound = { maxPending: Infinity, whenFull: 'wait' };
  readonly origin: number;
  wall: number;
  mono = 0;
  strategy: NaiveStrategy;
  aging: NaiveAging;
  nextSequence = 1;
  private kept: NaiveTask[] = [];
  private fallout: Fallout[] = [];
  /** Effective levels as of the last {@link relevel}: what turns are counted at. */
  private levels = new Map<NaiveTask, number>();

  constructor(readonly options: NaiveOptions) {
    this.origin = options.wall;
    this.wall = options.wall;
    this.strategy = options.strategy;
    this.aging = options.aging;
    this.turns.follow();
  }

  // --- what follows from the present state

  unfinished(): NaiveTask[] {
    return [...this.tasks.values()].filter((task) => !isOver(task)).sort(bySequence);
  }

  unstarted(): NaiveTask[] {
    return this.unfinished().filter((task) => task.state !== 'running');
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
    const amounts = this.holding().map(
      ({ task }) => task.spec.needs.find((need) => need.resource === resource)?.amount,
    );
    return amounts.reduce<number>((sum, amount) => sum + (amount ?? 0), 0);
  }

  countHolding(which: (attempt: NaiveAttempt) => boolean): number {
    return this.holding().filter(which).length;
  }

  /** Whether the task could start if a worker asked for it. */
  canStart(task: NaiveTask): boolean {
    const { spec } = task;
    const { global, type, channel } = this.limits;
    return (
      task.state === 'ready' &&
      !this.paused.has(spec.channel) &&
      spec.needs.every(
        ({ resource, amount }) => this.held(resource) + amount <= (this.capacities.get(resource) ?? 0),
      ) &&
      this.countHolding(() => true) + 1 <= global &&
      this.countHolding((each) => each.task.spec.type === spec.type) + 1 <= (type.get(spec.type) ?? Infinity) &&
      this.countHolding((each) => each.task.spec.channel === spec.channel) + 1 <=
        (channel.get(spec.channel) ?? channel.get('*') ?? Infinity)
    );
  }

  suits(worker: NaiveWorker, task: NaiveTask): boolean {
    return task.spec.capabilities.every(([name, wanted]) => {
      const offered = worker.offers.get(name);
      return Array.isArray(offered) ? offered.includes(wanted) : offered === wanted;
    });
  }

  /** Whom this worker may be given next: one task, or with weighted random those that the draw allows. */
  next(worker: NaiveWorker, draw: () => number, shapeKey: (task: NaiveTask) => string): NaiveTask[] {
    if (this.countHolding((attempt) => attempt.worker === worker.id) >= worker.slots) return [];
    const eligible = this.unfinished().filter((task) => this.canStart(task) && this.suits(worker, task));
    if (eligible.length === 0) return [];
    return pick(this, worker.strategy ?? this.strategy, eligible, draw, shapeKey);
  }

  /** Whom any of the workers that have a free slot may be given next, by the scheduler's own strategy. */
  nextForAny(draw: () => number, shapeKey: (task: NaiveTask) => string): NaiveTask[] {
    const free = [...this.workers.values()].filter((worker) => this.freeSlots(worker) > 0);
    const suited = (task: NaiveTask): boolean => free.some((worker) => this.suits(worker, task));
    const eligible = this.unfinished().filter((task) => this.canStart(task) && suited(task));
    return eligible.length === 0 ? [] : pick(this, this.strategy, eligible, draw, shapeKey);
  }

  freeSlots({ id, slots }: NaiveWorker): number {
    return slots - this.countHolding(({ worker }) => worker === id);
  }

  /** Who should get the task: the one with the most free slots, or the first after the one that was served last. */
  workerFor(task: NaiveTask, balance: 'least-loaded' | 'round-robin'): NaiveWorker {
    const all = [...this.workers.values()];
    const after = all.findIndex(({ id }) => id === this.lastServed) + 1;
    const order = balance === 'round-robin' ? [...all.slice(after), ...all.slice(0, after)] : all;
    const able = order.filter((worker) => this.freeSlots(worker) > 0 && this.suits(worker, task));
    const runs = ({ id }: NaiveWorker): number => this.countHolding(({ worker }) => worker === id);
    if (balance === 'least-loaded') {
      able.sort((x, y) => {
        const [free, other] = [this.freeSlots(x), this.freeSlots(y)];
        return free === other ? runs(x) - runs(y) : other - free;
      });
    }
    return able[0] as NaiveWorker;
  }

  /** When something happens by itself on each clock. */
  wake(): { wall: number; mono: number } {
    return {
      wall: Math.min(Infinity, ...this.wallDues().map((due) => due.at)),
      mono: Math.min(Infinity, ...this.monoDues().map((due) => due.at)),
    };
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
      if (amount > (this.capacities.get(resource) ?? 0)) throw new Refused('unschedulable');
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
    if (room === undefined) throw new Refused('full');
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
    this.turns.starts(this.levelOf(task));
    this.stopAging(task);
    this.lastServed = worker.id;
    task.state = 'running';
    task.attempts += 1;
    this.attempts.push({
      ...{ task, number: task.attempts, worker: worker.id, startedAt: this.mono, life: 'counts' as const },
      leaseEndsAt: this.mono + (task.spec.leaseMs ?? worker.leaseMs),
    });
    this.turns.started(this.levelOf(task), task.spec.channel);
  }

  settle(attempt: NaiveAttempt, outcome: 'succeeded' | 'failed' | 'failed for good' | 'released' | 'lost'): void {
    const before = attempt.life;
    attempt.life = 'over';
    if (before !== 'counts') throw new Refused('stale');
    const { task } = attempt;
    if (outcome === 'succeeded') {
      this.durations.set(task.spec.type, [
        ...(this.durations.get(task.spec.type) ?? []),
        this.mono - attempt.startedAt,
      ]);
      this.end(task, 'completed');
    } else if (outcome === 'released') {
      this.passGates(task);
    } else if (outcome === 'lost') {
      task.losses += 1;
      if (task.losses >= 3) this.end(task, 'failed');
      else this.passGates(task);
    } else {
      this.fail(attempt, outcome === 'failed');
    }
  }

  extend(attempt: NaiveAttempt, leaseMs: number): void {
    if (attempt.life !== 'counts') throw new Refused('stale');
    if (attempt.leaseEndsAt !== Infinity) attempt.leaseEndsAt = this.mono + leaseMs;
  }

  cancel(id: string): void {
    const task = this.known(id);
    if (isOver(task)) throw new Refused('over');
    for (const attempt of this.attempts)
      if (attempt.task === task && attempt.life === 'counts') attempt.life = 'abandoned';
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
    if (isOver(task) || task.state === 'running') throw new Refused('state');
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
      task.edges = [...task.edges.filter((edge) => edge.on !== on), { on, onFailure, passed: endedBadly(on.state) }];
    }
    if (FINAL.includes(ended)) {
      if (ended !== 'completed' && onFailure !== 'run') this.end(task, onFailure === 'fail' ? 'failed' : 'skipped');
      return;
    }
    this.stopAging(task);
    task.state = 'waiting';
    this.relevel();
  }

  removeDependency(id: string, dependencyId: string): void {
    const task = this.known(id);
    const kept = task.edges.filter(({ on }) => on.id !== dependencyId);
    if (isOver(task) || task.state === 'running' || kept.length === task.edges.length) throw new Refused('no edge');
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
    for (const task of this.unfinished()) if (task.spec.channel === channel) this.stopAging(task);
    this.paused.add(channel);
  }

  resume(channel: string): void {
    if (!this.paused.delete(channel)) return;
    for (const task of this.unfinished()) {
      if (task.state === 'ready' && task.spec.channel === channel) this.startAging(task);
    }
  }

  setStrategy(strategy: NaiveStrategy): void {
    this.strategy = strategy;
    this.turns.follow();
  }

  attach(worker: NaiveWorker): void {
    this.workers.set(worker.id, worker);
    this.turns.follow();
  }

  detach(id: string): void {
    this.workers.delete(id);
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
    if (task.spec.expires <= this.wall) this.end(task, 'cancelled');
    else if (task.eta > this.wall || task.backoffUntil > this.mono) task.state = 'delayed';
    else {
      task.state = 'ready';
      task.eta = -Infinity;
      task.backoffUntil = -Infinity;
      if (!this.paused.has(task.spec.channel)) this.startAging(task);
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
    this.passGates(task);
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
    const after = this.inherited((task) => task.level);
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
      if (task.state !== 'running') dues.push({ at: task.spec.expires, kind: 0, sequence, happen: expire });
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
        attempt.life = 'abandoned';
        this.fail(attempt, true);
      };
      const lose = (): void => {
        if (attempt.life === 'abandoned') attempt.life = 'over';
        else this.settle(attempt, 'lost');
      };
      if (attempt.life === 'counts')
        dues.push({ at: attempt.startedAt + spec.timeoutMs, kind: 1, sequence, happen: timeOut });
      dues.push({ at: attempt.leaseEndsAt, kind: 2, sequence, happen: lose });
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
