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
  const wakeAt = Math.min(mono, preemption.wakeAt(state.mono));
  // Not in the order of a moment: records of the same fields in the same order share what the engine knows of them, and an
  // infinite `mono` here would have every time be boxed, of every task, and what was compiled for small ones thrown away.
  return { mono: wakeAt, wall: wallLine.next() };
}

/** Whether anything is due at some time that the process stays for: what belongs to a series is that only if it asks for it. */
export function keepsAlive(state: State): boolean {
  const { wallLine, monoLine, resources } = state;
  if (wallLine.nextHeld() < Infinity || monoLine.nextHeld() < Infinity) return true;
  return resources.hasFlows && nextFit(state) < Infinity;
}
