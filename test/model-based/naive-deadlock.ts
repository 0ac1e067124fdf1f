import { keptNeeds } from '../../src/model/index.js';
import type { Naive, NaiveAttempt, NaiveTask } from './naive.js';

/** Units of a resource that those of the tasks keep whose attempts wait. */
function unitsKept(model: Naive, resource: string, tasks: readonly NaiveTask[]): number {
  const amounts = tasks
    .filter((task) => model.waiting(task) !== undefined)
    .map((task) => keptNeeds(task.spec).find((need) => need.resource === resource)?.amount ?? 0);
  return amounts.reduce((sum, amount) => sum + amount, 0);
}

/** What the task would lack if only these kept what they have; a need above the capacity is the setting's fault. */
function lacks(model: Naive, task: NaiveTask, keeping: readonly NaiveTask[]): string[] {
  const lacking = model.asksFor(task).filter(({ resource, amount }) => {
    const capacity = model.capacities.get(resource) ?? 0;
    return amount <= capacity && amount > capacity - unitsKept(model, resource, keeping);
  });
  return lacking.map(({ resource }) => resource);
}

/** The tasks that could never end: whoever can end is taken out, with all that they keep, until nobody can. */
export function stuckTasks(model: Naive): NaiveTask[] {
  let stuck = model.unfinished();
  // Dependencies alone never close a circle.
  if (!stuck.some((task) => model.waiting(task) !== undefined)) return [];
  for (;;) {
    const left = stuck.filter(
      (task) =>
        task.state !== 'running' &&
        (stuck.some((other) => model.waitsFor(task, other)) || lacks(model, task, stuck).length > 0),
    );
    if (left.length === stuck.length) return left;
    stuck = left;
  }
}

/** The wait that fails where something else than a wait has closed a circle: the last one that keeps what is lacked. */
export function lastInTheWay(model: Naive, around: readonly NaiveTask[]): NaiveAttempt | undefined {
  const stuck = stuckTasks(model);
  const concerned = new Set([...around, ...model.unfinished().filter((task) => model.waiting(task) !== undefined)]);
  for (const task of concerned) for (const { on } of task.edges) if (model.waitsFor(task, on)) concerned.add(on);
  const lacked = stuck.filter((task) => concerned.has(task)).flatMap((task) => lacks(model, task, stuck));
  const attempts = stuck
    .filter((task) => keptNeeds(task.spec).some(({ resource }) => lacked.includes(resource)))
    .flatMap((task) => model.waiting(task) ?? []);
  const since = ({ waitsSince }: NaiveAttempt): number => waitsSince ?? 0;
  return attempts.sort((x, y) => since(y) - since(x) || y.task.sequence - x.task.sequence)[0];
}
