import { isFinal, keptNeeds, yieldedNeeds, type Attempt, type Need, type Task, type WaitStep } from '../model/index.js';
import { slackOf } from '../ready/index.js';
import type { State } from './state.js';

/** A task that must end before others can, and what it takes for that. */
interface Node {
  readonly task: Task;
  /** Whom it waits for that is not known to be able to end. */
  unmet: number;
  readonly dependants: Node[];
  /** What it needs and waiting attempts may be in the way of. */
  readonly lacks: readonly Need[];
  ends: boolean;
}

/** A circle of waits, as the error tells it. */
export interface Circle {
  readonly path: readonly string[];
  readonly steps: readonly WaitStep[];
}

/**
 * The deadlock that these tasks are in, if they are in one: not all of them could end even if everybody who can end did
 * and gave back what they hold. A circle of waits alone is none, as resources have units.
 *
 * What runs can end, and so can an abandoned attempt. A task can end once all that it waits for can, and what it needs
 * is not kept by attempts that cannot. Settings are not in the way: a need above the capacity waits for that to be
 * raised, which is for the user to do. Only what the tasks wait for is looked at, each once.
 *
 * `waiter` is a running task that counts as waiting.
 */
export function findDeadlock(state: State, tasks: readonly Task[], waiter?: Task): Deadlock | undefined {
  const search = new Deadlock(state, waiter);
  search.reduce(tasks);
  return search.isEmpty ? undefined : search;
}

/** The tasks that cannot end, by reduction. */
export class Deadlock {
  private readonly nodes = new Map<Task, Node>();
  /** What would be free of each resource that is lacked if all that can end had ended. */
  private readonly free = new Map<string, number>();
  private readonly lacking = new Map<string, Node[]>();
  private stuck: readonly Node[] = [];

  constructor(
    private readonly state: State,
    private readonly waiter: Task | undefined,
  ) {}

  get isEmpty(): boolean {
    return this.stuck.length === 0;
  }

  reduce(tasks: readonly Task[]): void {
    this.explore(tasks);
    const ending = [...this.nodes.values()].filter((node) => this.canEnd(node));
    for (const node of ending) {
      if (node.ends) continue;
      node.ends = true;
      for (const dependant of node.dependants) {
        dependant.unmet -= 1;
        if (this.canEnd(dependant)) ending.push(dependant);
      }
      if (this.isKeeper(node.task)) this.giveBack(node.task, ending);
    }
    this.stuck = [...this.nodes.values()].filter((node) => !node.ends);
  }

  /** Of the attempts that keep what others in the deadlock lack, the one that began to wait last. */
  lastInTheWay(): Attempt {
    const lacked = new Set(this.stuck.flatMap((node) => this.unmetNeeds(node)));
    const keeping = this.stuck
      .map(({ task }) => task)
      .filter((task) => this.isKeeper(task) && keptNeeds(task.spec).some(({ resource }) => lacked.has(resource)));
    const since = (task: Task): number => task.attempt?.wait?.since ?? Infinity;
    keeping.sort((x, y) => since(y) - since(x) || y.sequence - x.sequence);
    return (keeping[0] as Task).attempt as Attempt;
  }

  /** A circle that leads through the task, the shortest one; or if there is none, one that the task waits for. */
  circle(task: Task): Circle {
    const steps = this.wayTo(task, task) ?? this.someCircle(task);
    return { path: [...steps.map((step) => step.task), (steps[0] as WaitStep).task], steps };
  }

