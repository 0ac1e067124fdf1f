import {
  refuseConfig,
  type Attempt,
  type Fact,
  type Moment,
  type Outcome,
  type RecurrenceSpec,
  type Task,
  type TaskGraph,
  type TaskSpec,
} from '../model/index.js';
import { apply } from './apply.js';
import { check } from './check.js';
import { about, type Subject } from './about.js';
import type { Command } from './command.js';
import { CORE_DEFAULTS, type CoreOptions } from './core-options.js';
import { cancel, cancelAll, type Cancellation } from './decide/cancel.js';
import { claim, goOn } from './decide/claim.js';
import { followPressure, type Origin } from './decide/make-room.js';
import { attach, checkStrategy } from './decide/configure.js';
import { decide } from './decide/index.js';
import { assignmentsIn, plan, type Assignment, type PlanRequest } from './decide/plan.js';
import { preempt } from './decide/preempt.js';
import { repeat } from './decide/repeat.js';
import { settle } from './decide/settle.js';
import { taskFor } from './decide/steer.js';
import { submit } from './decide/submit.js';
import { submitAll } from './decide/submit-all.js';
import type { Belonging, DependencyInput, Submission } from './decide/take-in.js';
import { waitFor } from './decide/wait.js';
import { atYield, type Takes, type Verdict } from './decide/yield.js';
import { dependencyGraph } from './dependency-graph.js';
import { explain } from './explain.js';
import type { Explanation } from './explanation.js';
import { FrozenSnapshot } from './frozen-snapshot.js';
import { loadOf, type CoreLoad } from './load.js';
import type { Outbox } from './outbox.js';
import { pending } from './pending.js';
import { checkPressure } from './pressure.js';
import { optionsIn, restore, type RestoreOptions } from './restore.js';
import type { Series } from './series.js';
import type { CoreSnapshot } from './snapshot-format.js';
import { State } from './state.js';
import { statisticsOf, type Statistics } from './statistics.js';
import { Telling, type FactReader } from './telling.js';
import { hasMoments, keepsAlive, nextWake, type Wake } from './wake.js';
import type { Worker, WorkerSpec } from './worker.js';

const NO_DEPENDENCIES: readonly DependencyInput[] = [];

/**
 * The scheduling core: commands in, facts out. Synchronous and deterministic: it has no clock, no randomness of its
 * own and nothing to wait for, so the same commands make the same facts, always.
 * {@link handle} is its one door; the methods beside it are the same commands for callers that read no facts.
 */
export class Core {
  /** @internal All that it knows. */
  state: State;
  private telling: Telling;

  constructor(options: Partial<CoreOptions> & Pick<CoreOptions, 'origin'>) {
    const given = { ...CORE_DEFAULTS, ...options };
    const strategy = checkStrategy(given.strategy, 'strategy');
    const strategies = typeof strategy === 'string' ? given.strategies : [strategy, ...given.strategies];
    this.state = new State({ ...given, strategy, strategies, pressure: checkPressure(given.pressure) });
    this.telling = new Telling(this.state);
  }

  /** A core that goes on where the one that the snapshot was taken of stood; a newer version's snapshot is refused. */
  static restore(snapshot: CoreSnapshot, options: RestoreOptions = {}): Core {
    const core = new Core({ origin: snapshot.origin });
    core.reset(snapshot, options);
    return core;
  }

  /** @internal Goes on where the core stood that the snapshot was taken of; what this one knew before is gone. */
  reset(snapshot: CoreSnapshot, options: RestoreOptions = {}): void {
    this.state = new State(optionsIn(snapshot, options));
    restore(this.state, snapshot);
    this.telling = new Telling(this.state, snapshot);
  }

  /** @internal Goes on as the other core does, which nobody may use any more. */
  become(other: Core): void {
    ({ state: this.state, telling: this.telling } = other);
  }

