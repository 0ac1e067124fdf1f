import { CycleError } from '../../model/index.js';

/** The positions, each after those it depends on; a cycle is refused with its path. */
export function topological(inside: readonly (readonly number[])[], idAt: (position: number) => string): number[] {
  const unmet = inside.map((positions) => positions.length);
  const dependants: number[][] = inside.map(() => []);
  inside.forEach((positions, position) => {
    for (const dependency of positions) (dependants[dependency] as number[]).push(position);
  });
  const order: number[] = [];
  unmet.forEach((count, position) => {
    if (count === 0) order.push(position);
  });
  for (let next = 0; next < order.length; next += 1) {
    for (const dependant of dependants[order[next] as number] as number[]) {
      unmet[dependant] = (unmet[dependant] as number) - 1;
      if (unmet[dependant] === 0) order.push(dependant);
    }
  }
  if (order.length < inside.length) throw new CycleError({ path: cycleIn(inside, unmet).map(idAt) });
  return order;
}

/** Walking backwards from a position that was never freed must come round: each has an unfreed dependency. */
function cycleIn(inside: readonly (readonly number[])[], unmet: readonly number[]): number[] {
  const seen = new Map<number, number>();
  const path: number[] = [];
  let at = unmet.findIndex((count) => count > 0);
  while (!seen.has(at)) {
    seen.set(at, path.length);
    path.push(at);
    at = (inside[at] as number[]).find((dependency) => (unmet[dependency] as number) > 0) as number;
  }
  return [...path.slice(seen.get(at)), at];
}
