import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Core, type Command } from '../../src/core/index.js';
import { attemptFor } from '../../src/core/decide/settle.js';
import { workerFor } from '../../src/core/decide/claim.js';
import { taskFor } from '../../src/core/decide/steer.js';
import { StaleLeaseError, type Fact } from '../../src/model/index.js';
import { sim } from '../../src/testing/index.js';
import {
  OWN_STRATEGIES,
  converse,
  factsIn,
  reply,
  someOptions,
  someSteps,
  throughJson,
  unlessRefused,
  type Reply,
} from './commands.js';

const SETTINGS = { numRuns: 150, interruptAfterTimeLimit: 50_000 };

/** Sends the command by the method that callers in a hurry use, where there is one. */
function send(core: Core, command: Command): void {
  const { now } = command;
  switch (command.kind) {
    case 'submit':
      core.submit(now, command.spec, command.payload, command.after, {
        origin: command.origin,
        parent: command.parent === undefined ? undefined : taskFor(core.state, command.parent),
      });
      return;
    case 'repeat':
      core.repeat(now, command.series, command.spec, command.recurrence, command.payload);
      return;
    case 'claim': {
      const worker = workerFor(core.state, command.worker);
      for (let i = 0; i < command.count; i += 1) if (core.claim(now, worker) === undefined) return;
      return;
    }
    case 'settle':
      core.settle(now, attemptFor(core.state, command.task, command.token), command.outcome);
      return;
    case 'waitFor':
      core.waitFor(now, attemptFor(core.state, command.task, command.token), command.awaited);
      return;
    case 'cancel':
      core.cancel(now, command.task, command);
      return;
    case 'cancelAll':
      core.cancel(
        now,
        command.tasks.map((id) => taskFor(core.state, id)),
        command,
      );
      return;
    case 'attachWorker':
      core.attach(now, command.worker);
      return;
    case 'tick':
      // Whether anything goes on by itself is all the same here, but it may draw.
      for (const worker of core.state.workers.values()) core.goOn(now, worker);
      core.handle(command);
      return;
    default:
      core.handle(command);
  }
}

function quickly(core: Core, command: Command): Reply {
  return unlessRefused(() => {
    send(core, command);
    return [];
  });
}

test('G8 facts followed while a core is used by all its methods, replayed, make the same state', () => {
  fc.assert(
    fc.property(someOptions, someSteps, (options, steps) => {
      const core = new Core(options);
      const facts: Fact[] = [];
      core.observe((fact) => facts.push(fact));
      converse(core, steps, quickly);
      const replayed = new Core(options);
      for (const fact of throughJson(facts)) replayed.apply(fact);
      replayed.check();
      expect(throughJson(replayed.snapshot())).toEqual(throughJson(core.snapshot()));
    }),
    SETTINGS,
  );
}, 60_000);

test('G8 a snapshot and the facts followed since make the same state', () => {
  fc.assert(
    fc.property(someOptions, someSteps, fc.nat(), (options, steps, at) => {
      const { commands } = converse(new Core(options), steps, quickly);
      const core = new Core(options);
      const cut = at % commands.length;
      const facts: Fact[] = [];
      // Whoever begins to follow later is told from then on, and of what a refused command left behind.
      if (cut % 2 === 0) core.observe((fact) => facts.push(fact));
      for (const command of commands.slice(0, cut)) quickly(core, command);
      if (cut % 2 === 1) core.observe((fact) => facts.push(fact));
      facts.length = 0;
      const restored = Core.restore(throughJson(core.snapshot()), { strategies: OWN_STRATEGIES });
      for (const command of commands.slice(cut)) quickly(core, command);
      for (const fact of throughJson(facts)) restored.apply(fact);
      expect(throughJson(restored.snapshot())).toEqual(throughJson(core.snapshot()));
    }),
    SETTINGS,
  );
}, 60_000);

test('F9 whoever follows is told the same, in the same order, as the answers to commands', () => {
  fc.assert(
    fc.property(someOptions, someSteps, (options, steps) => {
      const core = new Core(options);
      const followed: Fact[] = [];
      core.observe((fact) => followed.push(fact));
      const { commands } = converse(core, steps);
      const alone = new Core(options);
      const answered = factsIn(commands.map((command) => reply(alone, command)));
      expect(followed).toEqual([...answered, ...alone.snapshot().untold]);
    }),
    { numRuns: 50 },
  );
}, 60_000);

test('F9 whoever follows is told at once what a refused outcome gave back, and no later answer begins with it', () => {
  const late = { kind: 'settle', task: 'a', token: { epoch: 1, attempt: 1 }, outcome: { kind: 'aborted' } } as const;
  const told = (follow: 'before' | 'after'): string[] => {
    const s = sim({ slots: 1 });
    s.add('a');
    s.cancel('a');
    const facts: Fact[] = [];
    if (follow === 'before') s.core.observe((fact) => facts.push(fact));
    expect(() => s.core.handle({ ...late, now: s.now })).toThrow(StaleLeaseError);
    if (follow === 'after') s.core.observe((fact) => facts.push(fact));
    expect(s.core.handle({ kind: 'tick', now: s.now })).toEqual([]);
    return facts.map(({ kind }) => kind);
  };
  expect(told('before')).toEqual(['attempt.settledLate']);
  expect(told('after')).toEqual(['attempt.settledLate']);
});

test('F9 once nobody follows any more, no fact is made', () => {
  const s = sim({ slots: 1 });
  const facts: Fact[] = [];
  s.core.observe((fact) => facts.push(fact));
  s.core.observe(undefined);
  s.add('a');
  expect(facts).toEqual([]);
  expect(s.core.state.emit).toBeUndefined();
});
