import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  CorruptJournalError,
  DeposedError,
  InvalidConfigError,
  UnsupportedVersionError,
  type Duration,
} from '../../src/index.js';
import { CouchStore, type CouchStoreOptions } from '../../src/couchdb.js';
import { storeChecks, type StorePlace } from '../../src/testing/index.js';
import { COUCH_PATIENCE_MS, couchFetch, findCouch } from '../couchdb-server.js';
import type { FoundServer } from '../servers.js';
import { StatusProxy, type Fate } from '../status-proxy.js';
import { bodiesOf, partsOf, recordsOf } from './contents.js';
import { expectRestart, expectTakeover } from './restart-story.js';

let server: FoundServer;
const databases = new Set<string>();

beforeAll(async () => {
  const found = await findCouch();
  if (found !== undefined) server = found;
}, COUCH_PATIENCE_MS);

afterAll(async () => {
  if ((server as FoundServer | undefined) === undefined) return;
  for (const name of databases) await couchFetch(`${server.url}/${name}`, 'DELETE');
  await server.stop();
});

beforeEach(({ skip }) => {
  if ((server as FoundServer | undefined) === undefined) skip('there is no server with the protocol of CouchDB');
});

function newDatabase(): string {
  const name = `precedence-test-${randomUUID()}`;
  databases.add(name);
  return name;
}

/** What is found may be a server that keeps nothing. */
function storeAt(url: string, options: CouchStoreOptions = {}): CouchStore {
  return new CouchStore(url, { settings: 'trusted', ...options });
}

describe('B5.1: CouchStore keeps to what every store must', () => {
  const place = (): StorePlace => {
    const name = newDatabase();
    return { store: () => storeAt(`${server.url}/${name}`) };
  };
  for (const { name, run } of storeChecks({ place, many: 100 })) test(name, run);
});

/** A database, a way to it that can be disturbed, and a store that is open and holds one record. */
async function disturbed(timeout: Duration = '10s') {
  const name = newDatabase();
  const proxy = await StatusProxy.start(server.url);
  const store = storeAt(`${proxy.url}/${name}`, { timeout });
  const { epoch } = await store.open();
  await store.append(0, epoch, '["before"]');
  const end = async (): Promise<string[]> => {
    await store.close();
    await proxy.stop();
    return bodiesOf(storeAt(`${server.url}/${name}`));
  };
  return { name, url: `${server.url}/${name}`, proxy, store, epoch, end };
}

async function ask(url: string, method = 'GET', body?: object): Promise<Record<string, unknown>> {
  const answer = await couchFetch(url, method, body === undefined ? null : JSON.stringify(body));
  return (await answer.json()) as Record<string, unknown>;
}

/** The ids of what the database holds, without the name of the journal. */
async function idsIn(url: string): Promise<string[]> {
  const { rows } = (await ask(`${url}/_all_docs`)) as unknown as { rows: { id: string }[] };
  return rows.map(({ id }) => id.replace(/-[0-9a-f]{16}-/, '-').replace(/0{2,}/g, ''));
}

const SLOT = /\/log-/;
const HEAD = /\/head$/;

