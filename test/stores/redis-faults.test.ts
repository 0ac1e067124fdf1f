import { randomUUID } from 'node:crypto';
import { Cluster, Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CorruptJournalError, DeposedError, InvalidConfigError, UnsupportedVersionError } from '../../src/index.js';
import { RedisStore, type RedisStoreOptions, type RedisTarget } from '../../src/redis.js';
import { storeChecks } from '../../src/testing/index.js';
import { CuttingProxy, type Cut } from '../cutting-proxy.js';
import { ownRedis, redisClient, type RedisServer } from '../redis-server.js';
import { bodiesOf, partsOf, recordsOf } from './contents.js';

let server: RedisServer;
let client: Redis;
let prefix: string;

beforeAll(async () => {
  const started = await ownRedis();
  if (started === undefined) return;
  server = started;
  client = redisClient(server.url);
});

afterAll(async () => {
  (client as Redis | undefined)?.disconnect();
  await (server as RedisServer | undefined)?.stop();
});

beforeEach(({ skip }) => {
  if ((server as RedisServer | undefined) === undefined) skip('there is no Redis server');
  prefix = randomUUID();
});

function storeAt(target: RedisTarget = server.url, options: RedisStoreOptions = {}): RedisStore {
  return new RedisStore(target, { prefix, ...options });
}

const key = (name: string): string => `{${prefix}}:${name}`;

describe('B5.1: with everything on disk, RedisStore keeps to what every store must', () => {
  const place = () => {
    const own = randomUUID();
    return { store: () => storeAt(server.url, { prefix: own }) };
  };
  for (const { name, run } of storeChecks({ place, many: 200 })) test(name, run);
});

describe('answers that are lost', () => {
  let proxy: CuttingProxy;
  let store: RedisStore;
  let epoch: number;

  beforeEach(async () => {
    proxy = await CuttingProxy.start(server.port);
    store = storeAt(`redis://127.0.0.1:${proxy.port}`, { timeout: '3s' });
    ({ epoch } = await store.open());
    await store.append(0, epoch, '["before"]');
    return async () => {
      await store.close();
      await proxy.stop();
    };
  });

  test.each<Cut>(['request', 'answer', 'silence'])('a record whose %s is lost is there once', async (how) => {
    proxy.loseNext(how, '["cut"]');
    await store.append(1, epoch, '["cut"]');
    await store.append(2, epoch, '["after"]');
    expect(proxy.lost).toBe(1);
    expect(await bodiesOf(storeAt())).toEqual(['["before"]', '["cut"]', '["after"]']);
  });

  test.each<Cut>(['request', 'answer'])('parts of a snapshot whose %s is lost are there once', async (how) => {
    for (const lost of ['["first"]', '["second"]']) {
      proxy.loseNext(how, lost);
      const large = `["${'x'.repeat(300_000)}"]`;
      await store.saveSnapshot({ sequence: 1, parts: partsOf('["first"]', large, '["second"]') }, epoch);
    }
    expect(proxy.lost).toBe(2);
    const [snapshot] = await recordsOf(storeAt());
    expect(snapshot).toMatchObject({ kind: 'snapshot', sequence: 1 });
    expect(await client.llen(key('snapshot'))).toBe(3);
  });

  test('records and a snapshot that lose the same connection both get there', async () => {
    const parts = partsOf(...Array.from({ length: 8 }, (_, n) => `["${n}${'x'.repeat(300_000)}"]`));
    const saved = store.saveSnapshot({ sequence: 1, parts }, epoch);
    for (let n = 1; n < 9; n++) {
      proxy.loseNext(n % 2 === 0 ? 'request' : 'answer', `["cut ${n}"]`);
      await store.append(n, epoch, `["cut ${n}"]`);
    }
    await saved;
    await store.close();
    // One more for each that was lost.
    expect(proxy.connections).toBe(1 + proxy.lost);
    expect(await client.llen(key('snapshot'))).toBe(8);
    expect(await bodiesOf(storeAt())).toEqual(Array.from({ length: 8 }, (_, n) => `["cut ${n + 1}"]`));
  });

  test('one that was kept before somebody else took over is acknowledged, one that was not is refused', async () => {
    const rival = storeAt();
    proxy.loseNext('answer', '["kept"]', async () => {
      await rival.open();
    });
    await store.append(1, epoch, '["kept"]');
    proxy.loseNext('request', '["late"]');
    await expect(store.append(2, epoch, '["late"]')).rejects.toThrow(DeposedError);
    await rival.close();
    expect(await bodiesOf(storeAt())).toEqual(['["before"]', '["kept"]']);
  });

  test('a store that is closed leaves no connection', async () => {
    await store.close();
    await expect.poll(() => proxy.present).toBe(0);
    expect(proxy.connections).toBe(1);
  });
});

