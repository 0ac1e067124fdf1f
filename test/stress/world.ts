import {
  Scheduler,
  type Claim,
  type EventName,
  type Executor,
  type Handle,
  type PullingWorker,
  type SchedulerOptions,
  type SeriesHandle,
  type StrategyName,
  type TaskContext,
  type WhenFull,
} from '../../src/index.js';
import type { Core } from '../../src/core/index.js';
import { LONGEST_TIMER_MS } from '../../src/runtime/clock.js';
import { EVENT_NAMES } from '../../src/ports/events.js';
import type { Events } from '../../src/runtime/events.js';
import { VirtualClock } from '../../src/testing/index.js';
import { ACTS, type ActName, type Render } from './acts.js';
import { Chance } from '../../src/testing/simulation/chance.js';
import { handler, quietly } from './handlers.js';
import { Observed, RATE, type Told } from './observed.js';
import { Stories } from './stories.js';

/** What a scheduler of a run is like. */
export interface Setting {
  readonly concurrency: number;
  readonly strategy: StrategyName;
  readonly executors: boolean;
  readonly maxPending: number | undefined;
  readonly whenFull: WhenFull;
  readonly aging: boolean;
  readonly admit: boolean;
  readonly seed: number;
}

/** One thing that somebody does, and how much time passes afterwards. */
export interface Step {
  readonly act: ActName;
  readonly seed: number;
  readonly thenMs: number;
}

/** Beyond so many nobody reacts to events any more, so that a run comes to an end. */
const MOST_REACTIONS = 60;
const MOST_TASKS = 120;

/** A scheduler with all that its users have in their hands, and what can be seen of it. */
export class World {
  readonly clock = new VirtualClock();
  readonly observed: Observed;
  readonly scheduler: Scheduler;
  readonly engine: { readonly core: Core; readonly events: Events };
  readonly handles: Handle<unknown>[] = [];
  readonly tolds = new WeakMap<Handle<unknown>, Told>();
  readonly series: SeriesHandle<unknown>[] = [];
  readonly workers: PullingWorker[] = [];
  readonly claims: Claim[] = [];
  readonly controllers: AbortController[] = [];
  /** Resolves when whatever hangs is let go of. */
  readonly letGo: Promise<void>;
  readonly stories: Stories;
  steps = 0;
  isClosing = false;
  private release: () => void = () => undefined;
  private reactions = 0;
  private readonly leased = new WeakSet<TaskContext>();
  private isExecutorAlive = true;

  constructor(readonly setting: Setting) {
    const limits = { global: 6, gpu: 2, perType: 2, perChannel: 3 };
    this.observed = new Observed(limits, () => this.clock.now().mono);
    this.letGo = new Promise((resolve) => {
      this.release = resolve;
    });
    this.scheduler = new Scheduler({ ...this.options(), clock: this.clock });
    this.engine = (this.scheduler as unknown as { engine: World['engine'] }).engine;
    this.scheduler.define('render', ({ told, seed }: Render, task) => handler(this, told, seed)(task));
    this.stories = new Stories(this.engine.events, this.observed);
    for (const name of EVENT_NAMES) this.scheduler.on(name, () => this.react(name));
  }

  private options(): SchedulerOptions {
    const { concurrency, strategy, maxPending, whenFull, aging, admit, executors } = this.setting;
    const { global, gpu, perType, perChannel } = this.observed.limits;
    return {
      concurrency,
      strategy,
      seed: this.setting.seed,
      resources: { gpu, rated: RATE, api: { rate: 50, per: '1s', burst: 10 } },
      limits: { global, perType: { render: perType }, perChannel: { '*': perChannel } },
      aging: aging ? { every: 50, maxWait: 400 } : false,
      ...(maxPending === undefined ? {} : { maxPending, whenFull, maxWaiting: 6 }),
      ...(admit ? { admit: ({ running }) => running < 3, admitEvery: 20 } : {}),
      ...(executors ? { executors: [this.executor()] } : {}),
      retain: { count: 8, age: '10s' },
      preemption: { minRun: 10, grace: 30, maxPerTask: 2 },
      slice: 15,
      timeline: { limit: 50 },
    };
  }

  /** An executor that does whatever one may do, also what it had better not. */
  private executor(): Executor {
    const chance = new Chance(this.setting.seed);
    return {
      id: 'elsewhere',
      slots: 2,
      lease: 60,
      isAlive: () => {
        if (chance.oneIn(12)) this.isExecutorAlive = !this.isExecutorAlive;
        return this.isExecutorAlive || this.isClosing;
      },
      execute: async (work, signal) => {
        switch (chance.roll(8)) {
          case 0:
            throw new Error('the executor throws');
          case 1:
            return { kind: 'lost' };
          case 2:
            return { kind: 'aborted' };
          case 3:
            return undefined as never;
          case 4:
            await Promise.race([
              this.sleep(200),
              new Promise((resolve) => {
                signal.addEventListener('abort', resolve);
              }),
            ]);
            return { kind: 'failed', error: new Error('elsewhere'), retryable: chance.oneIn(2) };
          default:
            return { kind: 'succeeded', value: await work.run() };
        }
      },
    };
  }

  get isFull(): boolean {
    return this.handles.length >= MOST_TASKS;
  }

  /** Resolves after so much virtual time, and when whatever hangs is let go of. */
  sleep(ms: number): Promise<unknown> {
    return Promise.race([this.clock.sleep(ms), this.letGo]);
  }

  /** Whether the attempt may be lost: to a pulling worker, to an executor, or as its handler gives no sign of life. */
  isLeased(task: TaskContext): boolean {
    if (this.leased.has(task)) return true;
    const known = this.engine.core.state.table.byId(task.id)?.attempt;
    return known !== undefined && known.leaseEndsAt !== Infinity;
  }

