import { expect, test } from 'vitest';
import { MemoryStore, Scheduler } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

test('smoke', async () => {
  const store = new MemoryStore();
  const clock = new VirtualClock();
  const s1 = new Scheduler({ store, clock, concurrency: 1 });
  const ran: string[] = [];
  const work = s1.define('work', (input: { n: number }) => {
    ran.push(`1:${input.n}`);
    return input.n * 2;
  });
  const a = s1.add(work, { n: 1 }, { id: 'a' });
  await a.accepted;
  expect(await a).toBe(2);
  const b = s1.add(work, { n: 2 }, { id: 'b', delay: '1h' });
  await b.accepted;
  b.result.catch(() => undefined);
  await s1.close();
  await expect(b.result).rejects.toThrow(/kept/);
  const s2 = new Scheduler({ store, clock, concurrency: 1 });
  s2.define('work', (input: { n: number }) => {
    ran.push(`2:${input.n}`);
    return input.n * 3;
  });
  await s2.start();
  expect(s2.get('a')?.result).toBe(2);
  const again = s2.handle('b')!;
  expect(again.state).toBe('delayed');
  await clock.advance('1h');
  expect(await again).toBe(6);
  expect(ran).toEqual(['1:1', '2:2']);
  await s2.close();
});
