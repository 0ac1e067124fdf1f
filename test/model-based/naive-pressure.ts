import type { Naive, NaiveSubmission, NaiveTask } from './naive.js';

export interface NaiveBound {
  readonly maxPending: number;
  readonly whenFull: 'wait' | 'reject' | 'drop-oldest' | 'drop-lowest';
}

/** Level, deadline, due time and sequence: compared one after another. */
type Rank = readonly [number, number, number, number];

function compareRanks(x: Rank, y: Rank): number {
  const at = x.findIndex((value, i) => value !== y[i]);
  return at < 0 ? 0 : (x[at] as number) < (y[at] as number) ? -1 : 1;
}

function ranks(model: Naive): Map<NaiveTask, Rank> {
  const levels = model.inherited((task) => task.level);
  const deadlines = model.inherited((task) => task.spec.deadline);
  return new Map(
    model.unstarted().map((task) => {
      return [task, [levels.get(task) as number, deadlines.get(task) as number, task.due, task.sequence] as const];
    }),
  );
}

/** The pending tasks in the order in which they would be dropped. */
export function worst(model: Naive): NaiveTask[] {
  const ranked = [...ranks(model)];
  if (model.bound.whenFull === 'drop-oldest')
    return ranked.map(([task]) => task).sort((x, y) => x.sequence - y.sequence);
  return ranked.sort(([, x], [, y]) => compareRanks(y, x)).map(([task]) => task);
}

/** How many may be pending when these are in; `undefined` when they are refused, as nobody is dropped for them. */
export function checkRoom(model: Naive, batch: readonly NaiveSubmission[]): number | undefined {
  const { maxPending, whenFull } = model.bound;
  const before = model.unstarted().length;
  if (before + batch.length <= maxPending) return Infinity;
  if (batch.length > maxPending || whenFull === 'wait' || whenFull === 'reject') return undefined;
  const room = Math.max(maxPending, before);
  if (whenFull === 'drop-oldest') return room;
  const known = ranks(model);
  const last = worst(model)[before + batch.length - room - 1] as NaiveTask;
  for (const [position, { spec }] of batch.entries()) {
    const eta = spec.delayMs > 0 ? Math.max(spec.eta, model.wall + spec.delayMs) : spec.eta;
    const rank = [spec.level, spec.deadline, Math.max(eta, model.wall), model.nextSequence + position] as const;
    if (compareRanks(rank, known.get(last) as Rank) > 0) return undefined;
  }
  return room;
}