describe('a server that is down', () => {
  test('at the start: it is tried once', async () => {
    const proxy = await CuttingProxy.start(1);
    const store = storeAt(`redis://127.0.0.1:${proxy.port}`);
    await expect(store.open()).rejects.toMatchObject({ code: 'STORE', kind: 'failed' });
    expect(proxy.connections).toBe(1);
    await proxy.stop();
    await expect(storeAt('redis://127.0.0.1:1').open()).rejects.toThrow(/ECONNREFUSED/);
  });

  test('in the middle: what comes meanwhile waits for it, and what was acknowledged is there', async () => {
    const own = (await ownRedis())!;
    try {
      const store = storeAt(own.url);
      const { epoch } = await store.open();
      await store.append(0, epoch, '[1]');
      await own.kill();
      const appended = store.append(1, epoch, '[2]');
      await own.run();
      await appended;
      await own.kill();
      await own.run();
      await store.append(2, epoch, '[3]');
      await store.close();
      expect(await bodiesOf(storeAt(own.url))).toEqual(['[1]', '[2]', '[3]']);
    } finally {
      await own.stop();
    }
  });

  test('for good: the call is given up, and nothing is written by this store afterwards', async () => {
    const own = (await ownRedis())!;
    try {
      const store = storeAt(own.url, { timeout: '1500ms' });
      const { epoch } = await store.open();
      await own.kill();
      await expect(store.append(0, epoch, '[1]')).rejects.toMatchObject({ code: 'STORE', kind: 'failed' });
      await own.run();
      await expect(store.append(0, epoch, '[1]')).rejects.toMatchObject({ code: 'STORE', kind: 'failed' });
      await store.close();
      expect(await bodiesOf(storeAt(own.url))).toEqual([]);
    } finally {
      await own.stop();
    }
  });

  test('back with settings that forget: it is refused', async () => {
    const own = (await ownRedis())!;
    try {
      const store = storeAt(own.url);
      const { epoch } = await store.open();
      await own.kill();
      await own.run('--appendfsync everysec');
      await expect(store.append(0, epoch, '[1]')).rejects.toThrow(/appendfsync is "everysec"/);
      await store.close();
    } finally {
      await own.stop();
    }
  });
});