describe('a record', () => {
  test.each<Fate>([
    { kind: 'request lost' },
    { kind: 'answer lost' },
    { kind: 'left alone' },
    { kind: 'passed', status: 202 },
    { kind: 'passed', status: 502 },
    { kind: 'answered', status: 503, body: { error: 'unavailable' } },
    { kind: 'answered', status: 429, body: { error: 'too_many_requests' } },
  ])('is there once, with %o', async (fate) => {
    const { proxy, store, epoch, end } = await disturbed(fate.kind === 'left alone' ? '3s' : '10s');
    proxy.next('PUT', SLOT, fate);
    await store.append(1, epoch, '["disturbed"]');
    await store.append(2, epoch, '["after"]');
    expect(await end()).toEqual(['["before"]', '["disturbed"]', '["after"]']);
  });

  test('that is only ever accepted (202) is not acknowledged, and nothing is written afterwards', async () => {
    const { proxy, store, epoch, end } = await disturbed('2s');
    proxy.next('PUT', SLOT, { kind: 'passed', status: 202 }, Infinity);
    await expect(store.append(1, epoch, '["accepted"]')).rejects.toThrow(/202/);
    proxy.decide = () => ({ kind: 'passed' });
    await expect(store.append(1, epoch, '["other"]')).rejects.toMatchObject({ code: 'STORE', kind: 'failed' });
    expect(await end()).toEqual(['["before"]', '["accepted"]']);
  });

  test('that was written before somebody else took over is acknowledged, one that was not is refused', async () => {
    const { url, proxy, store, epoch, end } = await disturbed();
    const rival = storeAt(url);
    let opened: Promise<unknown> | undefined;
    const then = async (): Promise<void> => {
      opened = rival.open();
      await opened;
    };
    proxy.next('PUT', SLOT, { kind: 'answer lost', then });
    await store.append(1, epoch, '["kept"]');
    expect(await opened).toEqual({ epoch: epoch + 1, sequence: 2 });
    await expect(store.append(2, epoch, '["late"]')).rejects.toThrow(DeposedError);
    await rival.append(2, epoch + 1, '["rival"]');
    await rival.close();
    expect(await end()).toEqual(['["before"]', '["kept"]', '["rival"]']);
  });

  test('that gets in while somebody else takes over counts for both', async () => {
    const { name, store, epoch, end } = await disturbed();
    const between = await StatusProxy.start(server.url);
    const rival = storeAt(`${between.url}/${name}`);
    // After the rival has looked where the journal ends, and before it makes its mark there.
    const before = () => store.append(1, epoch, '["just in time"]');
    between.next('PUT', SLOT, { kind: 'passed', before });
    expect(await rival.open()).toEqual({ epoch: epoch + 1, sequence: 2 });
    await rival.append(2, epoch + 1, '["rival"]');
    await rival.close();
    await between.stop();
    expect(await end()).toEqual(['["before"]', '["just in time"]', '["rival"]']);
  });

  test('of a deposed owner is refused where its slot was compacted meanwhile, and leaves nothing', async () => {
    const { url, proxy, store, epoch, end } = await disturbed();
    const rival = storeAt(url);
    const before = async (): Promise<void> => {
      const { epoch: next } = await rival.open();
      for (let n = 1; n < 5; n++) await rival.append(n, next, `["rival ${n}"]`);
      await rival.saveSnapshot({ sequence: 5, parts: partsOf('["five"]') }, next);
      await rival.compact(next);
      expect(await idsIn(url)).toEqual([expect.stringMatching(/^head$/), 'log-7', expect.stringMatching(/^part-/)]);
    };
    proxy.next('PUT', SLOT, { kind: 'passed', before });
    const late = store.append(1, epoch, '["late"]');
    await expect(late).rejects.toMatchObject({ code: 'DEPOSED', epoch, currentEpoch: epoch + 1 });
    expect(await idsIn(url)).toContain('log-3');
    await rival.append(5, epoch + 1, '["after"]');
    await rival.compact(epoch + 1);
    expect(await idsIn(url)).not.toContain('log-3');
    await rival.close();
    expect(await end()).toEqual(['["after"]']);
  });

  test('that has no room is refused as such, was not written, and can be appended again', async () => {
    const { proxy, store, epoch, end } = await disturbed();
    for (const status of [507, 500]) {
      const body = { error: 'insufficient_storage', reason: 'enospc: no space left on device' };
      proxy.next('PUT', SLOT, { kind: 'answered', status, body });
      await expect(store.append(1, epoch, '["large"]')).rejects.toMatchObject({ code: 'STORE', kind: 'full' });
    }
    await store.append(1, epoch, '["large"]');
    expect(await end()).toEqual(['["before"]', '["large"]']);
  });

  test('that is too large for the server is refused with its size', async () => {
    const { proxy, store, epoch, end } = await disturbed();
    proxy.next('PUT', SLOT, { kind: 'answered', status: 413, body: { error: 'document_too_large' } });
    const refused = store.append(1, epoch, JSON.stringify('x'.repeat(5_000)));
    await expect(refused).rejects.toThrow(/5\d\d\d bytes are too many .* raise its max_document_size/);
    expect(await end()).toEqual(['["before"]']);
  });

  test.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not_found'],
  ])('that is answered with %i is not tried again', async (status, error) => {
    const { proxy, store, epoch, end } = await disturbed();
    proxy.next('PUT', SLOT, { kind: 'answered', status, body: { error, reason: 'so it is' } }, Infinity);
    const { length } = proxy.seen;
    await expect(store.append(1, epoch, '["x"]')).rejects.toThrow(new RegExp(`HTTP ${status}: ${error}, so it is`));
    expect(proxy.seen.length).toBe(length + 1);
    expect(await end()).toEqual(['["before"]']);
  });
});

