import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Scheduler } from '../../src/index.js';
import { CouchStore } from '../../src/couchdb.js';
import { COUCH_PATIENCE_MS, couchFetch, findCouch } from '../couchdb-server.js';
import type { FoundServer } from '../servers.js';
import { StatusProxy } from '../status-proxy.js';

/** What CouchDB takes unless it is told otherwise. */
const MAX_DOCUMENT_BYTES = 8_000_000;

let server: FoundServer;
const name = `precedence-test-${randomUUID()}`;

beforeAll(async () => {
  const found = await findCouch();
  if (found !== undefined) server = found;
}, COUCH_PATIENCE_MS);

afterAll(async () => {
  if ((server as FoundServer | undefined) === undefined) return;
  await couchFetch(`${server.url}/${name}`, 'DELETE');
  await server.stop();
});

beforeEach(({ skip }) => {
  if ((server as FoundServer | undefined) === undefined) skip('there is no server with the protocol of CouchDB');
});

/** As CouchDB counts it: texts as they are, and not as they are written in JSON. */
function documentBytes(document: object): number {
  return Object.values(document).reduce<number>((bytes, value) => bytes + Buffer.byteLength(String(value)) + 20, 0);
}

test('B5.1 30,000 adds in one turn go into as many documents as a CouchDB takes that was told nothing', async () => {
  const proxy = await StatusProxy.start(server.url);
  const sizes: number[] = [];
  proxy.decide = ({ method, path, body }) => {
    if (method !== 'PUT' || !path.includes('/log-')) return { kind: 'passed' };
    const bytes = documentBytes(JSON.parse(body) as object);
    sizes.push(bytes);
    if (bytes <= MAX_DOCUMENT_BYTES) return { kind: 'passed' };
    return { kind: 'answered', status: 413, body: { error: 'document_too_large' } };
  };
  const begin = async (): Promise<Scheduler> => {
    const store = new CouchStore(`${proxy.url}/${name}`, { settings: 'trusted' });
    const scheduler = new Scheduler({ store, concurrency: 0, snapshotEvery: { facts: Infinity, bytes: Infinity } });
    scheduler.define('work', (n: number) => n);
    await scheduler.start();
    return scheduler;
  };
  const scheduler = await begin();
  const handles = Array.from({ length: 30_000 }, (_, n) => scheduler.add('work', n, { channel: 'a channel' }));
  await Promise.all(handles.map(({ accepted }) => accepted));
  expect(sizes.reduce((sum, bytes) => sum + bytes)).toBeGreaterThan(MAX_DOCUMENT_BYTES);
  expect(Math.max(...sizes)).toBeGreaterThan(MAX_DOCUMENT_BYTES - 200_000);
  // It takes over as if the first one had been killed.
  const next = await begin();
  expect(next.pending()).toHaveLength(30_000);
  await next.close();
  await scheduler.close();
  await proxy.stop();
}, 120_000);
