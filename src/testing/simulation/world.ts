import { SimulatedDisk } from '../simulated-disk.js';
import { VirtualClock } from '../virtual-clock.js';
import { ACTS } from './acts.js';
import { Chance } from './chance.js';
import type { Climate } from './climate.js';
import { Evidence } from './evidence.js';
import { FAULT_ACTS, type Masters } from './fault-acts.js';
import { quietly } from './handlers.js';
import { heal } from './healing.js';
import { Ledger } from './ledger.js';
import { Master } from './master.js';
import { checkAtRest } from './rest-checks.js';
import type { Step } from './step.js';
import type { SimulatedLimits, Surroundings } from './surroundings.js';
import { Witness } from './witness.js';
import { WORKER_ACTS } from './worker-acts.js';

/** Beyond so many unfinished tasks nobody adds any. */
const MOST_UNFINISHED = 60;
/** What is made in parts, such as a snapshot, takes a turn for each. */
const MOST_TURNS = 30;

/** Everything a seed makes: a disk, the masters that use it one after the other, and what was seen of them. */
export class World implements Surroundings, Masters {
  readonly clock = new VirtualClock();
  readonly disk: SimulatedDisk;
  readonly evidence = new Evidence();
  readonly witness = new Witness(this.evidence);
  readonly ledger = new Ledger(this.evidence, this.witness);
  readonly limits: SimulatedLimits = { global: 6, gpu: 2, memory: 6, perType: 2, perChannel: 4 };
  readonly letGo: Promise<void>;
  isHealing = false;
  /** Monotonic time until which the disk takes nothing more. */
  fullUntil = -Infinity;
  /** The one whose users are asked to do things. */
  current: Master;
  /** Those that were stopped, or that others have taken over from. */
  readonly former: Master[] = [];
  private release: () => void = () => undefined;
  private masters = 0;
  private ids = 0;

  constructor(readonly climate: Climate) {
    this.disk = new SimulatedDisk({ seed: climate.seed });
    this.letGo = new Promise((resolve) => {
      this.release = resolve;
    });
    this.current = this.start();
  }

  get isDiskFull(): boolean {
    return this.clock.now().mono < this.fullUntil;
  }

  get isFull(): boolean {
    return this.current.inner.core.state.pending >= MOST_UNFINISHED;
  }

  nextId(): string {
    this.ids += 1;
    return `t${this.ids}`;
  }

  /** A process starts, and takes over what is there. */
  start(): Master {
    this.masters += 1;
    const master = new Master(this, this.masters);
    this.current = master;
    master.start();
    return master;
  }

  async step({ act, seed, thenMs }: Step): Promise<void> {
    this.evidence.note(`act ${act}`);
    await this.do(act, new Chance(seed));
    await this.clock.advance(thenMs);
    await this.clock.settle();
    await this.supervise();
    checkAtRest(this, this.current);
  }

  /** Faults are over: everything that was ever acknowledged comes to its end. */
  async heal(): Promise<void> {
    this.isHealing = true;
    this.fullUntil = -Infinity;
    this.current.diesIn = 0;
    for (const master of this.former.splice(0)) master.end();
    this.release();
    await heal(this);
  }

  /** Nothing of it goes on. */
  end(): void {
    for (const master of [this.current, ...this.former]) master.end();
  }

  private async do(act: Step['act'], chance: Chance): Promise<void> {
    if (act in FAULT_ACTS) {
      await FAULT_ACTS[act as keyof typeof FAULT_ACTS](this, chance);
      return;
    }
    const known = { ...ACTS, ...WORKER_ACTS };
    const { current } = this;
    if (current.isAlive) {
      await quietly(this, () => known[act as keyof typeof known](this, current, chance));
    }
  }

  /** Lets everything happen that takes no time, however many turns that takes. */
  async quiesce(): Promise<void> {
    for (let turn = 0; turn < MOST_TURNS; turn += 1) await this.clock.settle();
  }

  /** Whoever has died or given up is replaced, as somebody who looks after them would do. */
  async supervise(): Promise<void> {
    const { current, former } = this;
    for (const master of [...former]) {
      if (!master.isAlive || (!master.isStopped && master.hasFailed)) {
        master.end();
        former.splice(former.indexOf(master), 1);
      }
    }
    if (current.isAlive && current.hasFailed) await this.buryFailed(current);
    if (!current.isAlive) {
      current.end();
      this.start();
      await this.clock.settle();
    }
  }

  /** Nothing is kept any more: whoever waits must have been told by now. */
  private async buryFailed(master: Master): Promise<void> {
    this.evidence.note(`gave up: ${String(master.inner.keeping?.failure?.code)}`);
    await this.clock.settle();
    const [unsettled] = master.testimony.unsettled();
    this.evidence.holds('G13', unsettled === undefined, () => `after a failure it never settles: ${String(unsettled)}`);
    master.end();
  }
}
