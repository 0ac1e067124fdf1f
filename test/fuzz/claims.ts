import { expect } from 'vitest';
import { Core, type CoreSnapshot } from '../../src/core/index.js';
import { InvalidConfigError, InvalidTaskError, SchedulerError, type Scheduler } from '../../src/index.js';
import { misfitOfHead } from '../../src/runtime/snapshot-shapes.js';

const PROTOTYPES = [Object.prototype, Array.prototype, Function.prototype, Map.prototype, Error.prototype];

/** All that objects inherit: nothing that comes from outside may add to it. */
export function inherited(): string {
  return PROTOTYPES.map((prototype) => Reflect.ownKeys(prototype).map(String).join()).join('\n');
}

/** Demands an error of this package which names what is wrong, in words that can be printed anywhere. */
export function expectTyped(error: unknown): asserts error is SchedulerError {
  if (!(error instanceof SchedulerError)) throw new Error('What was thrown is no SchedulerError.', { cause: error });
  expect(error.message.length, error.message.slice(0, 200)).toBeLessThan(700);
  expect(error.message).not.toMatch(/[\p{Cc}\p{Cs}\p{Bidi_Control}]/u);
  if (!(error instanceof InvalidTaskError || error instanceof InvalidConfigError)) return;
  expect(error.field).not.toBe('');
  expect(error.message).toContain(error.field.length > 200 ? error.field.slice(0, 199) : `${error.field} is `);
}

/** The core behind a scheduler: all that decides. */
export function coreOf(scheduler: Scheduler): Core {
  return (scheduler as unknown as { engine: { core: Core } }).engine.core;
}

/** A snapshot as a text; of what tasks carry, which may be anything, only whether it is there. */
export function textOf(snapshot: CoreSnapshot): string {
  return JSON.stringify(snapshot, (key, value: unknown) => {
    if (key === 'payload') return undefined;
    return ['value', 'checkpoint'].includes(key) && value !== undefined ? 'something' : value;
  });
}

/** Demands that all that the core keeps fits together, and is the same after it has been through a store. */
export function expectSound(core: Core): void {
  core.check();
  const text = textOf(core.snapshot());
  const snapshot = JSON.parse(text) as CoreSnapshot;
  const own = [snapshot.settings.strategy, ...snapshot.workers.map(({ strategy }) => strategy)];
  if (own.some((strategy) => strategy?.custom === true)) return;
  expect(textOf(Core.restore(snapshot).snapshot())).toBe(text);
}

/** Demands that each value that the core keeps is one that can stand there. */
export function expectWellFormed(core: Core): void {
  expect(misfitOfHead(JSON.parse(textOf(core.snapshot())))).toBeUndefined();
}
