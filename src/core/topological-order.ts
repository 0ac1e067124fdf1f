import { isFinal, type Task } from '../model/index.js';
import { Heap } from '../ready/index.js';
import type { State } from './state.js';

/**
 * All unfinished tasks, each after those it waits for, and otherwise in the order of submission.
 *
 * The graph's own numbering is not used: it depends on which edges came first, and this order should not.
 */
export function topologicalOrder(state: State): Task[] {
  const free = new Heap<Task>((x, y) => x.sequence - y.sequence);
  const unmet = new Map<Task, number>();
  for (const task of state.table.all()) {
    if (isFinal(task.state)) continue;
    const count = state.dependencies.unmetOf(task);
    if (count === 0) free.push(task);
    else unmet.set(task, count);
  }
  const order: Task[] = [];
  for (let task = free.pop(); task !== undefined; task = free.pop()) {
    order.push(task);
    state.dependencies.eachUnfinishedDependant(task, (dependant) => {
      const left = (unmet.get(dependant) as number) - 1;
      unmet.set(dependant, left);
      if (left === 0) free.push(dependant);
    });
  }
  return order;
}
