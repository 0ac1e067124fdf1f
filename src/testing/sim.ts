import {
  Core,
  checkStart,
  type CoreOptions,
  type DependencyInput,
  type Request,
  type WorkerSpec,
  parseSeries,
} from '../core/index.js';
import {
  RECURRENCE_OPTION_NAMES,
  parseTaskOptions,
  recordError,
  type Attempt,
  type Fact,
  type Moment,
  type RecurrenceOptions,
  type Task,
  type TaskOptions,
  type TaskState,
} from '../model/index.js';

/** What a simulation is made with. */
export interface SimOptions extends Partial<Omit<CoreOptions, 'origin'>> {
  /** Slots of a worker that claims by itself whenever it can; none unless given. */
  readonly slots?: number;
  /** Epoch milliseconds at which virtual time begins. */
  readonly wall?: number;
  /** Whether all invariants are checked after every command, at O(n) each; `true` unless given. */
  readonly check?: boolean;
}

/** What may be said about a task in a simulation. */
export interface SimTaskOptions extends Omit<TaskOptions, 'id'> {
  readonly type?: string;
  readonly payload?: unknown;
  readonly after?: readonly DependencyInput[];
}

/** What may be said about a series in a simulation. */
export interface SimSeriesOptions extends Omit<SimTaskOptions, 'after' | 'eta' | 'delay'>, RecurrenceOptions {}

/** The epoch time at which virtual time begins unless told otherwise. */
export const SIM_START = Date.parse('2030-01-01T00:00:00Z');

const LOCAL = 'local';

/**
 * Drives a core in virtual time, without waiting and without surprises.
 *
 * @example
 * ```ts
 * const s = sim({ slots: 1 });
 * s.add('a', { retry: { attempts: 2, backoff: 'fixed', base: 100 } });
 * s.fail('a#1');
 * s.advance(99); // a still waits for its backoff
 * s.advance(1);
 * s.running(); // ['a#2']
 * ```
 */
export class Sim {
  /** Everything that has happened. */
  readonly facts: Fact[] = [];
  /** The core itself, for what the simulation has no shorter word for. */
  core: Core;
  private moment: Moment;
  private readonly checks: boolean;

  constructor(options: SimOptions = {}) {
    const { slots = 0, wall = SIM_START, check = true, ...core } = options;
    this.checks = check;
    this.moment = { wall, mono: 0 };
    this.core = new Core({ ...core, origin: this.moment });
    if (slots > 0) this.worker(LOCAL, { slots });
  }

  /** The virtual time on both clocks. */
  get now(): Moment {
    return this.moment;
  }

  /** Sends any command; a refusal throws. */
  send(request: Request): readonly Fact[] {
    const facts = this.handle(request);
    return [...facts, ...this.fill()];
  }

  /** Adds a task; a refusal throws. */
  add(id: string, options: SimTaskOptions = {}): Task {
    const { type = '', payload, after = [], ...rest } = options;
    this.send({ kind: 'submit', spec: parseTaskOptions({ ...rest, id }, type), payload, after });
    return this.task(id);
  }

  /** Adds tasks together, all or none. */
  addAll(tasks: Readonly<Record<string, SimTaskOptions>>): void {
    const submissions = Object.entries(tasks).map(([id, { type = '', payload, after = [], ...rest }]) => {
      return { spec: parseTaskOptions({ ...rest, id }, type), payload, after };
    });
    this.send({ kind: 'submitAll', tasks: submissions });
  }

  /** Begins a series; what belongs to its tasks and what to the series may be given together. */
  repeat(series: string, options: SimSeriesOptions): void {
    const { type = '', payload, ...rest } = options;
    const spec = parseTaskOptions(rest, type, RECURRENCE_OPTION_NAMES);
    this.send({ kind: 'repeat', series, spec, recurrence: parseSeries(rest), payload });
  }

  /** Lets in a worker that claims when told to. */
  worker(id: string, options: Partial<Omit<WorkerSpec, 'id'>> = {}): void {
    const worker: WorkerSpec = {
      id,
      slots: Infinity,
      capabilities: new Map(),
      strategy: undefined,
      filter: undefined,
      leaseMs: id === LOCAL ? Infinity : 60_000,
      retries: id === LOCAL ? 0 : 3,
      ...options,
    };
    this.handle({ kind: 'attachWorker', worker });
  }

  /**
   * Claims up to so many tasks for a worker (attached with the defaults if it is new) and returns their ids, those that
   * go on after a wait included.
   */
  claim(count = 1, worker = 'puller'): string[] {
    if (!this.core.state.workers.has(worker)) this.worker(worker);
    const facts = this.handle({ kind: 'claim', worker, count });
    return facts.flatMap((fact) => (isGranted(fact) ? [fact.task] : []));
  }

  /** Claims one by one until nothing is left, each settled at once; the order in which tasks ran. */
  drain(worker = 'puller'): string[] {
    const order: string[] = [];
    for (let [id] = this.claim(1, worker); id !== undefined; [id] = this.claim(1, worker)) {
      order.push(id);
      this.complete(id);
    }
    return order;
  }