describe('a snapshot', () => {
  test('of records that are not there is refused', async () => {
    const { store, epoch, end } = await disturbed();
    const early = store.saveSnapshot({ sequence: 2, parts: partsOf('["early"]') }, epoch);
    await expect(early).rejects.toMatchObject({ code: 'STORE' });
    await store.append(1, epoch, '["after"]');
    expect(await end()).toEqual(['["before"]', '["after"]']);
  });

  test.each<[string, RegExp, Fate]>([
    ['POST', /_bulk_docs/, { kind: 'request lost' }],
    ['POST', /_bulk_docs/, { kind: 'answer lost' }],
    ['POST', /_bulk_docs/, { kind: 'passed', status: 202 }],
    ['PUT', HEAD, { kind: 'answer lost' }],
    ['PUT', HEAD, { kind: 'passed', status: 202 }],
    ['PUT', HEAD, { kind: 'request lost' }],
  ])('is kept once, with %s %o %o', async (method, path, fate) => {
    const { url, proxy, store, epoch, end } = await disturbed();
    proxy.next(method, path, fate);
    const { length } = proxy.seen;
    await store.saveSnapshot({ sequence: 1, parts: partsOf('["a"]', '["b"]') }, epoch);
    const tries = proxy.seen.slice(length).filter((seen) => seen.method === method && path.test(seen.path));
    expect(tries.length).toBeGreaterThan(1);
    await store.append(1, epoch, '["after"]');
    expect(await end()).toEqual(['["after"]']);
    const [snapshot] = await recordsOf(storeAt(url));
    expect(snapshot).toEqual({ kind: 'snapshot', sequence: 1, parts: ['["a"]', '["b"]'] });
  });

  test('of an owner that is deposed while saving changes nothing', async () => {
    const { url, proxy, store, epoch, end } = await disturbed();
    const rival = storeAt(url);
    const before = async (): Promise<void> => {
      await rival.open();
    };
    proxy.next('PUT', HEAD, { kind: 'passed', before });
    const saved = store.saveSnapshot({ sequence: 1, parts: partsOf('["stale"]') }, epoch);
    await expect(saved).rejects.toMatchObject({ code: 'DEPOSED', currentEpoch: epoch + 1 });
    await rival.saveSnapshot({ sequence: 1, parts: partsOf('["new"]') }, epoch + 1);
    await rival.compact(epoch + 1);
    await rival.close();
    expect((await idsIn(url)).filter((id) => id.startsWith('part-'))).toHaveLength(1);
    expect(await end()).toEqual([]);
  });
});

