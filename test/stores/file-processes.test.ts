import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { rolldown } from 'rolldown';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FileStore, StoreError } from '../../src/index.js';
import { contentsOf } from './file-history.js';

let place: string;
let program: string;
let directory: string;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'precedence-processes-'));
  program = join(place, 'child.mjs');
  const bundle = await rolldown({ input: join(import.meta.dirname, 'file-child.ts'), platform: 'node' });
  await bundle.write({ file: program, format: 'esm' });
  await bundle.close();
});

let count = 0;
beforeEach(() => {
  directory = join(place, `state-${(count += 1)}`);
});

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});

afterAll(() => {
  rmSync(place, { recursive: true });
});

/** A real process that uses a store. */
class Child {
  private readonly process: ChildProcess;
  private readonly lines: AsyncIterator<string>;

  constructor(durability: 'fsync' | 'os' = 'fsync') {
    this.process = spawn(process.execPath, [program, directory, durability], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.lines = createInterface({ input: this.process.stdout! })[Symbol.asyncIterator]();
    children.add(this.process);
  }

  /** The next answer. */
  async answer(): Promise<string> {
    return String((await this.lines.next()).value);
  }

  ask(command: 'append' | 'go on' | 'close'): Promise<string> {
    this.process.stdin!.write(`${command}\n`);
    return this.answer();
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.process.kill(signal);
  }

  /** Kills it, and gives the answers that had come before it was dead. */
  async kill(): Promise<readonly string[]> {
    const hasEnded = once(this.process, 'exit');
    this.process.kill('SIGKILL');
    await hasEnded;
    const answers: string[] = [];
    for (let line = await this.lines.next(); line.done !== true; line = await this.lines.next())
      answers.push(line.value);
    return answers;
  }
}

async function loaded(): Promise<readonly string[]> {
  const store = new FileStore(directory);
  const { records } = await contentsOf(store);
  await store.close();
  return records;
}

describe('row 11: processes on one directory', () => {
  test('a second one is refused while the first lives, and let in when it has closed', async () => {
    const first = new Child();
    expect(await first.answer()).toBe('open 1 0');
    expect(await first.ask('append')).toBe('kept 1');
    expect(await new Child().answer()).toBe('refused STORE busy');
    await expect(new FileStore(directory).open()).rejects.toMatchObject({ kind: 'busy' });
    expect(await first.ask('append')).toBe('kept 2');
    expect(await first.ask('close')).toBe('closed');
    const second = new Child();
    expect(await second.answer()).toBe('open 2 2');
    expect(await second.ask('append')).toBe('kept 3');
  });

  test('in one process a second store is refused too', async () => {
    const store = new FileStore(directory);
    await store.open();
    await expect(new FileStore(directory).open()).rejects.toMatchObject({ kind: 'busy' });
    await expect(store.open()).rejects.toMatchObject({ kind: 'busy' });
    await store.close();
    const again = new FileStore(directory);
    await again.open();
    await again.close();
  });

  test('of ten that start at once one gets it', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => new Child().answer()));
    expect(answers.filter((answer) => answer.startsWith('open'))).toHaveLength(1);
    expect(answers.filter((answer) => answer === 'refused STORE busy')).toHaveLength(9);
  });

  test('one whose owner was killed is taken over with the next epoch', async () => {
    const owner = new Child();
    expect(await owner.answer()).toBe('open 1 0');
    await owner.ask('append');
    await owner.kill();
    const next = new Child();
    expect(await next.answer()).toBe('open 2 1');
    expect(await next.ask('append')).toBe('kept 2');
  });

  test('one whose owner has a number that another process has by now is taken over', async () => {
    const owner = new Child();
    await owner.answer();
    const mark = JSON.parse(readFileSync(join(directory, 'owner-000001'), 'utf8')) as {
      pid: number;
      startedAt: string;
    };
    await owner.kill();
    writeFileSync(join(directory, 'owner-000001'), JSON.stringify({ ...mark, pid: process.pid }));
    expect(await new Child().answer()).toBe('open 2 0');
  });

  test('a copy of a directory that is in use can be used', async () => {
    const owner = new Child();
    await owner.answer();
    await owner.ask('append');
    const copy = `${directory}-copy`;
    cpSync(directory, copy, { recursive: true });
    const store = new FileStore(copy);
    expect((await contentsOf(store)).records).toHaveLength(1);
    await store.close();
    expect(await owner.ask('append')).toBe('kept 2');
  });

  test.runIf(process.platform === 'linux')(
    'an owner that was stopped is deposed; when it wakes up, what it writes is ignored and it is told so',
    async () => {
      const owner = new Child();
      expect(await owner.answer()).toBe('open 1 0');
      expect(await owner.ask('append')).toBe('kept 1');
      owner.signal('SIGSTOP');
      const store = new FileStore(directory);
      let opening: Awaited<ReturnType<FileStore['open']>> | undefined;
      while (opening === undefined) {
        opening = await store.open().catch((thrown: unknown) => {
          // The signal takes a moment to arrive.
          if (thrown instanceof StoreError && thrown.kind === 'busy') return undefined;
          throw thrown;
        });
      }
      expect(opening).toEqual({ epoch: 2, sequence: 1 });
      owner.signal('SIGCONT');
      expect(await owner.ask('append')).toBe('refused DEPOSED undefined');
      await store.append(1, 2, '["of the successor"]');
      expect(await owner.ask('append')).toBe('refused DEPOSED undefined');
      await store.close();
      expect((await loaded()).slice(1)).toEqual(['["of the successor"]']);
    },
  );
});

describe.each(['os', 'fsync'] as const)('row 1: really killed, durability %s', (durability) => {
  test('again and again: what was acknowledged is there, with nothing out of order', async () => {
    let acknowledged = 0;
    for (let round = 1; round <= 8; round++) {
      const child = new Child(durability);
      expect(await child.answer()).toMatch(/^open/);
      await child.ask('go on');
      for (let n = 0; n < round * 3; n++) await child.answer();
      const last = (await child.kill()).at(-1);
      acknowledged = Math.max(acknowledged, Number(last?.split(' ')[1] ?? 0));
      const records = (await loaded()).map((record) => (JSON.parse(record) as number[])[1]);
      expect(records.length).toBeGreaterThanOrEqual(acknowledged);
      expect(records).toEqual(records.map((_, n) => n + 1));
    }
  });
});