  /** The attempt, by `id#n` or by the id of a task that runs, succeeds. */
  complete(attempt: string, value?: unknown): void {
    const { id, token } = this.find(attempt);
    this.send({ kind: 'settle', task: id, token, outcome: { kind: 'succeeded', value } });
  }

  /** The attempt, by `id#n` or by the id of a task that runs, fails. */
  fail(attempt: string, error: unknown = new Error('failed on purpose'), retryable = true): void {
    const { id, token } = this.find(attempt);
    this.send({ kind: 'settle', task: id, token, outcome: { kind: 'failed', error: recordError(error), retryable } });
  }

  /** The attempt, by `id#n` or by the id of a task that runs, waits until another task has ended. */
  waitFor(attempt: string, awaited: string): void {
    const { id, token } = this.find(attempt);
    this.send({ kind: 'waitFor', task: id, token, awaited });
  }

  /** The attempt, by `id#n` or by the id of a task that runs, is at a yield. */
  yield(attempt: string): void {
    const { id, token } = this.find(attempt);
    this.send({ kind: 'yield', task: id, token });
  }

  /** Takes an unfinished task back. */
  cancel(id: string, reason = 'told to'): void {
    this.send({ kind: 'cancel', task: id, reason });
  }

  /** Lets time pass, stopping wherever something is due. */
  advance(ms: number): void {
    const end: Moment = { wall: this.moment.wall + ms, mono: this.moment.mono + ms };
    for (;;) {
      const wake = this.core.nextWakeAt();
      const waitMs = Math.max(0, Math.min(wake.wall - this.moment.wall, wake.mono - this.moment.mono));
      if (this.moment.mono + waitMs > end.mono) break;
      this.moment = { wall: this.moment.wall + waitMs, mono: this.moment.mono + waitMs };
      this.send({ kind: 'tick' });
    }
    this.moment = end;
    this.send({ kind: 'tick' });
  }

  /** The wall clock jumps; the monotonic one does not. */
  jump(ms: number): void {
    this.moment = { wall: this.moment.wall + ms, mono: this.moment.mono };
    this.send({ kind: 'tick' });
  }

  /** Attempts that wait for another task, or to go on after that, as `id#n`, in order of submission. */
  waiting(): string[] {
    return this.attempts().flatMap(({ id, wait }) => (wait === undefined ? [] : [id]));
  }

  /** Attempts that count and run, as `id#n`, in order of submission. */
  running(): string[] {
    return this.attempts().flatMap(({ id, wait }) => (wait === undefined ? [id] : []));
  }

  /** The core's own record of a task; an unknown one throws. */
  task(id: string): Task {
    const task = this.core.state.table.byId(id);
    if (task === undefined) throw new Error(`The simulation knows no task "${id}".`);
    return task;
  }

  /** Where a task is in its life. */
  state(id: string): TaskState {
    return this.task(id).state;
  }

  /** The kinds of facts about one task, in order. */
  story(id: string): string[] {
    return this.facts.filter((fact) => 'task' in fact && fact.task === id).map((fact) => fact.kind);
  }

  private attempts(): Attempt[] {
    return [...this.core.state.table.all()].flatMap((task) => (task.attempt === undefined ? [] : [task.attempt]));
  }

  private find(name: string): { id: string; token: { epoch: number; attempt: number } } {
    const cut = name.lastIndexOf('#');
    const id = cut < 0 ? name : name.slice(0, cut);
    const { epoch } = this.core.state;
    if (cut >= 0) return { id, token: { epoch, attempt: Number(name.slice(cut + 1)) } };
    const { attempt } = this.task(id);
    if (attempt === undefined) throw new Error(`Task "${id}" does not run.`);
    return { id, token: attempt.token };
  }

  private fill(): readonly Fact[] {
    const { workers, preemption } = this.core.state;
    const claimed = workers.has(LOCAL) ? this.handle({ kind: 'claim', worker: LOCAL, count: Infinity }) : [];
    return preemption.waiting === undefined ? claimed : [...claimed, ...this.handle({ kind: 'preempt' })];
  }

  private handle(request: Request): readonly Fact[] {
    try {
      const facts = this.core.handle({ ...request, now: this.moment });
      this.facts.push(...facts);
      if (this.checks) this.checkStarts(facts);
      return facts;
    } finally {
      // Also after a refusal: it must not have left anything half done.
      if (this.checks) this.core.check();
    }
  }

  private checkStarts(facts: readonly Fact[]): void {
    for (const fact of facts) if (isGranted(fact)) checkStart(this.core.state, this.task(fact.task));
  }
}

function isGranted(fact: Fact): fact is Extract<Fact, { kind: 'attempt.started' | 'attempt.resumed' }> {
  return fact.kind === 'attempt.started' || fact.kind === 'attempt.resumed';
}

/** A simulation of a core. */
export function sim(options?: SimOptions): Sim {
  return new Sim(options);
}
