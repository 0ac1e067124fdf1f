import { InvalidConfigError, InvalidTaskError } from './refusals.js';

/** Throws the error that fits where a malformed value was met; the parsers take one, so that all share their rules. */
export type Refuse = (field: string, value: unknown, expected: string) => never;

/** Refuses a value given for a task. */
export const refuseTask: Refuse = (field, value, expected) => {
  throw new InvalidTaskError({ field, value, expected });
};

/** Refuses a value given for the scheduler, a worker or a store. */
export const refuseConfig: Refuse = (field, value, expected) => {
  throw new InvalidConfigError({ field, value, expected });
};
