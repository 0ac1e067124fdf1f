import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Campaign } from './campaign.js';
import { programIn } from './program.js';
import { STORE_KINDS } from './store-kinds.js';

let program: string;

beforeAll(async () => {
  program = await programIn(join(import.meta.dirname, '..', '..'), join(import.meta.dirname, 'child.ts'));
});

afterAll(() => {
  rmSync(dirname(program), { recursive: true });
});

// `npm run crash` does the same at every boundary and some hundred times.
describe.each(STORE_KINDS)('%s: real processes, really killed', (kind) => {
  test('row 1 G1 G2 G3 G6 G8 whenever a process is killed, nothing acknowledged is lost, doubled or out of order', async () => {
    const campaign = new Campaign(program, kind, 1);
    await campaign.shoot(8);
    expect(campaign.report).toMatchObject({ shots: 8, lost: 0, wrong: [] });
    campaign.clear();
  });

  test('row 1 G1 G2 G3 G6 G8 nor when one dies before or after what its store asks of the machine', async () => {
    const campaign = new Campaign(program, kind, 1);
    const count = await campaign.countBoundaries();
    const sample = [0.02, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9].map((part) => Math.ceil(part * count));
    await campaign.dieAtEach(sample);
    expect(campaign.report).toMatchObject({ boundaries: sample.length, lost: 0, wrong: [] });
    campaign.clear();
  });
});
