import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Campaign } from './campaign.js';
import { PLANTED } from './planted.js';
import { findRedis } from '../redis-server.js';
import { findPostgres } from '../servers.js';
import { programIn } from './program.js';
import { FILE_KINDS, POSTGRES, REDIS, type StoreKind } from './store-kinds.js';

let program: string;

const servers = { postgres: await findPostgres(), redis: await findRedis() };
// Children find them there.
if (servers.postgres !== undefined) process.env[POSTGRES] = servers.postgres.url;
if (servers.redis !== undefined) process.env[REDIS] = servers.redis.url;

beforeAll(async () => {
  program = await programIn(join(import.meta.dirname, '..', '..'), join(import.meta.dirname, 'child.ts'));
});

afterAll(async () => {
  for (const server of Object.values(servers)) await server?.stop();
  rmSync(dirname(program), { recursive: true });
});

// `npm run crash` does the same at every boundary and some hundred times.
describe.each(FILE_KINDS)('%s: real processes, really killed', (kind) => {
  test('row 1 G1 G2 G3 G6 G8 whenever a process is killed, nothing acknowledged is lost, doubled or out of order', async () => {
    const campaign = new Campaign(program, kind, 1);
    await campaign.shoot(8);
    expect(campaign.report).toMatchObject({ shots: 8, lost: 0, wrong: [] });
    await campaign.clear();
  });

  test('row 1 G1 G2 G3 G6 G8 nor when it dies before or after what its store asks of the machine', async () => {
    const campaign = new Campaign(program, kind, 1);
    await campaign.sample(8);
    expect(campaign.report).toMatchObject({ boundaries: { drawn: 8 }, lost: 0, wrong: [] });
    await campaign.clear();
  });

  test.each(PLANTED)('a store that %s is found out', async (planted) => {
    const campaign = new Campaign(program, kind, 1, planted);
    await campaign.sample(20);
    // Something is lost that was acknowledged, told or started, or what is left cannot have happened, or the next start refuses
    // it: which, depends on the moment.
    expect(campaign.report.wrong.join('\n')).toMatch(/G[1238] |CorruptJournalError/);
    await campaign.clear();
  });
});

const found = (['postgres', 'redis'] as const).filter(
  (kind: StoreKind & keyof typeof servers) => servers[kind] !== undefined,
);
describe.runIf(found.length > 0).each(found)(
  '%s: real processes, really killed while their server lives on',
  (kind) => {
    test('row 1 G1 G2 G3 G6 G8 nothing acknowledged is lost, doubled or out of order', async () => {
      const campaign = new Campaign(program, kind, 1);
      await campaign.shoot(2);
      await campaign.sample(4);
      expect(campaign.report).toMatchObject({ shots: 2, boundaries: { drawn: 4 }, lost: 0, wrong: [] });
      await campaign.clear();
    });
  },
);
