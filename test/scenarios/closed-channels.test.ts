import { expect, test } from 'vitest';
import { Core } from '../../src/core/index.js';
import { InvalidConfigError, InvalidTaskError } from '../../src/model/index.js';
import { Scheduler } from '../../src/index.js';
import { sim, type Sim } from '../../src/testing/index.js';

function withOnly(...only: string[]): Sim {
  const s = sim();
  s.send({ kind: 'setChannels', only });
  return s;
}

function refusal(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

test('D6.2 with channels.only a task for any other channel is refused with those there are, and nothing changes', () => {
  const s = withOnly('gold', 'silver');
  s.add('a', { channel: 'gold' });
  const before = s.core.snapshot();
  const error = refusal(() => s.add('b', { channel: 'bronze' }));
  expect(error).toBeInstanceOf(InvalidTaskError);
  expect(error).toMatchObject({ code: 'INVALID_TASK', field: 'channel', value: 'bronze' });
  expect((error as Error).message).toContain('"gold", "silver"');
  expect(refusal(() => s.add('c'))).toMatchObject({ field: 'channel', value: 'default' });
  const repeat = (): void => {
    s.repeat('d', { every: 10, channel: 'bronze' });
  };
  expect(refusal(repeat)).toMatchObject({ value: 'bronze' });
  const addAll = (): void => {
    s.addAll({ e: { channel: 'gold' }, f: { channel: 'tin' } });
  };
  expect(refusal(addAll)).toMatchObject({ value: 'tin' });
  expect(s.core.snapshot()).toEqual(before);
});

test('D6.2 a closed channel takes no more tasks, and what waits or repeats in it still runs', () => {
  const s = withOnly('gold', 'silver');
  s.add('waits', { channel: 'gold' });
  s.repeat('series', { every: '10s', channel: 'gold' });
  s.send({ kind: 'closeChannel', channel: 'gold' });
  const error = refusal(() => s.add('late', { channel: 'gold' }));
  expect(error).toBeInstanceOf(InvalidTaskError);
  expect((error as Error).message).toMatch(/channel is "gold"; expected a channel that is not closed: "silver"\.$/);
  expect(s.drain()).toHaveLength(2);
  s.advance(10_000);
  expect(s.drain()).toHaveLength(1);
  s.send({ kind: 'openChannel', channel: 'gold' });
  s.add('again', { channel: 'gold' });
  expect(s.drain()).toEqual(['again']);
});

test('D6.2 without channels.only every name will do, until it is closed', () => {
  const s = sim();
  s.send({ kind: 'closeChannel', channel: 'b' });
  s.add('1', { channel: 'a' });
  expect(refusal(() => s.add('2', { channel: 'b' }))).toMatchObject({ field: 'channel', value: 'b' });
});

test('D6.2 a channel that is opened joins those that are listed, and a new list replaces the old', () => {
  const s = withOnly('a');
  s.send({ kind: 'openChannel', channel: 'b' });
  s.add('1', { channel: 'b' });
  s.send({ kind: 'closeChannel', channel: 'a' });
  s.send({ kind: 'setChannels', only: ['a'] });
  s.add('2', { channel: 'a' });
  expect(refusal(() => s.add('3', { channel: 'b' }))).toMatchObject({ value: 'b' });
  s.send({ kind: 'setChannels', only: undefined });
  s.add('3', { channel: 'b' });
});

test('D6.2 facts tell of each change once, and a restart keeps what is closed', () => {
  const s = withOnly('a', 'b');
  for (const channel of ['a', 'a']) s.send({ kind: 'closeChannel', channel });
  s.send({ kind: 'openChannel', channel: 'b' });
  expect(s.facts.slice(1).map(({ kind }) => kind)).toEqual(['channel.closed']);
  s.core = Core.restore(JSON.parse(JSON.stringify(s.core.snapshot())) as ReturnType<Core['snapshot']>);
  expect(refusal(() => s.add('1', { channel: 'a' }))).toMatchObject({ value: 'a' });
  expect(refusal(() => s.add('1', { channel: 'c' }))).toMatchObject({ value: 'c' });
  s.add('1', { channel: 'b' });
  const replayed = new Core({ origin: s.facts[0] ?? s.now });
  for (const fact of s.facts) replayed.apply(fact);
  expect(replayed.snapshot().settings.channels).toEqual({ only: ['a', 'b'], closed: ['a'] });
});

test('D6.2 the public API takes the list, closes and opens', async () => {
  const scheduler = new Scheduler({ channels: { only: ['gold'] } });
  expect(await scheduler.add(() => 1, { channel: 'gold' })).toBe(1);
  scheduler.closeChannel('gold');
  await expect(scheduler.add(() => 1, { channel: 'gold' }).accepted).rejects.toThrow(/there is none/);
  scheduler.openChannel('gold');
  expect(await scheduler.add(() => 2, { channel: 'gold' })).toBe(2);
  await expect(scheduler.add(() => 1).accepted).rejects.toThrow(/"default".*"gold"/);
  await scheduler.close();
});

test.each([
  ['a list that is none', { channels: { only: 'gold' } }, 'channels.only'],
  ['a name that is none', { channels: { only: ['gold', ''] } }, 'channels.only[1]'],
])('D6.2 bad input: %s is refused', (_, options, field) => {
  const error = refusal(() => new Scheduler(options as never));
  expect(error).toBeInstanceOf(InvalidConfigError);
  expect(error).toMatchObject({ field });
});

test('D6.2 bad input: closing a channel that is not listed, or has no name, is refused and changes nothing', () => {
  const s = withOnly(...Array.from({ length: 14 }, (_, i) => `c${String(i)}`));
  const before = s.core.snapshot();
  const error = refusal(() => s.send({ kind: 'closeChannel', channel: 'other' }));
  expect(error).toMatchObject({ code: 'INVALID_CONFIG', field: 'channel', value: 'other' });
  expect((error as Error).message).toContain('… (2 more)');
  for (const kind of ['closeChannel', 'openChannel'] as const) {
    expect(refusal(() => s.send({ kind, channel: '' }))).toMatchObject({ field: 'channel', value: '' });
  }
  expect(s.core.snapshot()).toEqual(before);
});
