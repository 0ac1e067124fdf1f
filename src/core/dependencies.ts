import { invariant, isFinal, type FailurePolicy, type Task } from '../model/index.js';
import { FrozenEdges } from './frozen-edges.js';
import { Graph, type EdgePolicy } from './graph.js';
import {
  AWAITED,
  AWAITED_PASSED,
  NUMBERS,
  PASSED,
  POLICIES,
  counts,
  edgePolicy,
  isMovable,
  linkPolicy,
  linkedTask,
  type Dependency,
  type Link,
} from './links.js';

/** What a task's end means for one of its dependants. */
export type Verdict = 'met' | 'fail' | 'skip';

/** Hears what an end means for those that it lets through or brings down. */
export interface Verdicts {
  add(dependant: Task, verdict: Verdict, cause: Task): void;
}

/**
 * Who waits for whom, and for how many each still waits.
 *
 * Only tasks with an edge have a node. A finished task keeps its node, and so its result, until the last dependant
 * that may ask for it has finished too.
 */
export class Dependencies {
  readonly graph = new Graph();
  private readonly tasks: (Task | undefined)[] = [];
  private readonly unmet: number[] = [];

  /** How many dependencies the task still waits for. */
  unmetOf(task: Task): number {
    return task.node < 0 ? 0 : (this.unmet[task.node] as number);
  }

  /** Links a new task to what it waits for. It comes last, so it cannot close a cycle. */
  attach(task: Task, links: readonly Link[]): void {
    if (links.length === 0) return;
    for (const link of links) this.ensureNode(linkedTask(link));
    const node = this.ensureNode(task);
    let unmet = 0;
    for (const link of links) {
      const dependency = linkedTask(link);
      this.graph.link(dependency.node, node, edgePolicy(dependency, linkPolicy(link, task)));
      if (!isFinal(dependency.state)) unmet += 1;
    }
    this.unmet[node] = unmet;
  }

  /** Adds an edge between known tasks; the path of the cycle it would close otherwise. */
  connect(dependency: Task, task: Task, onFailure: FailurePolicy): readonly Task[] | undefined {
    return this.connectBy(dependency, task, edgePolicy(dependency, onFailure));
  }

  private connectBy(dependency: Task, task: Task, policy: EdgePolicy): readonly Task[] | undefined {
    const from = this.ensureNode(dependency);
    const to = this.ensureNode(task);
    const cycle = this.graph.connect(from, to, policy);
    if (cycle !== undefined) {
      const path = cycle.map((node) => this.at(node));
      this.dropBareNode(dependency);
      this.dropBareNode(task);
      return path;
    }
    if (!isFinal(dependency.state)) this.unmet[to] = this.unmetOf(task) + 1;
    return undefined;
  }

  /** An attempt of the task waits for another one; the path of the cycle that would close otherwise. */
  beginWait(awaited: Task, task: Task): readonly Task[] | undefined {
    return this.connectBy(awaited, task, AWAITED);
  }

  /** It no longer does. */
  endWait(awaited: Task, task: Task): void {
    for (let edge = this.graph.firstIn(task.node); edge >= 0; edge = this.graph.nextIn(edge)) {
      const policy = this.graph.policy(edge);
      if (policy < AWAITED || this.graph.source(edge) !== awaited.node) continue;
      if (!isFinal(awaited.state) && policy === AWAITED) this.unmet[task.node] = this.unmetOf(task) - 1;
      this.graph.unlink(edge);
      break;
    }
    this.dropBareNode(awaited);
    this.dropBareNode(task);
  }

  /** Every edge of this moment. */
  freeze(): FrozenEdges {
    return new FrozenEdges(this.graph.lists(), this.tasks.slice());
  }

  /** Takes back an edge that was saved. */
  restore(dependency: Task, task: Task, policy: number): void {
    const from = this.ensureNode(dependency);
    const to = this.ensureNode(task);
    const cycle = this.graph.connect(from, to, policy as EdgePolicy);
    invariant(cycle === undefined, `The saved edge from ${dependency.id} to ${task.id} closes a cycle.`);
    if (!isFinal(dependency.state) && counts(policy as EdgePolicy)) this.unmet[to] = this.unmetOf(task) + 1;
  }

