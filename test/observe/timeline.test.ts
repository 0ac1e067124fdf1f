import { expect, test } from 'vitest';
import { Timeline } from '../../src/observe/timeline.js';
import { sim } from '../../src/testing/index.js';

test('C13.3 what is kept of the past is bounded, however long the run', () => {
  const timeline = new Timeline(3);
  const s = sim({ slots: 1 });
  for (let i = 0; i < 100; i += 1) {
    const id = `t${String(i)}`;
    s.add(id, i === 0 ? {} : { after: [`t${String(i - 1)}`] });
    s.complete(id);
  }
  for (const fact of s.facts) timeline.read(fact);
  const kept = timeline as unknown as Record<'after' | 'running', Map<string, unknown>> & { spans: unknown[] };
  expect([kept.after.size, kept.running.size]).toEqual([0, 0]);
  expect(kept.spans.length).toBeLessThan(6);
  const names = timeline.trace(s.now).traceEvents.filter(({ ph }) => ph === 'X');
  expect(names.map(({ name }) => name)).toEqual(['t97', 't98', 't99']);
});

test('C13.3 an attempt that began before anything was recorded is left out', () => {
  const timeline = new Timeline(3);
  const s = sim({ slots: 1 });
  s.add('a');
  const before = s.facts.length;
  s.complete('a');
  for (const fact of s.facts.slice(before)) timeline.read(fact);
  expect(timeline.trace(s.now).traceEvents).toEqual([]);
});
