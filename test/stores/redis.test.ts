import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { RedisStore } from '../../src/redis.js';
import { storeChecks, type StorePlace } from '../../src/testing/index.js';
import { findRedis, redisClient } from '../redis-server.js';
import type { FoundServer } from '../servers.js';
import { expectRestart, expectTakeover } from './restart-story.js';

let server: FoundServer | undefined;

beforeAll(async () => {
  server = await findRedis();
});

afterAll(async () => {
  await server?.stop();
});

function place(url: string): StorePlace {
  const prefix = `precedence-test:${randomUUID()}`;
  return {
    // The server that is found may keep nothing; what it keeps is shown with a server of the tests' own.
    store: () => new RedisStore(url, { prefix, durability: 'none' }),
    remove: async () => {
      const client = redisClient(url);
      await client.del(['head', 'journal', 'snapshot', 'saving'].map((key) => `{${prefix}}:${key}`));
      client.disconnect();
    },
  };
}

describe('B5.1: RedisStore keeps to what every store must', () => {
  for (const { name, run } of storeChecks({ place: () => place(server!.url) })) {
    test(name, async ({ skip }) => {
      if (server === undefined) return skip('there is no Redis server');
      await run();
    });
  }
});

test('B4.1 B5.1 a scheduler goes on in Redis where the one before was', async ({ skip }) => {
  if (server === undefined) return skip('there is no Redis server');
  await expectRestart(place(server.url));
});

test('B5.1 G5 a scheduler that another one has deposed does not close the store that both were given', async ({
  skip,
}) => {
  if (server === undefined) return skip('there is no Redis server');
  await expectTakeover(place(server.url));
});