  has(dependency: Task, task: Task): boolean {
    return dependency.node >= 0 && task.node >= 0 && this.graph.findEdge(dependency.node, task.node) >= 0;
  }

  /** Whether the dependency ended badly before and the task no longer waits for it. */
  wentOnWithout(dependency: Task, task: Task): boolean {
    return this.graph.policy(this.graph.findEdge(dependency.node, task.node)) === PASSED;
  }

  /** What a bad end of the unfinished dependency will mean for the task from now on; whether that is a change. */
  setPolicy(dependency: Task, task: Task, onFailure: FailurePolicy): boolean {
    const policy = NUMBERS[onFailure];
    let changed = false;
    // The same dependency may have been named more than once.
    for (let edge = this.graph.firstIn(task.node); edge >= 0; edge = this.graph.nextIn(edge)) {
      if (this.graph.source(edge) !== dependency.node || this.graph.policy(edge) === policy) continue;
      this.graph.setPolicy(edge, policy);
      changed = true;
    }
    return changed;
  }

  disconnect(dependency: Task, task: Task): void {
    // The same dependency may have been named more than once.
    for (
      let edge = this.graph.findEdge(dependency.node, task.node);
      edge >= 0;
      edge = this.graph.findEdge(dependency.node, task.node)
    ) {
      const counted = !isFinal(dependency.state) && this.graph.policy(edge) !== PASSED;
      if (counted) this.unmet[task.node] = this.unmetOf(task) - 1;
      this.graph.unlink(edge);
    }
    this.dropBareNode(dependency);
    this.dropBareNode(task);
  }

  /** What the task waits for or waited for, in the order in which it was named. */
  of(task: Task): Dependency[] {
    const found: Dependency[] = [];
    if (task.node < 0) return found;
    for (let edge = this.graph.firstIn(task.node); edge >= 0; edge = this.graph.nextIn(edge)) {
      if (this.graph.policy(edge) >= AWAITED) continue;
      found.push({ task: this.at(this.graph.source(edge)), onFailure: POLICIES[this.graph.policy(edge)] ?? 'run' });
    }
    return found;
  }

  /** Calls for every unfinished dependency. */
  eachUnfinishedDependency(task: Task, visit: (dependency: Task) => void): void {
    if (task.node < 0) return;
    for (let edge = this.graph.firstIn(task.node); edge >= 0; edge = this.graph.nextIn(edge)) {
      const dependency = this.at(this.graph.source(edge));
      if (!isFinal(dependency.state) && counts(this.graph.policy(edge))) visit(dependency);
    }
  }

  /** Whether the other one is unfinished and waits for the task, with one of its edges at least. */
  isAwaitedBy(task: Task, other: Task): boolean {
    if (isFinal(other.state) || !this.has(task, other)) return false;
    let waits = counts(this.graph.policy(this.graph.findEdge(task.node, other.node)));
    if (!waits) this.eachUnfinishedDependency(other, (each) => (waits ||= each === task));
    return waits;
  }

  /** Calls for every unfinished dependant. */
  eachUnfinishedDependant(task: Task, visit: (dependant: Task) => void): void {
    this.findUnfinishedDependant(task, (dependant) => {
      visit(dependant);
      return false;
    });
  }

  /** The first unfinished dependant that is accepted; those after it are not looked at. */
  findUnfinishedDependant(task: Task, accepts: (dependant: Task) => boolean): Task | undefined {
    if (task.node < 0) return undefined;
    for (let edge = this.graph.firstOut(task.node); edge >= 0; edge = this.graph.nextOut(edge)) {
      const dependant = this.at(this.graph.target(edge));
      if (isFinal(dependant.state) || !counts(this.graph.policy(edge))) continue;
      if (accepts(dependant)) return dependant;
    }
    return undefined;
  }

