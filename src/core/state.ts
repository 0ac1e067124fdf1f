import {
  SeededRandom,
  needsOf,
  standsAt,
  unboxed,
  type Attempt,
  type Fact,
  type Moment,
  type Task,
} from '../model/index.js';
import { Faults, Places, ReadyIndex, type Shape } from '../ready/index.js';
import type { CoreOptions } from './core-options.js';
import { CriticalPath } from './critical-path.js';
import { Dependencies } from './dependencies.js';
import { Family } from './family.js';
import { Fallout } from './fallout.js';
import { Inheritance } from './inheritance.js';
import { Keys } from './keys.js';
import { Lending } from './lending.js';
import { heldBy } from './attempts.js';
import { comesAt, isFree, type DueSubject } from './moments.js';
import { OldestReady } from './oldest-ready.js';
import { OpenChannels } from './open-channels.js';
import type { Outbox } from './outbox.js';
import { Preemption, type PreemptionSettings } from './preemption.js';
import { Pressure } from './pressure.js';
import { RankedView } from './ranked-view.js';
import { Resources } from './resources.js';
import { Retention } from './retention.js';
import type { Series } from './series.js';
import { Starvation } from './starvation.js';
import { Totals } from './totals.js';
import { TaskTable } from './task-table.js';
import { Timeline, type Due } from './timeline.js';
import { WaitStatistics } from './wait-statistics.js';
import type { Worker } from './worker.js';

/** How long tasks of one type take. */
export interface TypeMean {
  count: number;
  totalMs: number;
}

/** Everything the core knows. Only transitions change it. */
export class State {
  readonly table = new TaskTable();
  readonly resources = new Resources(this);
  readonly openChannels = new OpenChannels();
  readonly pressure = new Pressure();
  /** How long those waited that have started; nothing is decided by it, so a restart begins it anew. */
  readonly waits = new WaitStatistics();
  readonly totals = new Totals();
  private oldest: OldestReady | undefined = undefined;
  readonly places: Places;
  readonly index: ReadyIndex;
  readonly ranked = new RankedView(() => this.index);
  readonly dependencies = new Dependencies();
  readonly family = new Family();
  readonly keys = new Keys();
  /** Tasks whose id another one takes over, by that id; empty between commands. */
  readonly predecessors = new Map<string, Task>();
  readonly inheritance: Inheritance;
  readonly lending: Lending;
  readonly path: CriticalPath;
  /** ETA, deadlines, expiry and series. */
  readonly wallLine = new Timeline<DueSubject>(comesAt, (subject) => isFree(subject, this.seriesOf));
  /** Leases, timeouts, backoff and bounds on waiting. */
  readonly monoLine = new Timeline<DueSubject>(
    (due) => this.monoComesAt(due),
    (subject) => isFree(subject, this.seriesOf),
  );
  readonly retention: Retention;
  readonly starvation: Starvation;
  readonly preemption: Preemption;
  readonly workers = new Map<string, Worker>();
  readonly series = new Map<string, Series>();
  readonly means = new Map<string, TypeMean>();
  /** Attempts that no longer count but still hold what they took. */
  readonly abandoned = new Set<Attempt>();
  /** Attempts that wait for another task, or to go on after that. */
  readonly suspended = new Set<Attempt>();
  readonly fallout = new Fallout();
  advancing = false;
  /** Whether a circle of waits is being broken, which looks by itself for what that leaves. */
  breaking = false;
  readonly outbox: Outbox = { settled: [], renewed: [], resumed: [], preempted: [], aborted: [], faults: [] };
  readonly faults = new Faults(this.outbox.faults);
  readonly origin: Moment;
  random: SeededRandom;
  /** The time of the command, with a monotonic part that never falls. */
  now: Moment;
  /** The same as numbers of their own: they are read all the time. */
  wall: number;
  mono: number;
  epoch = 1;
  /** The number of the next series: it settles ties between them. */
  nextSeries = 1;
  /** Reservations given so far. */
  reservations = 0;
  /** Attempts that hold a place, and abandoned ones; those that wait for another task are not among them. */
  running = 0;
  /** Starts so far, by which workers know their turn; counted anew after a restart. */
  starts = 0;
  /** Unfinished tasks. */
  pending = 0;
  charge: 'turns' | 'time';
  /** Reads every fact; without a reader none is made. */
  emit: ((fact: Fact) => void) | undefined = undefined;

