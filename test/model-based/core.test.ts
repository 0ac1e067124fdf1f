import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  Real,
  agingChoice,
  attach,
  pressingSteps,
  setCapacity,
  steps,
  strategyChoice,
  workerChoice,
} from './commands.js';
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
  preemption: fc.record({
    graceMs: fc.constantFrom(500, 3_000),
    minRunMs: fc.constantFrom(0, 0, 1_000),
    maxPerTask: fc.constantFrom(0, 1, 3, 3),
  }),
  sliceMs: fc.constantFrom(0, 500),
  maxBypasses: fc.constantFrom(1, 3, 64),
  looks: fc.constantFrom('peeks' as const, 'blind' as const),
  workers: fc.uniqueArray(workerChoice, { minLength: 1, maxLength: 3, selector: ({ id }) => id }),
});

type Setup = typeof setup extends fc.Arbitrary<infer S> ? S : never;

/** A core and its model, with some resources and workers. */
function begin({ seed, looks, workers, ...options }: Setup): { model: Naive; real: Real } {
  const model = new Naive({ wall: Date.parse('2030-01-01T00:00:00Z'), ...options });
  const real = new Real(model, seed, looks);
  setCapacity('cpu', 5).run(model, real);
  setCapacity('gpu', 2).run(model, real);
  for (const worker of workers) attach(worker).run(model, real);
  return { model, real };
}

describe('the core against a model that sorts everything at every claim', () => {
  test('A1 A4 C3.2 C5.2 C9.1 C12.1 C12.2 C12.3 D12.1 E6 any commands: the same states, urgencies, holds, counts and claims, in the same order', () => {
    const commands = new Long(fc.commands(steps, { maxCommands: 400, size: 'max' }), MIN_COMMANDS);
    let ran = 0;
    fc.assert(
      fc.property(setup, commands, (how, sequence) => {
        fc.modelRun(() => begin(how), sequence);
        ran += 1;
      }),
      { numRuns: RUNS },
    );
    expect(ran).toBeGreaterThanOrEqual(RUNS);
  });

  test('C10.1 C10.2 C10.3 C11 with too much to do: the same make way, for the same, who are let in by it', () => {
    const commands = new Long(fc.commands(pressingSteps, { maxCommands: 260, size: 'max' }), MIN_COMMANDS / 2);
    let asked = 0;
    fc.assert(
      fc.property(setup, commands, (how, sequence) => {
        let model: Naive | undefined;
        fc.modelRun(() => {
          const begun = begin(how);
          ({ model } = begun);
          return begun;
        }, sequence);
        asked += model?.preemption.asked ?? 0;
      }),
      { numRuns: RUNS },
    );
    expect(asked).toBeGreaterThanOrEqual(RUNS);
  });
});
