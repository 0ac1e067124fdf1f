import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Real, agingChoice, attach, setCapacity, steps, strategyChoice, workerChoice } from './commands.js';
import { Naive } from './naive.js';

const MIN_COMMANDS = 200;
const RUNS = Number(process.env['FC_RUNS'] ?? 100);

/** Generates at least so many commands, and still shrinks to as few as it can. */
class Long<T extends Iterable<unknown>> extends fc.Arbitrary<T> {
  constructor(
    private readonly inner: fc.Arbitrary<T>,
    private readonly least: number,
  ) {
    super();
  }

  generate(random: fc.Random): fc.Value<T> {
    for (;;) {
      const value = this.inner.generate(random, undefined);
      if ([...value.value].length >= this.least) return value;
    }
  }

  canShrinkWithoutContext(value: unknown): value is T {
    return this.inner.canShrinkWithoutContext(value);
  }

  shrink(value: T, context: unknown): fc.Stream<fc.Value<T>> {
    return this.inner.shrink(value, context);
  }
}

const setup = fc.record({
  strategy: strategyChoice,
  aging: agingChoice,
  seed: fc.nat(),
  retain: fc.record({ count: fc.constantFrom(0, 5, 1_000), ageMs: fc.constantFrom(20_000, Infinity) }),
  looks: fc.constantFrom('peeks' as const, 'blind' as const),
  workers: fc.uniqueArray(workerChoice, { minLength: 1, maxLength: 3, selector: ({ id }) => id }),
});

describe('the core against a model that sorts everything at every claim', () => {
  test('A1 A4 C3.2 C5.2 C9.1 C12.1 C12.2 C12.3 D12.1 E6 any commands: the same states, urgencies, holds, counts and claims, in the same order', () => {
    const commands = new Long(fc.commands(steps, { maxCommands: 400, size: 'max' }), MIN_COMMANDS);
    let ran = 0;
    fc.assert(
      fc.property(setup, commands, ({ strategy, aging, seed, retain, looks, workers }, sequence) => {
        fc.modelRun(() => {
          const model = new Naive({ wall: Date.parse('2030-01-01T00:00:00Z'), strategy, aging, retain });
          const real = new Real(model, seed, looks);
          setCapacity('cpu', 5).run(model, real);
          setCapacity('gpu', 2).run(model, real);
          for (const worker of workers) attach(worker).run(model, real);
          return { model, real };
        }, sequence);
        ran += 1;
      }),
      { numRuns: RUNS },
    );
    expect(ran).toBeGreaterThanOrEqual(RUNS);
  });
});
