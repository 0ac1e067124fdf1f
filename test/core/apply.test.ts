import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Core } from '../../src/core/index.js';
import { StaleLeaseError, UnknownTaskError, type Fact } from '../../src/model/index.js';
import { SIM_START, sim } from '../../src/testing/index.js';
import { OWN_STRATEGIES, converse, factsIn, reply, someOptions, someSteps, throughJson } from './commands.js';

// Shrinking a long run may take minutes; a shorter one tells hardly more.
const SETTINGS = { numRuns: 200, interruptAfterTimeLimit: 50_000 };

test('G8 all facts of a run, replayed, make the same state', () => {
  fc.assert(
    fc.property(someOptions, someSteps, (options, steps) => {
      const core = new Core(options);
      const { replies } = converse(core, steps);
      const replayed = new Core(options);
      for (const fact of throughJson(factsIn(replies))) replayed.apply(fact);
      const untold = core.snapshot().untold;
      for (const fact of untold) replayed.apply(fact);
      replayed.check();
      expect(throughJson({ ...replayed.snapshot(), untold })).toEqual(throughJson(core.snapshot()));
    }),
    SETTINGS,
  );
}, 60_000);

test('G8 a snapshot and the facts after it make the same state', () => {
  fc.assert(
    fc.property(someOptions, someSteps, fc.nat(), (options, steps, at) => {
      const { commands } = converse(new Core(options), steps);
      const core = new Core(options);
      const cut = at % commands.length;
      for (const command of commands.slice(0, cut)) reply(core, command);
      const restored = Core.restore(throughJson(core.snapshot()), { strategies: OWN_STRATEGIES });
      for (const command of commands.slice(cut)) {
        const said = reply(core, command);
        if ('facts' in said) for (const fact of throughJson(said.facts)) restored.apply(fact);
      }
      const { untold } = core.snapshot();
      for (const fact of untold) restored.apply(fact);
      expect(throughJson({ ...restored.snapshot(), untold })).toEqual(throughJson(core.snapshot()));
    }),
    SETTINGS,
  );
}, 60_000);

const ORIGIN = { wall: SIM_START, mono: 0 };

function replay(facts: readonly Fact[]): Core {
  const core = new Core({ origin: ORIGIN });
  for (const fact of throughJson(facts)) core.apply(fact);
  return core;
}

test('G8 replaying decides nothing: what is due stays undone until it is a fact', () => {
  const s = sim({ slots: 1 });
  s.add('a', { delay: 100 });
  s.add('b', { after: ['a'] });
  s.advance(100);
  const ready = s.facts.findIndex((fact) => fact.kind === 'task.ready');
  const core = replay(s.facts.slice(0, ready));
  expect(core.state.table.byId('a')?.state).toBe('delayed');
  expect(core.nextWakeAt().wall).toBe(SIM_START + 100);
});

test('G8 what a refused outcome gave back is told with the next command, before and after a snapshot', () => {
  const s = sim({ slots: 1 });
  s.add('a');
  s.cancel('a');
  const late = { kind: 'settle', task: 'a', token: { epoch: 1, attempt: 1 }, outcome: { kind: 'aborted' } } as const;
  expect(() => s.core.handle({ ...late, now: s.now })).toThrow(StaleLeaseError);
  const restored = Core.restore(throughJson(s.core.snapshot()));
  const facts = s.core.handle({ kind: 'tick', now: s.now });
  expect(facts.map((fact) => fact.kind)).toEqual(['attempt.settledLate']);
  const told = Core.restore(throughJson(restored.snapshot()));
  expect(told.handle({ kind: 'tick', now: s.now })).toEqual(facts);
  for (const fact of facts) restored.apply(fact);
  expect(restored.snapshot()).toEqual(s.core.snapshot());
});

test('G8 nobody is asked to act on what is replayed', () => {
  const s = sim({ slots: 1 });
  s.add('a');
  s.complete('a');
  expect(replay(s.facts).outbox.settled).toEqual([]);
});

test('G4 a fact about something unknown is refused', () => {
  const s = sim({ slots: 1 });
  s.add('a');
  const at = { ...s.now };
  expect(() => replay([{ kind: 'task.ready', task: 'a', ...at }])).toThrow(UnknownTaskError);
  const ended = { kind: 'attempt.ended', task: 'a', attempt: 2, workerId: 'local', how: 'failed', ...at } as const;
  expect(() => replay([...s.facts, ended])).toThrow(StaleLeaseError);
  const late = { kind: 'attempt.settledLate', task: 'a', sequence: 1, attempt: 1, ...at } as const;
  expect(() => replay([...s.facts, late])).toThrow(StaleLeaseError);
});
