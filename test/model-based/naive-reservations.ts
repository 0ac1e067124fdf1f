import { keptNeeds, yieldedNeeds } from '../../src/model/index.js';
import { ranked } from './naive-order.js';
import type { Naive, NaiveTask } from './naive.js';

/** Stands for a worker where what is kept is a reservation, without a slot. */
export const RESERVED = 'reserved';

/** Who is passed over, and for whom what it needs is kept in the end. */
export class NaiveReservations {
  constructor(
    private readonly model: Naive,
    private readonly maxBypasses: number,
  ) {}

  /** Whom a start of the task passes over: of those that lack a resource it takes, the best-ranked one of its shape. */
  passedOverBy(task: NaiveTask): NaiveTask[] {
    if (this.reserved() !== undefined) return [];
    const passed = new Set<NaiveTask>();
    for (const { resource } of task.spec.needs) {
      const found = this.foremost(resource);
      if (found !== undefined && !this.model.preemption.rooms.has(found)) passed.add(found);
    }
    return [...passed];
  }

  passOver(passed: readonly NaiveTask[]): void {
    const { model } = this;
    for (const task of passed) {
      task.bypasses = Math.min(task.bypasses + 1, Math.max(task.bypasses, this.maxBypasses));
      const due = task.bypasses >= this.maxBypasses || model.mono - model.readyFrom(task) >= model.aging.maxWaitMs;
      if (this.reserved() !== undefined || !due || !this.canBeMet(task) || !this.mayStart(task)) continue;
      model.preemption.rooms.set(task, { worker: RESERVED, until: Infinity });
    }
  }

  /** Whether it could start if everything had ended that runs or needs no resource to go on, and those who wait had not. */
  canBeMet(task: NaiveTask): boolean {
    const { model } = this;
    return model.asksFor(task).every(({ resource, amount }) => {
      const waiting = model.holding().filter(({ life, waitsSince, task: { spec, state, edges } }) => {
        const isFree = yieldedNeeds(spec).length === 0 && (state === 'ready' || !edges.some(({ awaited }) => awaited));
        return life === 'counts' && waitsSince !== undefined && !isFree;
      });
      const kept = waiting
        .flatMap((attempt) => keptNeeds(attempt.task.spec))
        .reduce((sum, need) => sum + (need.resource === resource ? need.amount : 0), 0);
      const burst = model.rates.burst(`resource ${resource}`);
      return amount <= burst && kept + amount <= (model.capacities.get(resource) ?? 0);
    });
  }

  private isServed(task: NaiveTask): boolean {
    return [...this.model.workers.values()].some((worker) => this.model.suits(worker, task));
  }

  /** Whether somebody who takes it has slots at all. */
  mayStart(task: NaiveTask): boolean {
    return [...this.model.workers.values()].some((worker) => worker.slots > 0 && this.model.suits(worker, task));
  }

  reserved(): NaiveTask | undefined {
    return [...this.model.preemption.rooms].find(([, { worker }]) => worker === RESERVED)?.[0];
  }

  private foremost(resource: string): NaiveTask | undefined {
    const { model } = this;
    const able = model
      .unfinished()
      .filter((task) => model.asksFor(task).some((need) => need.resource === resource))
      .filter((task) => model.lacksResourcesOnly(task) && this.isServed(task));
    const longest = this.best(able, resource, (tasks) =>
      tasks.toSorted((x, y) => model.readyFrom(x) - model.readyFrom(y) || x.due - y.due || x.sequence - y.sequence),
    );
    if (longest !== undefined && model.mono - model.readyFrom(longest) >= model.aging.maxWaitMs) return longest;
    const strategy = model.strategy === 'weighted-random' ? 'fifo' : model.strategy;
    return this.best(able, resource, (tasks) =>
      ranked(
        model,
        strategy,
        tasks,
        () => 0,
        () => '',
      ),
    );
  }

  private best(
    able: readonly NaiveTask[],
    resource: string,
    order: (tasks: readonly NaiveTask[]) => readonly NaiveTask[],
  ): NaiveTask | undefined {
    const shapes = new Map<string, NaiveTask[]>();
    for (const task of able) shapes.set(this.shapeOf(task), [...(shapes.get(this.shapeOf(task)) ?? []), task]);
    const heads = [...shapes.values()].map((tasks) => order(tasks)[0] as NaiveTask);
    const lacking = heads.filter((task) => this.lacks(task, resource));
    return lacking.length === 0 ? undefined : order(lacking)[0];
  }

  private shapeOf(task: NaiveTask): string {
    const { type, capabilities } = task.spec;
    const names = this.model.asksFor(task).map(({ resource }) => resource);
    const attempt = this.model.waiting(task);
    return JSON.stringify(
      attempt === undefined ? [type, names, capabilities] : [type, names, attempt.worker, 'returns'],
    );
  }

  private lacks(task: NaiveTask, resource: string): boolean {
    const { model } = this;
    const amount = model.asksFor(task).find((need) => need.resource === resource)?.amount ?? 0;
    const kept = model.preemption.kept(`resource ${resource}`);
    if (model.held(resource) + kept + amount > (model.capacities.get(resource) ?? 0)) return true;
    return model.waiting(task) === undefined && model.rates.soonest(`resource ${resource}`, amount + kept) > model.mono;
  }
}