describe('a server that has lost what it acknowledged', () => {
  const write = async (): Promise<{ store: RedisStore; epoch: number }> => {
    const store = storeAt();
    const { epoch } = await store.open();
    await store.append(0, epoch, '[1]');
    await store.saveSnapshot({ sequence: 1, parts: partsOf('["a"]') }, epoch);
    await store.append(1, epoch, '[2]');
    return { store, epoch };
  };

  test.each<[string, () => Promise<unknown>]>([
    ['everything', () => client.flushall()],
    ['the journal', () => client.del(key('journal'))],
    ['the snapshot', () => client.del(key('snapshot'))],
    ['the head', () => client.del(key('head'))],
  ])('%s: nothing more is written, and nothing begins anew', async (_, lose) => {
    const { store, epoch } = await write();
    await lose();
    const keys = await client.keys(`{${prefix}}*`);
    for (const _try of [1, 2]) {
      await expect(store.append(2, epoch, '[3]')).rejects.toThrow(/has lost what it acknowledged/);
    }
    await expect(store.saveSnapshot({ sequence: 2, parts: partsOf('["b"]') }, epoch)).rejects.toThrow(/has lost/);
    await expect(store.compact(epoch)).rejects.toThrow(/has lost/);
    expect(await client.keys(`{${prefix}}*`)).toEqual(keys);
    await store.close();
  });

  test('everything, and somebody else has begun anew there: that is no takeover', async () => {
    const { store, epoch } = await write();
    await client.flushall();
    const other = storeAt();
    for (let n = 0; n <= epoch; n++) await other.open();
    await expect(store.append(2, epoch, '[3]')).rejects.toThrow(/has lost what it acknowledged/);
    await store.close();
    await other.close();
    expect(await bodiesOf(storeAt())).toEqual([]);
  });

  test('the last record, as after a change to a replica that lags behind', async () => {
    const { store, epoch } = await write();
    const names = ['head', 'journal', 'snapshot'];
    const before = await Promise.all(names.map((name) => client.dumpBuffer(key(name))));
    await store.append(2, epoch, '[3]');
    for (const [n, name] of names.entries()) await client.restore(key(name), 0, before[n]!, 'REPLACE');
    await expect(store.append(3, epoch, '[4]')).rejects.toThrow(/its last record is 2/);
    await store.close();
  });

  test('the change of owner: an epoch that was given twice does not let two write', async () => {
    await (await write()).store.close();
    const names = ['head', 'journal', 'snapshot'];
    const before = await Promise.all(names.map((name) => client.dumpBuffer(key(name))));
    const [first, second] = [storeAt(), storeAt()];
    const { epoch } = await first.open();
    for (const [n, name] of names.entries()) await client.restore(key(name), 0, before[n]!, 'REPLACE');
    expect(await second.open()).toEqual({ epoch, sequence: 2 });
    await expect(first.append(2, epoch, '["first"]')).rejects.toMatchObject({ code: 'STORE' });
    await second.append(2, epoch, '["second"]');
    await first.close();
    await second.close();
    expect(await bodiesOf(storeAt())).toEqual(['[2]', '["second"]']);
  });

  test('parts of it: opening says what is missing, and changes nothing', async () => {
    await (await write()).store.close();
    for (const name of ['journal', 'snapshot', 'head']) {
      const kept = await client.dumpBuffer(key(name));
      const epoch = await client.hget(key('head'), 'epoch');
      await client.del(key(name));
      await expect(storeAt().open()).rejects.toThrow(CorruptJournalError);
      await client.restore(key(name), 0, kept);
      expect(await client.hget(key('head'), 'epoch')).toBe(epoch);
    }
    expect(await bodiesOf(storeAt())).toEqual(['[2]']);
  });
});