  /** The task has ended: counts it off for its dependants; hears of those that it lets through or brings down. */
  countOff(task: Task, verdicts: Verdicts): void {
    if (task.node < 0) return;
    const completed = task.state === 'completed';
    for (let edge = this.graph.firstOut(task.node); edge >= 0; edge = this.graph.nextOut(edge)) {
      const policy = this.graph.policy(edge);
      if (!counts(policy)) continue;
      // Counting touches numbers only: the dependant itself is looked at when it is the last or a bad one.
      const node = this.graph.target(edge);
      const left = (this.unmet[node] as number) - 1;
      this.unmet[node] = left;
      if (!completed) this.graph.setPolicy(edge, policy === AWAITED ? AWAITED_PASSED : PASSED);
      const verdict = completed || policy === 2 || policy === AWAITED ? 'met' : policy === 0 ? 'fail' : 'skip';
      if (verdict !== 'met' || left === 0) verdicts.add(this.at(node), verdict, task);
    }
  }

  /** The task has ended and another one takes its place: only attempts that wait for it go on. */
  countOffWaits(task: Task, verdicts: Verdicts): void {
    for (let edge = this.graph.firstOut(task.node); edge >= 0; edge = this.graph.nextOut(edge)) {
      const policy = this.graph.policy(edge);
      if (!counts(policy)) continue;
      const node = this.graph.target(edge);
      this.unmet[node] = (this.unmet[node] as number) - 1;
      if (policy !== AWAITED) continue;
      this.graph.setPolicy(edge, AWAITED_PASSED);
      if (this.unmet[node] === 0) verdicts.add(this.at(node), 'met', task);
    }
  }

  /**
   * Whoever has not begun and came after a task that has ended comes after another one from now on; gives those that wait
   * for that. Who had gone on without the one goes on without the other.
   */
  takePlace(before: Task, task: Task): Task[] {
    const waiting: Task[] = [];
    if (before.node < 0) return waiting;
    const node = this.ensureNode(task);
    for (let edge = this.graph.firstOut(before.node); edge >= 0;) {
      const next = this.graph.nextOut(edge);
      const dependant = this.at(this.graph.target(edge));
      const policy = this.graph.policy(edge);
      if (isMovable(dependant, policy)) {
        this.graph.moveSource(edge, node);
        if (policy !== PASSED) {
          this.unmet[dependant.node] = this.unmetOf(dependant) + 1;
          waiting.push(dependant);
        }
      }
      edge = next;
    }
    this.dropBareNode(before);
    this.dropBareNode(task);
    return waiting;
  }

  /** The task has ended and asks for no results any more; `pins` hears of those whose last dependant this was. */
  detach(task: Task, pins: { unpinned(dependency: Task): void }): void {
    if (task.node < 0) return;
    for (let edge = this.graph.firstIn(task.node); edge >= 0;) {
      const next = this.graph.nextIn(edge);
      const source = this.graph.source(edge);
      this.graph.unlink(edge);
      if (this.graph.firstOut(source) < 0) this.lostLastDependant(this.at(source), pins);
      edge = next;
    }
    // Its node may stay for its dependants; should it be run again, it waits for nobody.
    this.unmet[task.node] = 0;
    this.dropBareNode(task);
  }

  private lostLastDependant(dependency: Task, pins: { unpinned(dependency: Task): void }): void {
    if (!isFinal(dependency.state)) return;
    this.dropBareNode(dependency);
    pins.unpinned(dependency);
  }

  /** Whether an unfinished task may still ask for this one's result. */
  isPinned(task: Task): boolean {
    return task.node >= 0 && this.graph.firstOut(task.node) >= 0;
  }

  at(node: number): Task {
    return this.tasks[node] as Task;
  }

  /** All unfinished tasks with edges, each after what it waits for. */
  inOrder(): Task[] {
    const nodes = this.tasks.filter((task): task is Task => task !== undefined && task.node >= 0);
    return nodes.sort((x, y) => this.graph.before(x.node, y.node));
  }

  private ensureNode(task: Task): number {
    if (task.node < 0) {
      task.node = this.graph.addNode();
      this.tasks[task.node] = task;
      this.unmet[task.node] = 0;
    }
    return task.node;
  }

  private dropBareNode(task: Task): void {
    const { node } = task;
    if (node < 0 || this.graph.firstIn(node) >= 0 || this.graph.firstOut(node) >= 0) return;
    this.graph.removeNode(node);
    this.tasks[node] = undefined;
    task.node = -1;
  }
}