  /** @internal What the outside must act on; whoever acts on it empties it. */
  get outbox(): Outbox {
    return this.state.outbox;
  }

  /**
   * Carries out a command and returns what has happened. One that is refused throws a typed error and changes nothing, except
   * that an outcome of an abandoned attempt gives back what that held: the next command's facts begin with that one.
   */
  handle(command: Command): readonly Fact[] {
    return this.telling.collect(() => {
      this.begin(command.now);
      decide(this.state, command);
      if (this.state.pressure.isFollowed) followPressure(this.state);
    });
  }

  /**
   * @internal Lets every fact be read as it happens, whichever way its command comes in; without a reader none is made but
   * for the answer of {@link handle}. The reader is called in the middle of a command, so it must not send one.
   */
  observe(reader: FactReader | undefined): void {
    this.telling.observe(reader);
  }

  /** Everything that later decisions depend on, as plain data, for {@link restore} to go on from. */
  snapshot(): CoreSnapshot {
    return this.freeze().whole();
  }

  /** @internal The same, to be made in parts; commands may come in between once it was told to begin. */
  freeze(): FrozenSnapshot {
    const { state, telling } = this;
    state.index.prepare(state.mono);
    return new FrozenSnapshot(state, telling.told ?? { wall: state.wall, mono: state.mono }, telling.untold);
  }

  /**
   * Lets a recorded fact happen again without deciding anything. All facts of a run, applied in order to a core made
   * with the same options, or those after a snapshot to a core restored from it, make the same state.
   */
  apply(fact: Fact): void {
    const { state, telling } = this;
    // The snapshot knows what had not been told when it was taken; it is told first, and has happened already.
    if (telling.untold.length > 0) {
      telling.untold.shift();
      return;
    }
    this.begin({ wall: fact.wall, mono: fact.mono });
    apply(state, fact);
    telling.told = state.now;
  }

  /** @internal Adds a task and returns its record. */
  submit(
    now: Moment,
    spec: TaskSpec,
    payload: unknown,
    after: readonly DependencyInput[] = NO_DEPENDENCIES,
    belonging?: Belonging,
  ): Task {
    this.begin(now);
    return this.end(submit(this.state, spec, payload, after, belonging));
  }

  /** @internal Adds all tasks or none and returns their records. */
  submitAll(now: Moment, submissions: readonly Submission[], origin?: Origin): Task[] {
    this.begin(now);
    return this.end(submitAll(this.state, submissions, { origin }));
  }

  /** @internal Begins or updates a series and returns its record. */
  repeat(now: Moment, id: string, spec: TaskSpec, recurrence: RecurrenceSpec, payload: unknown): Series {
    this.begin(now);
    return this.end(repeat(this.state, id, spec, recurrence, payload));
  }

  /** @internal Starts the next attempt for the worker, if anything is eligible. */
  claim(now: Moment, worker: Worker): Attempt | undefined {
    this.begin(now);
    return this.end(claim(this.state, worker));
  }

  /** @internal Starts attempts for several workers, as the command `plan` does; the outbox names those that go on. */
  plan(now: Moment, request: PlanRequest): Attempt[] {
    this.begin(now);
    return this.end(plan(this.state, request));
  }

  /** @internal Hands in how an attempt ended; one that no longer counts is refused. */
  settle(now: Moment, attempt: Attempt, outcome: Outcome): void {
    this.begin(now);
    settle(this.state, attempt, outcome);
    this.end(undefined);
  }

  /** @internal Lets the attempt wait for another task; `false` when that has ended, so that it goes on at once. */
  waitFor(now: Moment, attempt: Attempt, awaited: string): boolean {
    this.begin(now);
    return this.end(waitFor(this.state, attempt, awaited));
  }

  /** @internal Lets an attempt of the worker go on after its wait, if one can; starts nothing. */
  goOn(now: Moment, worker: Worker): Attempt | undefined {
    this.begin(now);
    return this.end(goOn(this.state, worker));
  }

