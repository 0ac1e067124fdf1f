import { expect, test } from 'vitest';
import { Core } from '../../src/core/index.js';
import { sim, type Sim } from '../../src/testing/index.js';
import { throughJson } from './commands.js';

function withExclusive(): Sim {
  const s = sim();
  s.worker('threads', { capabilities: new Map([['thread', true]]), exclusive: true });
  s.add('plain');
  s.add('asks', { capabilities: { thread: true }, priority: 'low' });
  return s;
}

test('C14.1 an exclusive worker leaves alone what asks for no capability, also when work is planned', () => {
  const s = withExclusive();
  s.send({ kind: 'plan', count: Infinity, balance: 'least-loaded' });
  expect([s.running(), s.claim(5, 'threads'), s.claim(5)]).toEqual([['asks#1'], [], ['plain']]);
});

test('C14.1 it stays exclusive over a snapshot, and when its facts are replayed', () => {
  const s = withExclusive();
  const replayed = new Core({ origin: { wall: s.now.wall, mono: 0 } });
  for (const fact of throughJson(s.facts)) replayed.apply(fact);
  for (const core of [Core.restore(throughJson(s.core.snapshot())), replayed]) {
    const facts = core.handle({ kind: 'claim', now: s.now, worker: 'threads', count: 5 });
    expect(facts.flatMap((fact) => (fact.kind === 'attempt.started' ? [fact.task] : []))).toEqual(['asks']);
  }
});
