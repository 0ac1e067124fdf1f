import type { Naive, NaiveTask } from './naive.js';

interface Level {
  /** Never falls. */
  virtualTime: number;
  /** The later of its last start and its becoming non-empty. */
  agesFrom: number;
  readonly passes: Map<string, number>;
}

/** Who has had how many turns at which level; counted only while somebody uses `fair`. */
export class NaiveTurns {
  counted = false;
  readonly levels = new Map<number, Level>();

  constructor(private readonly model: Naive) {}

  /** When `fair` comes into use all channels start level, and every level ages from now on. */
  follow(): void {
    const { model } = this;
    const wanted =
      model.strategy === 'fair' || [...model.workers.values()].some((worker) => worker.strategy === 'fair');
    if (wanted && !this.counted) {
      this.levels.clear();
      for (const task of model.unfinished()) if (task.readySince !== undefined) this.at(model.levelOf(task));
    }
    this.counted = wanted;
  }

  agesFrom(level: number): number {
    return this.at(level).agesFrom;
  }

  virtualTime(level: number): number {
    return this.at(level).virtualTime;
  }

  /** Turns divided by weight, and no less than the level's virtual time. */
  pass(level: number, channel: string): number {
    const { passes, virtualTime } = this.at(level);
    return Math.max(passes.get(channel) ?? 0, virtualTime);
  }

  /** A task is about to be ready at this level; the model still says that it is not. */
  joins(level: number, channel: string): void {
    if (!this.counted) return;
    const waiting = this.waiting(level);
    if (waiting.length === 0) this.at(level).agesFrom = Math.max(this.at(level).agesFrom, this.model.mono);
    if (!waiting.some((task) => task.spec.channel === channel)) this.catchUp(level);
  }

  /** A task of this level is about to start; it still waits. */
  starts(level: number): void {
    if (this.counted) this.catchUp(level);
  }

  /** A task of this channel has just started. */
  started(level: number, channel: string, turns: number): void {
    if (!this.counted) return;
    const weight = this.model.weights.get(channel) ?? this.model.weights.get('*') ?? 1;
    this.at(level).passes.set(channel, this.pass(level, channel) + turns / weight);
    this.at(level).agesFrom = this.model.mono;
    this.catchUp(level);
  }

  waiting(level: number): NaiveTask[] {
    return this.model
      .unfinished()
      .filter((task) => task.readySince !== undefined && this.model.levelOf(task) === level);
  }

  /** Brings the virtual time up to the smallest pass among the channels with work that could start now. */
  private catchUp(level: number): void {
    const workers = [...this.model.workers.values()];
    // Work that no worker here is able to do holds up nobody's turn.
    const isServed = (task: NaiveTask): boolean =>
      (task.spec.capabilities.length === 0 && this.model.waiting(task) === undefined) ||
      workers.some((worker) => this.model.suits(worker, task));
    const eligible = this.waiting(level).filter((task) => this.model.canStart(task) && isServed(task));
    if (eligible.length === 0) return;
    const smallest = Math.min(...eligible.map((task) => this.pass(level, task.spec.channel)));
    this.at(level).virtualTime = Math.max(this.virtualTime(level), smallest);
  }

  private at(level: number): Level {
    let found = this.levels.get(level);
    if (found === undefined) {
      found = { virtualTime: 0, agesFrom: this.model.mono, passes: new Map() };
      this.levels.set(level, found);
    }
    return found;
  }
}
