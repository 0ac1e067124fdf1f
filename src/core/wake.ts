import { nextFit } from './next-fit.js';
import type { State } from './state.js';

/** When the core next has something to do by itself, on either clock; `Infinity` for never. */
export interface Wake {
  readonly wall: number;
  readonly mono: number;
}

/** Whether anything is due at some time. */
export function hasMoments({ wallLine, monoLine, resources, preemption }: State): boolean {
  return wallLine.size > 0 || monoLine.size > 0 || resources.hasFlows || preemption.waiting !== undefined;
}

/** When something is due next: by the timelines, by a rate, or because somebody has run for long enough to make way. */
export function nextWake(state: State): Wake {
  const { wallLine, monoLine, resources, preemption } = state;
  const mono = resources.hasFlows ? Math.min(monoLine.next(), nextFit(state)) : monoLine.next();
  return { wall: wallLine.next(), mono: Math.min(mono, preemption.wakeAt(state.mono)) };
}

/** Whether nothing is due at any time but what belongs to series. */
export function isOnlySeriesDue(state: State): boolean {
  const { wallLine, monoLine, resources } = state;
  if (wallLine.nextOnce() < Infinity || monoLine.nextOnce() < Infinity) return false;
  return !resources.hasFlows || nextFit(state) === Infinity;
}
