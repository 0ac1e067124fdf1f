import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Scheduler, type FactMessage } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';
import { ControlledStore, factsOf } from './controlled-store.js';

type Fields = Readonly<Record<string, unknown>>;

/** A fact as data, without what stands in a journal in another form. */
function plain({ spec: _spec, payload: _payload, value: _value, ...rest }: Fields): unknown {
  return JSON.parse(JSON.stringify(rest));
}

/** Runs tasks of many kinds by these names, and gives what was told and what was kept. */
async function run(names: readonly string[]): Promise<{ told: Fields[]; kept: Fields[] }> {
  const [store, clock] = [new ControlledStore(), new VirtualClock()];
  const told: Fields[] = [];
  const listen = (message: unknown): void => {
    told.push((message as FactMessage).fact as unknown as Fields);
  };
  subscribe('precedence:fact', listen);
  const scheduler = new Scheduler({ store, clock, concurrency: 2 });
  scheduler.define('work', (input: string) => input, { retry: 1 });
  scheduler.define('parent', async (input: string, task) => {
    await task.add('work', input).result;
  });
  scheduler.define('fail', () => Promise.reject(new Error('it fails')), { retry: 1 });
  await scheduler.start();
  await clock.settle();
  told.length = store.bodies.length = 0;
  const added = names.flatMap((name, at) => [
    scheduler.add('work', name, { id: name, channel: `${name}'s`, priority: at % 3, delay: 50 * at }),
    scheduler.add('parent', name, { after: [name] }),
    scheduler.add('fail', undefined),
  ]);
  const ended = Promise.allSettled(added.map(({ result }) => result));
  await clock.advance(5_000);
  await ended;
  const kept = store.bodies.flatMap(factsOf) as unknown as Fields[];
  await scheduler.close();
  unsubscribe('precedence:fact', listen);
  return { told, kept };
}

test('B6.1 what the journal has of a fact is all of it, whatever the names in it are', async () => {
  const unit = fc.constantFrom('"', '\\', '/', '\u2028', '😀', 'ä', 'a', '{', ',');
  const name = fc.string({ unit, minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(name, { minLength: 1, maxLength: 4 }), async (names) => {
      const { told, kept } = await run(names);
      expect(kept.map(plain)).toEqual(told.map(plain));
      for (const kind of ['task.submitted', 'task.ready', 'attempt.started', 'attempt.ended', 'task.completed']) {
        expect(kept.map(({ kind }) => kind)).toContain(kind);
      }
    }),
    { numRuns: 20 },
  );
});
