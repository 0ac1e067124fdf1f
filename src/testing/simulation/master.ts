import { Scheduler } from '../../runtime/scheduler.js';
import type { Engine } from '../../runtime/engine.js';
import type { Handle } from '../../runtime/handle.js';
import type { Claim } from '../../runtime/claim.js';
import type { PullingWorker } from '../../runtime/pulling-worker.js';
import type { SchedulerOptions } from '../../runtime/scheduler-options.js';
import type { Opening, Store } from '../../ports/store.js';
import { FileStore } from '../../stores/file/file-store.js';
import { FaultyFiles, type FileCall, type FileFault } from '../faulty-files.js';
import type { SimulatedProcess } from '../simulated-disk.js';
import { Chance } from './chance.js';
import { diskFault } from './disk-faults.js';
import { behaviour, type Behaviour } from './handlers.js';
import { ProcessClock } from './process-clock.js';
import { Recorder, type RecorderHost } from './recorder.js';
import { Testimony } from './testimony.js';
import type { Surroundings } from './surroundings.js';

/** The directory on the simulated disk that all masters share. */
export const DIRECTORY = '/state';
/** The types of tasks: the second one may run but a few at a time. */
export const TYPES = ['work', 'render'] as const;

const AGING = { none: false, unbounded: { every: 50 }, bounded: { every: 50, maxWait: 100 } } as const;
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** The scheduler as it is, whose insides can be looked at. */
class OpenScheduler extends Scheduler {
  get inner(): Engine {
    return this.engine;
  }
}

/** One process with one scheduler in it, from its start to its end. */
export class Master implements RecorderHost {
  isAlive = true;
  isStopped = false;
  isClosing = false;
  /** Its epoch, once everything is back. */
  epoch = 0;
  readonly process: SimulatedProcess;
  readonly clock: ProcessClock;
  readonly store: Store;
  readonly scheduler: OpenScheduler;
  readonly testimony: Testimony;
  readonly workers: PullingWorker[] = [];
  readonly claims: Claim[] = [];
  readonly handles: Handle<unknown>[] = [];
  /** It ends at so many calls to the machine from now; never while 0. */
  diesIn = 0;
  private readonly chance: Chance;

  constructor(
    private readonly world: Surroundings,
    number: number,
  ) {
    const { climate, disk, ledger } = world;
    this.chance = new Chance(climate.seed + number / 1_000);
    this.process = disk.start();
    this.clock = new ProcessClock(world.clock);
    const files = new FaultyFiles(this.process, (call) => this.faultAt(call));
    const store = new FileStore(DIRECTORY, { files, durability: climate.durability, logger: SILENT });
    this.store = store;
    this.testimony = new Testimony(this, world.evidence, world.witness);
    this.scheduler = new OpenScheduler({
      ...optionsFor(world),
      clock: this.clock,
      store: new Recorder(store, ledger, this),
    });
    for (const type of TYPES) {
      this.scheduler.define(type, (input: Behaviour, task) => {
        this.testimony.began(task.id, task.token);
        return behaviour(world, this, input, task);
      });
    }
    this.testimony.listen(this.scheduler);
  }

  get inner(): Engine {
    return this.scheduler.inner;
  }

  /** Whether it is open, and takes whatever comes. */
  get isReady(): boolean {
    return this.isAlive && !this.isStopped && !this.isClosing && this.inner.keeping?.isOpen === true;
  }

  /** Whether it has given up. */
  get hasFailed(): boolean {
    return this.inner.keeping?.failure !== undefined;
  }

  start(): void {
    this.scheduler.start().catch(ignore);
  }

  opened({ epoch }: Opening): void {
    this.epoch = epoch;
    this.world.evidence.note('recovery');
  }

  failed(error: unknown): void {
    this.world.evidence.note(`append refused: ${String((error as { code?: unknown }).code)}`);
  }

  /** Closes in good order; what does not come to an end in time is given back. */
  close(drainMs: number): void {
    this.isClosing = true;
    const ended = (): void => {
      if (this.isAlive) this.end();
    };
    this.scheduler.close({ drain: drainMs, grace: drainMs }).then(ended, ended);
  }

  /** Nothing of it is heard any more; what it has written is there. */
  end(): void {
    this.isAlive = false;
    this.process.kill();
    this.clock.end();
  }

  /** It stands still, and others take it for dead. */
  stop(): void {
    this.isStopped = true;
    this.process.stop();
    this.clock.stop();
  }

  wake(): void {
    this.isStopped = false;
    this.clock.goOn();
  }

  private async faultAt(call: FileCall): Promise<FileFault | undefined> {
    const { world, clock, chance } = this;
    await clock.whileRunning();
    if (!this.isAlive) return new Promise(() => undefined);
    if (this.diesIn > 0) {
      this.diesIn -= 1;
      if (this.diesIn === 0) {
        this.isAlive = false;
        world.evidence.note(`death at ${call.operation}`);
        return { kind: 'end', when: chance.oneIn(2) ? 'before' : 'after' };
      }
    }
    if (world.isHealing) return undefined;
    const { slowness, disk } = world.climate.faults;
    if (slowness > 0 && chance.oneIn(8)) {
      world.evidence.note('slow call');
      await clock.sleep(1 + chance.roll(10 * slowness));
      await clock.whileRunning();
    }
    const fault = diskFault(call, disk, world.isDiskFull, chance);
    if (fault !== undefined)
      world.evidence.note(`${fault.kind === 'error' ? fault.code : 'short'} at ${call.operation}`);
    return fault;
  }
}

function optionsFor({ climate, limits }: Surroundings): SchedulerOptions {
  const { seed, strategy, concurrency, aging, snapshotEvery, retained } = climate;
  return {
    ...{ seed, strategy, concurrency },
    aging: AGING[aging],
    resources: { gpu: limits.gpu, memory: limits.memory },
    limits: { global: limits.global, perType: { render: limits.perType }, perChannel: { '*': limits.perChannel } },
    preemption: { minRun: 10, grace: 30, maxPerTask: 2 },
    retain: { count: retained, age: '10s' },
    snapshotEvery: { facts: snapshotEvery },
  };
}

function ignore(): void {
  // Whoever asks is told in another way.
}