  constructor(readonly options: CoreOptions) {
    this.origin = options.origin;
    this.now = options.origin;
    ({ wall: this.wall, mono: this.mono } = options.origin);
    this.charge = options.charge;
    this.pressure.set(options.pressure, []);
    this.random = new SeededRandom(options.seed);
    this.places = new Places(
      (type, needs) => this.resources.gatesFor(type, needs),
      (place) => {
        this.index.forget(place);
      },
      (channel) => {
        this.resources.prepare(channel);
      },
      (channel) => channel.paused,
      (shape) => {
        this.resources.dropShape(shape.type);
        for (const order of this.index.orders()) order.dropShape(shape);
      },
      (shape) => {
        for (const order of this.index.orders()) order.shapeMixed(shape);
      },
    );
    this.path = new CriticalPath(this.dependencies, (task) => {
      this.rekey(task, task.urgency);
    });
    const changing = this.table.changing.bind(this.table);
    this.inheritance = new Inheritance(this.dependencies, this.rekey.bind(this), changing);
    this.lending = new Lending(this.resources, this.inheritance);
    this.inheritance.lender = this.lending;
    this.index = new ReadyIndex(
      {
        places: this.places,
        tasks: this.table,
        changing,
        isServed: (shape) => this.isServed(shape),
        uncorrected: () => (this.charge === 'time' ? this.running + this.suspended.size : 0),
        wallOffset: options.origin.wall - options.origin.mono,
        pathOf: (task) => this.path.pathOf(task),
        faults: this.faults,
        random: () => this.random.next(),
      },
      options.strategy,
      options.aging,
    );
    this.starvation = this.newStarvation(options.serviceMs);
    this.preemption = this.newPreemption(options.preemption);
    this.retention = new Retention(
      options.retain,
      (task) => this.dependencies.isPinned(task),
      (task) => {
        this.emit?.({ kind: 'task.pinned', task: task.id, wall: this.wall, mono: this.mono });
      },
      (task) => {
        this.forget(task);
      },
    );
    if (options.strategy === 'critical-path') this.path.use();
  }

  /** Moves the clocks; monotonic time never falls. */
  setTime(now: Moment): void {
    if (now === this.now) return;
    const { wall, mono } = now;
    this.now = mono >= this.mono ? now : { wall, mono: this.mono };
    this.wall = wall;
    this.mono = unboxed(this.now.mono);
  }

  /** The series this task is an occurrence of, unless it has ended: another one may have its id by now. */
  readonly seriesOf = (task: Task): Series | undefined => {
    const id = task.extra?.series;
    const series = id === undefined ? undefined : this.series.get(id);
    return series !== undefined && task.sequence >= series.firstTask ? series : undefined;
  };

  /** Unfinished tasks without an attempt. One that was given up still runs, but not for its task. */
  get unstarted(): number {
    return this.pending - (this.running - this.abandoned.size) - this.suspended.size;
  }

  /** The task can be claimed from now on, unless its channel is paused. */
  becameReady(task: Task): void {
    this.index.insert(task, this.mono);
    this.waitsFrom(task);
  }

  /** The task's wait counts from now on, or again. */
  waitsFrom(task: Task): void {
    // What was expected of it before is not any more.
    if (task.extra !== undefined) task.extra.startsBy = -Infinity;
    this.oldest?.enter(task);
    this.starvation.watch(task);
    this.preemption.waits(task);
  }

  /** The ready task outside paused channels that has waited for longest; kept in mind from the first time on. */
  oldestReady(): Task | undefined {
    this.index.prepare(this.mono);
    this.oldest ??= new OldestReady((task) => this.isWaiting(task), this.index.all());
    return this.oldest.first();
  }

  private isWaiting(task: Task): boolean {
    return task.state === 'ready' && !this.places.at(task.place).channel.paused;
  }

  private newStarvation(serviceMs: number): Starvation {
    return new Starvation(serviceMs, {
      index: this.index,
      isPaused: (task) => this.places.at(task.place).channel.paused,
      maxBypasses: this.options.maxBypasses,
      add: (at, kind, sequence, task) => {
        this.monoLine.add(at, kind, sequence, task);
      },
    });
  }

  private newPreemption(settings: PreemptionSettings): Preemption {
    return new Preemption(settings, {
      holdingsOf: (attempt) => heldBy(this, attempt),
      allReady: () => this.index.all(),
      groupOf: (task) => [standsAt(task), ...needsOf(task).map(({ amount }) => amount)].join(' '),
      isHungry: (task) =>
        task.state === 'ready' && !this.places.of(task).paused && !this.preemption.rooms.isMadeFor(task),
    });
  }

  private rekey(task: Task, before: number): void {
    this.pressure.enter(task);
    if (task.state === 'running') this.preemption.moved(task);
    if (task.state !== 'ready') return;
    this.index.rekey(task, before, this.mono);
    this.starvation.watch(task);
    this.preemption.waits(task);
  }

  private monoComesAt(due: Due<DueSubject>): number | undefined {
    if (due.kind === 'grace') {
      return this.preemption.rooms.of(due.subject as Task)?.until === due.at ? due.at : undefined;
    }
    if (due.kind !== 'starvation') return comesAt(due);
    const at = this.starvation.at(due.subject as Task);
    // One that is looked at sooner by now has an entry of its own.
    return at !== undefined && at >= due.at ? at : undefined;
  }

  private isServed(shape: Shape): boolean {
    if (shape.capabilities.length === 0 && shape.worker === undefined) return true;
    for (const worker of this.workers.values()) if (worker.matches(shape)) return true;
    return false;
  }

  private forget(task: Task): void {
    this.emit?.({ kind: 'task.forgotten', task: task.id, wall: this.wall, mono: this.mono });
    this.table.remove(task);
  }
}