  /** @internal Asks running attempts to make way for more urgent tasks; to be called when nothing more can be claimed. */
  preempt(now: Moment): void {
    this.begin(now);
    preempt(this.state);
    this.end(undefined);
  }

  /** @internal The attempt is at a yield: what it is to do there. */
  atYield(now: Moment, attempt: Attempt, takes?: Takes): Verdict {
    this.begin(now);
    return this.end(atYield(this.state, attempt, takes));
  }

  /** @internal Takes an unfinished task back, or those of several that are, and says how many went with all their children. */
  cancel(now: Moment, tasks: Task | string | readonly Task[], how?: Cancellation): number {
    this.begin(now);
    if (Array.isArray(tasks)) return this.end(cancelAll(this.state, tasks as readonly Task[], how));
    return this.end(cancel(this.state, typeof tasks === 'string' ? taskFor(this.state, tasks) : (tasks as Task), how));
  }

  /** @internal Lets a worker in. */
  attach(now: Moment, worker: WorkerSpec): Worker {
    this.begin(now);
    return this.end(attach(this.state, worker));
  }

  /** @internal Whether anything is due at some time; asking first is cheaper than asking when. */
  get hasMoments(): boolean {
    return hasMoments(this.state);
  }

  /** When to send the next `tick`. */
  nextWakeAt(): Wake {
    return nextWake(this.state);
  }

  /** Whether anything is due at some time that the process stays for. */
  get keepsAlive(): boolean {
    return keepsAlive(this.state);
  }

  /** Whom a fact of the last command is about: task, channel, level, attempt and worker, where known. */
  about(fact: Fact): Subject | undefined {
    return about(this.state, fact);
  }

  /** How busy it is: how much waits, for how long, and how much of what there is is in use. */
  load(now: Moment): CoreLoad {
    return loadOf(this.state, now.mono);
  }

  /** How many tasks there are and were, by what has come of them; costs as much as there are tasks. */
  statistics(now: Moment): Statistics {
    return statisticsOf(this.state, now.mono);
  }

  /** What decides who is next, in words made by the scheduler's strategy, or by that of one of its workers. */
  describeOrder(workerId?: string): string {
    const { index, workers } = this.state;
    if (workerId === undefined) return index.describe(index.main);
    const worker = workers.get(workerId) ?? refuseConfig('workerId', workerId, 'the id of a worker that is there');
    return index.describe(worker.view ?? index.main);
  }

  /** The tasks that have not started, in their order at this moment; looking takes none and changes nothing. */
  pending(): Task[] {
    return pending(this.state);
  }

  /** What the command `plan` would start now; worked out on a copy of everything, so it costs O(n) and cannot be wrong. */
  foresee(now: Moment, request: PlanRequest): Assignment[] {
    const { index, workers, options } = this.state;
    const own = [index.main.choice, ...[...workers.values()].map(({ spec }) => spec.strategy)];
    const strategies = [...options.strategies, ...own.filter((each) => typeof each === 'object')];
    return assignmentsIn(Core.restore(this.snapshot(), { strategies }).handle({ kind: 'plan', now, ...request }));
  }

  /** Why the task does not run, since when it does, or how it ended. */
  explain(id: string): Explanation {
    return explain(this.state, id);
  }

  /** The dependency graph as plain data. */
  graph(): TaskGraph {
    return dependencyGraph(this.state);
  }

  /** Throws an `InvariantError` unless everything fits together; for tests, as it looks at every task. */
  check(): void {
    check(this.state);
  }

  private begin(now: Moment): void {
    // Orders count from the command that asked for them, not from the next one that happens to come.
    this.state.index.prepare(this.state.mono);
    this.state.setTime(now);
    this.telling.begin();
  }

  private end<Result>(result: Result): Result {
    if (this.state.pressure.isFollowed) followPressure(this.state);
    this.telling.end();
    return result;
  }
}
