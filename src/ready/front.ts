import type { Task } from '../model/index.js';

/** A task with its rank. */
interface Ranked {
  readonly task: Task | undefined;
  readonly a: number;
  readonly b: number;
}

/** The best that a shape has to offer, as it competes with those of other shapes. */
export interface Front extends Ranked {
  readonly level: number;
  /** The aging window since which it has aged. */
  readonly window: number;
  /** Where its channel stands at its level, under fair sharing. */
  readonly pass: number;
  /** Where it was found, with the rank it has there. */
  readonly lane: (Ranked & { readonly channelName: string }) | undefined;
}