  /** Something anybody may do at any time; what may be refused is refused with an error of its own. */
  doAnything(chance: Chance): void {
    if (this.reactions > MOST_REACTIONS) return;
    this.reactions += 1;
    // The limits change between the steps only, when everybody has heard of everything.
    const names = (Object.keys(ACTS) as ActName[]).filter((name) => name !== 'limit');
    this.do(chance.pick(names) ?? 'add', chance.seed);
  }

  do(act: ActName, seed: number): void {
    quietly(this, () => {
      ACTS[act](this, new Chance(seed));
    });
  }

  /** Takes a handle into the hands of the users: most ask for its result at once. */
  keep(handle: Handle<unknown>, label: string, told?: Told): void {
    this.handles.push(handle);
    if (told !== undefined) this.tolds.set(handle, told);
    if (this.handles.length % 4 > 0) this.observed.track(`${label} ${handle.id}`, handle.result);
    this.observed.track(`${label} ${handle.id} is accepted`, handle.accepted);
  }

  /** A claim counts from when its worker has it. */
  hold(claim: Claim): void {
    this.leased.add(claim.task);
    this.claims.push(claim);
    claim.task.signal.addEventListener('abort', () => {
      this.observed.end(claim.task);
    });
  }

  private react(name: EventName): unknown {
    this.observed.note(name);
    this.checkCore();
    const chance = new Chance(this.setting.seed + this.reactions);
    if (!chance.oneIn(5)) return undefined;
    this.doAnything(chance);
    if (chance.oneIn(6)) throw new Error('a listener throws');
    return chance.oneIn(6) ? Promise.reject(new Error('a listener rejects')) : undefined;
  }

  checkCore(): void {
    try {
      this.engine.core.check();
    } catch (error) {
      this.observed.problem(String(error));
    }
  }

  async step({ act, seed, thenMs }: Step): Promise<void> {
    this.steps += 1;
    this.do(act, seed);
    this.checkCore();
    await this.clock.advance(thenMs);
    this.checkAtRest();
  }

  /** Nothing is under way but what waits for time. */
  checkAtRest(): void {
    this.checkCore();
    this.observed.checkAtRest();
    if (!this.isClosing) {
      this.checkAlarm();
      this.checkWorkConserving();
    }
    this.raise();
  }

  raise(): void {
    const { problems } = this.observed;
    if (problems.length > 0) throw new Error(problems.slice(0, 5).join('\n'));
  }

  /** Whatever is due later, a timer is set that rings by then. */
  private checkAlarm(): void {
    const { wall, mono } = this.engine.core.nextWakeAt();
    const now = this.clock.now();
    const waitMs = Math.max(0, Math.min(wall - now.wall, mono - now.mono));
    if (waitMs > LONGEST_TIMER_MS) return;
    const earliest = Math.min(...this.clock.timers.map((timer) => timer.waitMs));
    if (earliest > Math.ceil(waitMs))
      this.observed.problem(`something is due in ${waitMs} ms, and no timer rings by then`);
  }

  /** No slot of this process is free while something ready fits. */
  private checkWorkConserving(): void {
    const { core } = this.engine;
    const local = core.state.workers.get('local');
    if (this.scheduler.paused || this.setting.admit || local === undefined || local.running >= local.spec.slots) return;
    for (const task of core.state.table.all()) {
      if (task.state !== 'ready' || task.attempt !== undefined || task.spec.capabilities.length > 0) continue;
      const explained = core.explain(task.id);
      if (explained.kind === 'ready' && explained.obstacles.length === 0) {
        this.observed.problem(`${task.id} could start, and nobody starts it`);
      }
    }
  }

  /** Everything is possible again, and whatever hangs is let go of. */
  async heal(): Promise<void> {
    const { scheduler } = this;
    for (const series of this.series) if (series.state !== 'ended') series.cancel();
    scheduler.setLimit({ global: 9, perType: { render: 2 }, perChannel: { '*': 9, a: 9, b: 9, default: 9 } });
    scheduler.setCapacity('gpu', 3);
    scheduler.setCapacity('api', { rate: 50, per: '1s', burst: 10 });
    for (const channel of ['a', 'b', 'default']) scheduler.resumeChannel(channel);
    scheduler.setConcurrency(20);
    scheduler.resume();
    Object.assign(this.observed.limits, { global: 9, gpu: 3, perType: 2, perChannel: 9 });
    const helper = scheduler.worker({ id: 'helper', capabilities: { exec: true, disk: 'ssd' } });
    void this.help(helper);
    this.release();
    this.reactions = Infinity;
    await this.clock.advance('1m');
    this.isClosing = true;
    await this.clock.advance('1h');
    this.checkCore();
    this.raise();
  }

  private async help(worker: PullingWorker): Promise<void> {
    for await (const claim of worker) {
      this.hold(claim);
      // One after the other, a task that waits for another one would keep that from being claimed.
      claim.run().catch(() => undefined);
    }
  }

  /** Closes, lets go of what hangs only after that, and everything that was promised has settled. */
  async end(): Promise<void> {
    this.isClosing = true;
    this.reactions = Infinity;
    for (const handle of this.handles) this.observed.track(`${handle.id} at the end`, handle.result);
    this.observed.track('close', this.scheduler.close({ drain: 100, grace: 50 }));
    await this.clock.advance('1h');
    this.checkSettled(this.observed.unsettled());
    this.release();
    await this.clock.advance('1m');
    this.checkSettled(this.observed.unsettledWithHandlers());
  }

  private checkSettled(left: readonly string[]): void {
    if (left.length > 0) this.observed.problem(`never settles: ${left.slice(0, 5).join(', ')}`);
    this.checkCore();
    this.raise();
  }
}