  private explore(tasks: readonly Task[]): void {
    const stack: Node[] = [];
    const nodeOf = (task: Task): Node => {
      let node = this.nodes.get(task);
      if (node === undefined) {
        node = { task, unmet: 0, dependants: [], lacks: this.goesOn(task) ? [] : this.scarce(task), ends: false };
        this.nodes.set(task, node);
        stack.push(node);
      }
      return node;
    };
    tasks.forEach(nodeOf);
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (this.goesOn(node.task)) continue;
      const waiting = node;
      this.state.dependencies.eachUnfinishedDependency(node.task, (dependency) => {
        waiting.unmet += 1;
        nodeOf(dependency).dependants.push(waiting);
      });
      for (const { resource } of node.lacks) {
        const lacking = this.lacking.get(resource);
        if (lacking !== undefined) {
          lacking.push(node);
          continue;
        }
        this.lacking.set(resource, [node]);
        for (const keeper of this.keepersOf(resource)) nodeOf(keeper);
      }
    }
  }

  private goesOn(task: Task): boolean {
    return isFinal(task.state) || (task.state === 'running' && task !== this.waiter);
  }

  /** Whether an attempt of the task waits, with all that it keeps. */
  private isKeeper(task: Task): boolean {
    return task === this.waiter || task.attempt?.wait !== undefined;
  }

  /** The needs of the task that would not be met if all who wait kept what they have. */
  private scarce(task: Task): Need[] {
    const needs = this.isKeeper(task) ? yieldedNeeds(task.spec) : task.spec.needs;
    return needs.filter(({ resource, amount }) => {
      return amount <= this.capacityOf(resource) && this.isBeyond(amount, resource);
    });
  }

  private freeOf(resource: string): number {
    let free = this.free.get(resource);
    if (free === undefined) {
      free = this.capacityOf(resource) - this.state.lending.unitsKept(resource);
      if (this.waiter !== undefined) free -= keptOf(this.waiter, resource);
      this.free.set(resource, free);
    }
    return free;
  }

  private capacityOf(resource: string): number {
    return this.state.resources.pools.get(resource)?.capacity ?? 0;
  }

  /** Whether so much would not be free. */
  private isBeyond(amount: number, resource: string): boolean {
    return amount > this.freeOf(resource) + slackOf(this.capacityOf(resource));
  }

  private *keepersOf(resource: string): Iterable<Task> {
    const { waiter } = this;
    const keepers = [...this.state.lending.keepersOf(resource)];
    if (waiter !== undefined && keptOf(waiter, resource) > 0) keepers.push(waiter);
    yield* keepers.sort((x, y) => x.sequence - y.sequence);
  }

  private canEnd(node: Node): boolean {
    return !node.ends && node.unmet === 0 && this.unmetNeeds(node).length === 0;
  }

  private unmetNeeds({ lacks }: Node): string[] {
    const unmet = lacks.filter(({ resource, amount }) => this.isBeyond(amount, resource));
    return unmet.map(({ resource }) => resource);
  }

  private giveBack(task: Task, ending: Node[]): void {
    for (const { resource, amount } of keptNeeds(task.spec)) {
      this.free.set(resource, this.freeOf(resource) + amount);
      for (const node of this.lacking.get(resource) ?? []) if (this.canEnd(node)) ending.push(node);
    }
  }

  /** Who is in the way of a task that cannot end, and how. */
  private blockers(task: Task): WaitOn[] {
    const node = this.nodes.get(task) as Node;
    const found: WaitOn[] = [];
    const add = (step: WaitOn): void => {
      if (this.nodes.get(step.next)?.ends === false) found.push(step);
    };
    const by = this.isKeeper(task) ? 'waitFor' : 'dependency';
    this.state.dependencies.eachUnfinishedDependency(task, (next) => {
      add({ by, next });
    });
    for (const resource of this.unmetNeeds(node)) {
      for (const next of this.keepersOf(resource)) add({ by: 'resource', resource, next });
    }
    return found;
  }

  private wayTo(goal: Task, from: Task): WaitStep[] | undefined {
    const before = new Map<Task, { readonly task: Task; readonly step: WaitOn }>();
    const queue = [from];
    for (const task of queue) {
      for (const step of this.blockers(task)) {
        if (before.has(step.next)) continue;
        before.set(step.next, { task, step });
        if (step.next === goal) return this.stepsBack(before, goal, from);
        queue.push(step.next);
      }
    }
    return undefined;
  }

  private stepsBack(
    before: ReadonlyMap<Task, { readonly task: Task; readonly step: WaitOn }>,
    goal: Task,
    from: Task,
  ): WaitStep[] {
    const steps: WaitStep[] = [];
    let at = goal;
    do {
      const { task, step } = before.get(at) as { readonly task: Task; readonly step: WaitOn };
      steps.push(stepOf(task, step));
      at = task;
    } while (at !== from);
    return steps.reverse();
  }

  /** Whoever cannot end is blocked by another one who cannot, so that following them must come round. */
  private someCircle(task: Task): WaitStep[] {
    const steps: WaitStep[] = [];
    const seen = new Map<Task, number>();
    let at = task;
    while (!seen.has(at)) {
      seen.set(at, steps.length);
      const step = this.blockers(at)[0] as WaitOn;
      steps.push(stepOf(at, step));
      at = step.next;
    }
    return steps.slice(seen.get(at));
  }
}

interface WaitOn {
  readonly by: WaitStep['by'];
  readonly resource?: string;
  readonly next: Task;
}

function stepOf(task: Task, { next, ...how }: WaitOn): WaitStep {
  return { task: task.id, ...how, next: next.id };
}

function keptOf(task: Task, resource: string): number {
  return keptNeeds(task.spec).find((need) => need.resource === resource)?.amount ?? 0;
}

/** The circle that a path of tasks makes, each of which waits for the next; `waiter` waits by an attempt. */
export function circleOf(waiter: Task, path: readonly Task[]): Circle {
  const steps = path.slice(0, -1).map((task, i): WaitStep => {
    const waits = task === waiter || task.attempt?.wait !== undefined;
    return { task: task.id, by: waits ? 'waitFor' : 'dependency', next: (path[i + 1] as Task).id };
  });
  return { path: path.map((task) => task.id), steps };
}