describe('a server that may forget is refused', () => {
  const usual = { maxmemory: '0', 'maxmemory-policy': 'noeviction', appendonly: 'yes', appendfsync: 'always' };

  test.each<[Record<string, string>, RedisStoreOptions, RegExp]>([
    [
      { maxmemory: '1gb', 'maxmemory-policy': 'allkeys-lru' },
      { durability: 'none' },
      /maxmemory-policy is "allkeys-lru"/,
    ],
    [{ maxmemory: '1gb', 'maxmemory-policy': 'volatile-ttl' }, {}, /maxmemory-policy is "volatile-ttl"/],
    [{ appendfsync: 'everysec' }, {}, /appendfsync is "everysec"; expected always/],
    [{ 'no-appendfsync-on-rewrite': 'yes' }, {}, /no-appendfsync-on-rewrite is "yes"/],
    [{ appendonly: 'no' }, { durability: 'os' }, /appendonly is "no"; expected yes/],
  ])('with %o and %o', async (settings, options, message) => {
    for (const [name, value] of Object.entries(settings)) await client.config('SET', name, value);
    try {
      const refused = storeAt(server.url, options).open();
      await expect(refused).rejects.toThrow(InvalidConfigError);
      await expect(refused).rejects.toThrow(message);
      expect(await client.exists(key('head'))).toBe(0);
      // Unless it is told.
      const told = storeAt(server.url, { ...options, settings: 'trusted' });
      await told.open();
      await told.close();
    } finally {
      const back = { ...usual, 'no-appendfsync-on-rewrite': 'no' };
      for (const [name, value] of Object.entries(back)) await client.config('SET', name, value);
    }
  });

  test('but not where less is asked for, or where there is room', async () => {
    const settings = { appendfsync: 'everysec', maxmemory: '1gb' };
    for (const [name, value] of Object.entries(settings)) await client.config('SET', name, value);
    try {
      const store = storeAt(server.url, { durability: 'os' });
      await store.open();
      await store.close();
    } finally {
      for (const [name, value] of Object.entries(usual)) await client.config('SET', name, value);
    }
  });

  test('one that does not tell its settings must be trusted', async () => {
    await client.acl('SETUSER', 'limited', 'on', '>secret-word', '~*', '+@all', '-config');
    const url = `redis://limited:secret-word@127.0.0.1:${server.port}`;
    const refused = storeAt(url).open();
    await expect(refused).rejects.toThrow(/settings is "checked"; expected "trusted"/);
    await expect(refused).rejects.not.toThrow(/secret-word/);
    const store = storeAt(url, { settings: 'trusted' });
    await store.open();
    await store.close();
    await expect(storeAt(url.replace('secret-word', 'wrong')).open()).rejects.toThrow(/WRONGPASS/);
  });
});

describe('in the server', () => {
  test('scripts may be forgotten at any time', async () => {
    const store = storeAt();
    const { epoch } = await store.open();
    for (let n = 0; n < 3; n++) {
      await client.script('FLUSH');
      await store.append(n, epoch, `[${n}]`);
    }
    await store.close();
    expect(await bodiesOf(storeAt())).toEqual(['[0]', '[1]', '[2]']);
  });

  test('without room in memory nothing is written, and with room it goes on', async () => {
    const store = storeAt();
    const { epoch } = await store.open();
    await store.append(0, epoch, '[1]');
    await client.config('SET', 'maxmemory', '1');
    try {
      for (const _try of [1, 2]) {
        await expect(store.append(1, epoch, '[2]')).rejects.toMatchObject({ code: 'STORE', kind: 'full' });
      }
      const snapshot = { sequence: 1, parts: partsOf('["a"]') };
      await expect(store.saveSnapshot(snapshot, epoch)).rejects.toMatchObject({ kind: 'full' });
    } finally {
      await client.config('SET', 'maxmemory', '0');
    }
    await store.append(1, epoch, '[2]');
    await store.close();
    expect(await bodiesOf(storeAt())).toEqual(['[1]', '[2]']);
  });

  test('compacting takes everything away that the snapshot holds, in steps', async () => {
    const store = storeAt();
    const { epoch } = await store.open();
    const count = 2_300;
    await Promise.all(Array.from({ length: count }, (_, n) => store.append(n, epoch, `[${n}]`)));
    await store.saveSnapshot({ sequence: count - 1, parts: partsOf('["a"]') }, epoch);
    await client.config('RESETSTAT');
    await store.compact(epoch);
    expect(await client.info('commandstats')).toMatch(/cmdstat_ltrim:calls=3,/);
    expect(await client.llen(key('journal'))).toBe(1);
    expect(await client.exists(key('saving'))).toBe(0);
    await store.close();
    expect(await bodiesOf(storeAt())).toEqual([`[${count - 1}]`]);
  });

  test('a snapshot of records that are not there is refused', async () => {
    const store = storeAt();
    const { epoch } = await store.open();
    const early = store.saveSnapshot({ sequence: 1, parts: partsOf('["early"]') }, epoch);
    await expect(early).rejects.toMatchObject({ code: 'STORE' });
    await store.append(0, epoch, '[1]');
    await store.close();
    expect(await bodiesOf(storeAt())).toEqual(['[1]']);
  });

  test('a newer format is left alone', async () => {
    await storeAt().open();
    await client.hset(key('head'), 'format', '2');
    await expect(storeAt().open()).rejects.toThrow(UnsupportedVersionError);
    expect(await client.hget(key('head'), 'epoch')).toBe('1');
  });

  test('somebody else’s key is left alone', async () => {
    await client.set(key('head'), 'mine');
    await expect(storeAt().open()).rejects.toThrow(/WRONGTYPE/);
    expect(await client.get(key('head'))).toBe('mine');
  });

  test('a cluster keeps it all in one place', async () => {
    const own = (await ownRedis('--cluster-enabled yes', '--cluster-announce-ip 127.0.0.1'))!;
    const node = redisClient(own.url);
    try {
      await node.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
      await expect.poll(() => node.cluster('INFO'), { timeout: 30_000 }).toMatch(/cluster_state:ok/);
      const cluster = new Cluster([{ host: '127.0.0.1', port: own.port }]);
      const store = storeAt(cluster);
      const { epoch } = await store.open();
      await store.append(0, epoch, '[1]');
      await store.saveSnapshot({ sequence: 1, parts: partsOf('["a"]') }, epoch);
      await store.append(1, epoch, '[2]');
      await store.compact(epoch);
      await store.close();
      expect(await bodiesOf(storeAt(cluster))).toEqual(['[2]']);
      cluster.disconnect();
    } finally {
      node.disconnect();
      await own.stop();
    }
  });
});