describe('a database that has lost what it acknowledged', () => {
  test('deleted: nothing more is written', async () => {
    const { url, store, epoch } = await disturbed();
    await ask(url, 'DELETE');
    await expect(store.append(1, epoch, '["x"]')).rejects.toMatchObject({ code: 'STORE', kind: 'failed' });
    await expect(store.compact(epoch)).rejects.toMatchObject({ code: 'STORE', kind: 'failed' });
  });

  test('made anew, also by somebody else: nothing is acknowledged, and whoever is there now is not disturbed', async () => {
    const { url, store, epoch, end } = await disturbed();
    await ask(url, 'DELETE');
    const other = storeAt(url);
    const { epoch: theirs } = await other.open();
    for (const _try of [1, 2]) await expect(store.append(1, epoch, '["x"]')).rejects.toThrow(/has lost what it ack/);
    await expect(store.saveSnapshot({ sequence: 1, parts: partsOf('["x"]') }, epoch)).rejects.toThrow(/has lost/);
    await other.append(0, theirs, '["theirs"]');
    await other.close();
    expect(await end()).toEqual(['["theirs"]']);
  });

  test.each(['log-', 'part-'])('with a %s document missing it is not loaded', async (prefix) => {
    const { url, store, epoch, end } = await disturbed();
    await store.saveSnapshot({ sequence: 1, parts: partsOf('["a"]', '["b"]') }, epoch);
    for (let n = 1; n < 4; n++) await store.append(n, epoch, `[${n}]`);
    const { rows } = (await ask(`${url}/_all_docs`)) as unknown as { rows: { id: string; value: { rev: string } }[] };
    const row = rows.filter(({ id }) => id.startsWith(prefix)).at(-2)!;
    await ask(`${url}/${row.id}?rev=${row.value.rev}`, 'DELETE');
    await expect(end()).rejects.toThrow(CorruptJournalError);
  });

  test('and one in which two halves of a cluster wrote the same slot is not loaded', async () => {
    const { url, end } = await disturbed();
    const { rows } = (await ask(`${url}/_all_docs`)) as unknown as { rows: { id: string }[] };
    const { id } = rows.filter((row) => row.id.startsWith('log-')).at(-1)!;
    const { _rev, ...slot } = await ask(`${url}/${id}`);
    const rival = { ...slot, body: '["other half"]', _rev: `1-${'f'.repeat(32)}` };
    await ask(`${url}/_bulk_docs`, 'POST', { docs: [rival], new_edits: false });
    expect(_rev).not.toBe(rival._rev);
    await expect(end()).rejects.toThrow(/conflicting revisions/);
  });

  test('a newer format, and a document of somebody else, are left alone', async () => {
    const { url, store, end } = await disturbed();
    await store.close();
    const head = await ask(`${url}/head`);
    const { rev } = await ask(`${url}/head`, 'PUT', { ...head, format: 2 });
    await expect(storeAt(url).open()).rejects.toThrow(UnsupportedVersionError);
    await ask(`${url}/head`, 'PUT', { mine: true, _rev: rev });
    await expect(end()).rejects.toThrow(CorruptJournalError);
    expect(await ask(`${url}/head`)).toMatchObject({ mine: true });
  });
});

