import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { foundOrSkipped, type FoundServer } from './servers.js';

const WANTED =
  'a server with the protocol of CouchDB: set PRECEDENCE_COUCHDB_URL (with name and password, without a database), let ' +
  'one listen at 127.0.0.1:5984, or let the one of test/couchdb-server be installed (npm ci there).';

const root = join(import.meta.dirname, '..');

/** How long it may take until a server is there; the first time it is installed. */
export const COUCH_PATIENCE_MS = 300_000;

/** A CouchDB server: one that is named or runs here, else one in memory that is started for as long as it is needed. */
export async function findCouch(): Promise<FoundServer | undefined> {
  const url = process.env['PRECEDENCE_COUCHDB_URL'];
  if (url !== undefined) return { url, stop: () => Promise.resolve() };
  const usual = 'http://127.0.0.1:5984';
  if (await letsUsIn(usual)) return { url: usual, stop: () => Promise.resolve() };
  return foundOrSkipped(await startCouch(), WANTED);
}

/** Asks a server; the name and the password may be in its URL. */
export async function couchFetch(url: string, method: string, body: string | null = null): Promise<Response> {
  const { username, password, href } = new URL(url);
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  const headers = { 'content-type': 'application/json', ...(username !== '' && { authorization: `Basic ${login}` }) };
  const signal = AbortSignal.timeout(30_000);
  return fetch(username === '' ? href : href.replace(/\/\/[^@/]*@/, '//'), { method, headers, body, signal });
}

/** Whether databases can be made there without a password. */
async function letsUsIn(url: string): Promise<boolean> {
  const name = `${url}/precedence-test-${process.pid}`;
  try {
    const made = await couchFetch(name, 'PUT');
    await couchFetch(name, 'DELETE');
    return made.ok;
  } catch {
    return false;
  }
}

async function startCouch(): Promise<FoundServer | undefined> {
  const folder = 'test/couchdb-server';
  const setup = spawnSync(process.execPath, ['.ci/setup.mjs', folder], { cwd: root, stdio: 'inherit' });
  if (setup.status !== 0) return undefined;
  const child = spawn(process.execPath, [join(folder, 'server.mjs')], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [port] = (await once(createInterface(child.stdout), 'line')) as [string];
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      const ended = once(child, 'exit');
      // It ends by itself when nobody holds its input any more.
      child.stdin.end();
      await ended;
    },
  };
}
