import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/*
 * The servers that tests need, found or started. What is found is shared with others: a test makes its own schema or
 * prefix there and takes it away again. A test that restarts or kills a server starts one of its own.
 */

/** A server that answers. */
export interface FoundServer {
  readonly url: string;
  /** Ends it if it was started for the tests. */
  stop(): Promise<void>;
}

/**
 * The server, or nothing where there is none and the tests that need it are skipped. A machine that checks changes for
 * everybody (`CI`) must have all of them: there a missing one is an error.
 */
export function foundOrSkipped<Server>(server: Server | undefined, wanted: string): Server | undefined {
  if (server !== undefined) return server;
  if (process.env['CI'] !== undefined) throw new Error(`These tests need ${wanted}`);
  console.warn(`Skipped: these tests need ${wanted}`);
  return undefined;
}

const POSTGRES_WANTED =
  'PostgreSQL: set PRECEDENCE_POSTGRES_URL, let one listen at 127.0.0.1:5432 (user postgres, database test), ' +
  'or install its server (Debian: apt install postgresql).';

/** A PostgreSQL server: one that is named or runs here, else one that is started for as long as it is needed. */
export async function findPostgres(): Promise<FoundServer | undefined> {
  const url = process.env['PRECEDENCE_POSTGRES_URL'] ?? urlOfEnvironment();
  if (url !== undefined) return { url, stop: () => Promise.resolve() };
  const usual = 'postgres://postgres@127.0.0.1:5432/test';
  if (await answers(usual)) return { url: usual, stop: () => Promise.resolve() };
  return foundOrSkipped(await PostgresServer.start(), POSTGRES_WANTED);
}

/** A PostgreSQL server of the test's own, to be restarted and killed. */
export async function ownPostgres(...settings: readonly string[]): Promise<PostgresServer | undefined> {
  return foundOrSkipped(await PostgresServer.start(...settings), POSTGRES_WANTED);
}

function urlOfEnvironment(): string | undefined {
  const { PGHOST: host, PGPORT: port = '5432', PGUSER: user = 'postgres', PGDATABASE: database = 'test' } = process.env;
  return host === undefined ? undefined : `postgres://${user}@${encodeURIComponent(host)}:${port}/${database}`;
}

/** Whether somebody can log in there. */
async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A PostgreSQL server in a folder of its own, which nobody else knows of. */
export class PostgresServer implements FoundServer {
  readonly url: string;
  private process: ChildProcess | undefined;

  private constructor(
    private readonly programs: string,
    private readonly folder: string,
    private readonly port: number,
  ) {
    this.url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  }

  /** Nothing where this machine has no such server. */
  static async start(...settings: readonly string[]): Promise<PostgresServer | undefined> {
    const programs = postgresPrograms();
    if (programs === undefined) return undefined;
    const folder = mkdtempSync(join(tmpdir(), 'precedence-postgres-'));
    const { uid, gid } = serverUser();
    if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
    const server = new PostgresServer(programs, folder, await freePort());
    const flags = [
      '-D',
      join(folder, 'data'),
      '-U',
      'postgres',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--no-locale',
      '--no-sync',
    ];
    execFileSync(join(programs, 'initdb'), flags, { ...serverUser(), cwd: folder, stdio: 'ignore' });
    await server.run(...settings);
    return server;
  }

  /** Starts it again after it was ended; the settings are such as `fsync=off`. */
  async run(...settings: readonly string[]): Promise<void> {
    const flags = [...['listen_addresses=127.0.0.1', 'max_connections=20'], ...settings].flatMap((each) => [
      '-c',
      each,
    ]);
    const child = spawn(
      join(this.programs, 'postgres'),
      ['-D', join(this.folder, 'data'), '-p', String(this.port), '-k', this.folder, ...flags],
      { ...serverUser(), cwd: this.folder, stdio: 'ignore' },
    );
    this.process = child;
    // Whoever ends without stopping it, ends it all the same.
    process.once('exit', () => child.kill('SIGQUIT'));
    while (!(await answers(this.url))) {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended with ${child.exitCode} when it was started`);
      await sleep(20);
    }
  }

  /** `SIGINT` breaks off what runs and ends in order, `SIGQUIT` ends like a crash. */
  async end(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    const child = this.process;
    this.process = undefined;
    if (child?.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  async stop(): Promise<void> {
    await this.end('SIGQUIT');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The folder of the newest installed server's programs. */
function postgresPrograms(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root) : [];
  return versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(root, version, 'bin'))
    .find((folder) => existsSync(join(folder, 'initdb')));
}

/** PostgreSQL refuses to run as root, and its package brings a user for it. */
function serverUser(): { readonly uid?: number; readonly gid?: number } {
  if (userInfo().uid !== 0) return {};
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

/** A port of this machine that nobody listens at. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
