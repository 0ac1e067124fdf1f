import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as precedence from '../../src/index.js';
import { sim } from '../../src/testing/index.js';

const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');

/** The text under a heading, up to the next one. */
function section(heading: string): string {
  const [, text = ''] = readme.split(new RegExp(`^#+ ${heading}$`, 'm'));
  return (text.split(/^#/m)[0] ?? '').trim().replaceAll(/\s+/g, ' ');
}

test('D12.4 the README has a section on fairness, and what it says is so', () => {
  const text = section('Fairness');
  expect(text).toContain('the channel with the fewest turns for its weight is next');
  const s = sim({ strategy: 'fair' });
  s.send({ kind: 'setWeight', channel: 'gold', weight: 2 });
  for (const channel of ['tin', 'gold']) {
    for (let i = 0; i < 6; i += 1) s.add(`${channel}${String(i)}`, { channel });
  }
  expect(s.claim(6).filter((id) => id.startsWith('gold'))).toHaveLength(4);
  expect(text).toContain("`channels: { charge: 'time' }`");
  expect(() => new precedence.Scheduler({ strategy: 'fair', channels: { charge: 'time' } })).not.toThrow();
});

test('D12.4 the README has a section on troubleshooting, and its ways out exist', async () => {
  const text = section('Troubleshooting');
  expect(text).toContain('`UNSCHEDULABLE`');
  const scheduler = new precedence.Scheduler({ concurrency: 1, aging: false, strategy: 'fair' });
  const impossible = scheduler.add(() => undefined, { needs: { gpu: 1 } });
  await expect(impossible.accepted).rejects.toMatchObject({ code: 'UNSCHEDULABLE' });
  expect(text).toContain('`describeExplanation(scheduler.explain(id))`');
  scheduler.add(() => undefined, { id: 'first' });
  scheduler.add(() => undefined, { id: 'second', after: ['first'] });
  expect(precedence.describeExplanation(scheduler.explain('second'))).toContain('first');
  for (const option of ["`strategy: 'fair'`", '`aging: false`']) expect(text).toContain(option);
});

test('D12.4 the README says why a low task overtook a high one, and how to keep it from that', () => {
  expect(section('Troubleshooting')).toContain('it had waited longer than one aging window per level');
  for (const [agingEvery, order] of [
    [10_000, ['low', 'high']],
    [Infinity, ['high', 'low']],
  ] as const) {
    const s = sim({ aging: { everyMs: agingEvery, maxBoost: Infinity, maxWaitMs: Infinity } });
    s.add('low', { priority: 'low' });
    s.advance(30_000);
    s.add('high', { priority: 'high' });
    expect(s.drain()).toEqual(order);
  }
});
