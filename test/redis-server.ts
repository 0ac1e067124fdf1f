import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { foundOrSkipped, freePort, type FoundServer } from './servers.js';

const WANTED =
  'Redis: set PRECEDENCE_REDIS_URL, let one listen at 127.0.0.1:6379, ' +
  'or install its server (Debian: apt install redis-server).';

/** A Redis server: one that is named or runs here, else one that is started for as long as it is needed. */
export async function findRedis(): Promise<FoundServer | undefined> {
  const url = process.env['PRECEDENCE_REDIS_URL'] ?? process.env['REDIS_URL'];
  if (url !== undefined) return { url, stop: () => Promise.resolve() };
  const usual = 'redis://127.0.0.1:6379';
  if (await answers(usual)) return { url: usual, stop: () => Promise.resolve() };
  return foundOrSkipped(await RedisServer.start(), WANTED);
}

/** A Redis server of the test's own, to be restarted, killed and flushed. Keeps everything unless it is told otherwise. */
export async function ownRedis(...settings: readonly string[]): Promise<RedisServer | undefined> {
  return foundOrSkipped(await RedisServer.start(...settings), WANTED);
}

/** A client that tries once and says nothing. */
export function redisClient(url: string, connectTimeout = 10_000): Redis {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout });
  client.on('error', () => undefined);
  return client;
}

async function answers(url: string): Promise<boolean> {
  const client = redisClient(url, 5_000);
  try {
    await client.connect();
    await client.ping();
    return true;
  } catch {
    return false;
  } finally {
    client.disconnect();
  }
}

/** A Redis server in a folder of its own, which nobody else knows of. */
export class RedisServer implements FoundServer {
  readonly url: string;
  private readonly folder = mkdtempSync(join(tmpdir(), 'precedence-redis-'));
  private process: ChildProcess | undefined;

  private constructor(readonly port: number) {
    this.url = `redis://127.0.0.1:${port}`;
  }

  /** Nothing where this machine has no such server. */
  static async start(...settings: readonly string[]): Promise<RedisServer | undefined> {
    if (!isInstalled()) return undefined;
    const server = new RedisServer(await freePort());
    await server.run(...settings);
    return server;
  }

  /** Starts it again after it was ended, on what it has kept; the settings are such as `--maxmemory 3mb`. */
  async run(...settings: readonly string[]): Promise<void> {
    const flags = ['--appendonly yes', '--appendfsync always', '--save ', ...settings].flatMap((each) => {
      const [name = '', value = ''] = each.split(' ');
      return [name, value];
    });
    const child = spawn('redis-server', ['--port', String(this.port), '--bind', '127.0.0.1', ...flags], {
      cwd: this.folder,
      stdio: 'ignore',
    });
    this.process = child;
    // Whoever ends without stopping it, ends it all the same.
    process.once('exit', () => child.kill('SIGKILL'));
    while (!(await answers(this.url))) {
      if (child.exitCode !== null) throw new Error(`Redis ended with ${child.exitCode} when it was started`);
      await sleep(10);
    }
  }

  async kill(): Promise<void> {
    const child = this.process;
    this.process = undefined;
    if (child?.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function isInstalled(): boolean {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