describe('a server', () => {
  test('that is down at the start is tried once', async () => {
    const store = storeAt('http://127.0.0.1:1/precedence', { settings: 'checked' });
    await expect(store.open()).rejects.toMatchObject({ code: 'STORE', kind: 'failed' });
    const proxy = await StatusProxy.start(server.url);
    proxy.decide = () => ({ kind: 'request lost' });
    for (const settings of ['checked', 'trusted'] as const) {
      await expect(storeAt(`${proxy.url}/precedence`, { settings }).open()).rejects.toThrow(/could not open/);
    }
    expect(proxy.seen.length).toBe(2);
    await proxy.stop();
  });

  test('that never answers is given up', async () => {
    const { proxy, store, epoch, end } = await disturbed('2s');
    proxy.decide = () => ({ kind: 'left alone' });
    await expect(store.compact(epoch)).rejects.toThrow(/timeout/);
    await expect(store.append(1, epoch, '["x"]')).rejects.toMatchObject({ code: 'STORE', kind: 'failed' });
    expect(await end()).toEqual(['["before"]']);
  });

  test('that is not CouchDB must be trusted with more than nothing', async () => {
    const url = `${server.url}/${newDatabase()}`;
    const welcome = await ask(`${server.url}/`);
    const proxy = await StatusProxy.start(server.url);
    const open = async (options: CouchStoreOptions): Promise<void> => {
      const store = new CouchStore(url.replace(server.url, proxy.url), options);
      await store.open();
      await store.close();
    };
    proxy.next('GET', /^\/$/, { kind: 'answered', status: 200, body: { ...welcome, couchdb: undefined } }, Infinity);
    for (const durability of ['fsync', 'os'] as const) {
      await expect(open({ durability })).rejects.toThrow(InvalidConfigError);
      await open({ durability, settings: 'trusted' });
    }
    await open({ durability: 'none' });
    const body = { couchdb: 'Welcome', version: '3.4.2' };
    proxy.next('GET', /^\/$/, { kind: 'answered', status: 200, body }, Infinity);
    await open({});
    await proxy.stop();
  });

  test('gets the name and the password of the URL, which no message shows', async () => {
    const name = newDatabase();
    const proxy = await StatusProxy.start(server.url);
    const sent: (string | undefined)[] = [];
    proxy.decide = ({ headers }) => {
      sent.push(headers.authorization);
      return { kind: 'answered', status: 401, body: { error: 'unauthorized' } };
    };
    const url = proxy.url.replace('//', '//us%40er:secret%3Aword@');
    const store = storeAt(`${url}/${name}`);
    await expect(store.open()).rejects.toThrow(/HTTP 401: unauthorized/);
    await expect(store.open()).rejects.not.toThrow(/secret/);
    expect(store.name).toBe(`couchdb ${proxy.url}/${name}`);
    expect(sent[0]).toBe(`Basic ${Buffer.from('us@er:secret:word').toString('base64')}`);
    const other = storeAt(`${url}/${name}`, { headers: { authorization: 'Bearer token' } });
    await expect(other.open()).rejects.toThrow(/401/);
    expect(sent.at(-1)).toBe('Bearer token');
    await proxy.stop();
  });
});

describe('options', () => {
  test.each([
    '',
    'localhost',
    'ftp://localhost/a',
    'http://localhost:5984',
    'http://localhost:5984/',
    'http://localhost:5984/Upper',
    'http://localhost:5984/_users',
    'http://localhost:5984/a?b=c',
    'http://localhost:5984/a#b',
    'http://localhost:5984/%E0%A4%A',
    'http://u:secret@localhost:5984/',
    undefined,
    7,
  ])('the URL %o is refused', (url) => {
    const make = () => new CouchStore(url as string);
    expect(make).toThrow(InvalidConfigError);
    expect(make).not.toThrow(/secret/);
  });

  test.each([
    ['durability', 'disk'],
    ['settings', 'none'],
    ['timeout', '0s'],
    ['headers', { 'not a name': 'x' }],
    ['headers', { a: 'x\ny' }],
  ])('%s: %o is refused', (field, value) => {
    expect(() => new CouchStore('http://localhost/a', { [field]: value })).toThrow(new RegExp(`${field} is `));
  });

  test('the database may have a name that is written in another way in a URL, and be behind a path', async () => {
    const name = `${newDatabase()}/a+b`;
    databases.add(encodeURIComponent(name));
    const store = storeAt(`${server.url}/${encodeURIComponent(name)}/`);
    const { epoch } = await store.open();
    await store.append(0, epoch, '[1]');
    await store.close();
    expect(await idsIn(`${server.url}/${encodeURIComponent(name)}`)).toContain('log-2');
  });
});

test('B4.1 B5.1 a scheduler goes on in CouchDB where the one before was', async () => {
  const url = `${server.url}/${newDatabase()}`;
  await expectRestart({ store: () => storeAt(url) });
});

test('B5.1 G5 a scheduler that another one has deposed does not close the store that both were given', async () => {
  const url = `${server.url}/${newDatabase()}`;
  await expectTakeover({ store: () => storeAt(url) });
});
