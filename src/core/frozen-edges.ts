import type { Task } from '../model/index.js';
import { edgesInOrder } from './edge-order.js';
import type { FrozenLists } from './frozen-lists.js';
import { PAGE } from './pages.js';

/** An edge as plain data. */
export type EdgeRecord = readonly [dependency: number, task: number, policy: number];

/** Who waited for whom at a moment, to be told bit by bit afterwards. */
export class FrozenEdges {
  constructor(
    readonly lists: FrozenLists,
    /** By node. */
    private readonly tasks: readonly (Task | undefined)[],
  ) {}

  /**
   * Every edge from a task that counts, in an order in which connecting them again makes the same lists; `undefined` is a
   * step without one.
   */
  *records(counts: (dependency: Task) => boolean): Iterable<EdgeRecord | undefined> {
    const { lists } = this;
    for (const edge of edgesInOrder(lists, nodesBySequence(this.tasks))) {
      if (edge === undefined) yield undefined;
      else {
        const dependency = this.tasks[lists.source(edge)] as Task;
        const task = this.tasks[lists.target(edge)] as Task;
        yield counts(dependency) ? [dependency.sequence, task.sequence, lists.policy(edge)] : undefined;
      }
    }
  }
}

/** All nodes in the order of their tasks. A sort of them all would be one long turn: they are laid out in pages. */
function* nodesBySequence(tasks: readonly (Task | undefined)[]): Iterable<number | undefined> {
  const pages = new Map<number, Int32Array>();
  for (const [node, task] of tasks.entries()) {
    yield undefined;
    if (task === undefined) continue;
    const number = Math.floor(task.sequence / PAGE);
    let page = pages.get(number);
    if (page === undefined) {
      page = new Int32Array(PAGE).fill(-1);
      pages.set(number, page);
    }
    page[task.sequence % PAGE] = node;
  }
  for (const [, page] of [...pages].sort(([a], [b]) => a - b)) for (const node of page) if (node >= 0) yield node;
}