describe('a client that is there already', () => {
  test('is used and left open, and lost answers are sent again', async () => {
    const proxy = await CuttingProxy.start(server.port);
    const theirs = new Redis({ port: proxy.port, maxRetriesPerRequest: null, retryStrategy: () => 10 });
    theirs.on('error', () => undefined);
    const store = storeAt(theirs);
    const { epoch } = await store.open();
    for (const [n, how] of (['request', 'answer'] as const).entries()) {
      proxy.loseNext(how, `["cut ${n}"]`);
      await store.append(n, epoch, `["cut ${n}"]`);
    }
    await store.close();
    expect(proxy.lost).toBe(2);
    expect(await theirs.ping()).toBe('PONG');
    expect(theirs.listenerCount('ready')).toBe(0);
    expect(await bodiesOf(storeAt())).toEqual(['["cut 0"]', '["cut 1"]']);
    theirs.disconnect();
    await proxy.stop();
  });

  test('that cannot connect is not waited for at the start', async () => {
    const theirs = new Redis({ port: 1, maxRetriesPerRequest: null });
    theirs.on('error', () => undefined);
    await expect(storeAt(theirs).open()).rejects.toMatchObject({ code: 'STORE', kind: 'failed' });
    theirs.disconnect();
    await expect(storeAt(theirs).open()).rejects.toMatchObject({ code: 'STORE', kind: 'failed' });
  });
});

describe('options', () => {
  test.each([
    ['prefix', ''],
    ['prefix', 'a b'],
    ['prefix', 'a}{b'],
    ['prefix', 'a\n'],
    ['prefix', 'x'.repeat(201)],
    ['prefix', 7],
    ['durability', 'disk'],
    ['settings', true],
    ['timeout', 0],
  ])('%s: %o is refused', (field, value) => {
    const make = () => new RedisStore('redis://127.0.0.1', { [field]: value });
    expect(make).toThrow(InvalidConfigError);
    expect(make).toThrow(new RegExp(`${field} is `));
  });

  test.each(['', 'http://127.0.0.1', 'user:secret-word@host', undefined, null, 6379])(
    'a server: %o is refused',
    (target) => {
      const make = () => new RedisStore(target as string);
      expect(make).toThrow(InvalidConfigError);
      expect(make).not.toThrow(/secret-word/);
    },
  );

  test.each(['__proto__', 'constructor', '../x', 'a:b/c.d-e_f'])(
    'the prefix %s is one like any other',
    async (given) => {
      const store = storeAt(server.url, { prefix: given });
      const { epoch } = await store.open();
      await store.append(0, epoch, '[1]');
      await store.close();
      expect(await client.lrange(`{${given}}:journal`, 0, -1)).toEqual(['[1]']);
    },
  );
});
