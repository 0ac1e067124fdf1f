import type { Task } from '../model/index.js';

/**
 * The tasks in order of sequence, each once.
 *
 * Most of them lie close together, so that each has a slot of its own in a list as long as their range: that takes two
 * passes, where sorting a hundred thousand would take longer than all the rest of building an order.
 */
export function inSequence(tasks: readonly Task[]): Task[] {
  let first = Infinity;
  let last = -Infinity;
  for (const { sequence } of tasks) {
    first = Math.min(first, sequence);
    last = Math.max(last, sequence);
  }
  if (last - first > 4 * tasks.length + 1024) return [...new Set(tasks)].sort((x, y) => x.sequence - y.sequence);
  const slots = new Array<Task | undefined>(Math.max(0, last - first + 1)).fill(undefined);
  for (const task of tasks) slots[task.sequence - first] = task;
  return slots.filter((task) => task !== undefined);
}
