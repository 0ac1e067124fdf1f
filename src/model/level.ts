import { type Refuse, refuseTask } from './refuse.js';

/** The names of the usual levels, the most urgent first. */
export type LevelName = 'critical' | 'high' | 'normal' | 'low' | 'idle';

/** How urgent a task is: a name or any finite number, where the lower runs first. */
export type Priority = LevelName | number;

/** The level of a task that asks for none. */
export const DEFAULT_LEVEL = 2;

const LEVELS: ReadonlyMap<unknown, number> = new Map<LevelName, number>([
  ['critical', 0],
  ['high', 1],
  ['normal', DEFAULT_LEVEL],
  ['low', 3],
  ['idle', 4],
]);

/** The level as a number; minus zero becomes zero, so that equal levels are one level in every index. */
export function parseLevel(value: unknown, field = 'priority', refuse: Refuse = refuseTask): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value + 0;
  return LEVELS.get(value) ?? refuse(field, value, `a finite number, or one of ${[...LEVELS.keys()].join(', ')}`);
}
