import type { TaskState } from '../../src/model/index.js';
import type { NaiveTask } from './naive.js';

/** What a command that is refused throws. */
export class Refused extends Error {}

const FINAL: readonly TaskState[] = ['completed', 'failed', 'cancelled', 'skipped'];

export const hasEnded = (state: TaskState): boolean => FINAL.includes(state);

export const isOver = (task: NaiveTask): boolean => hasEnded(task.state);

export const endedBadly = (state: TaskState): boolean => hasEnded(state) && state !== 'completed';

export const waitsFor = (task: NaiveTask, other: NaiveTask): boolean =>
  !isOver(other) && task.edges.some(({ on, passed }) => on === other && !passed);
