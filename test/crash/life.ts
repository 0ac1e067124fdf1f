import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate as breathe } from 'node:timers/promises';
import type { Planted } from './planted.js';
import type { StoreKind } from './store-kinds.js';

/** What a process is told. */
export interface Plan {
  readonly kind: StoreKind;
  /** Where its store is. */
  readonly state: string;
  /** Where it and those before it say what they do. */
  readonly side: string;
  /** Its number among them, from 1. */
  readonly life: number;
  readonly seed: number;
  readonly jobs: number;
  readonly snapshotEvery: number;
  /** What is to be found. */
  readonly planted?: Planted | undefined;
  /** The boundary at which it kills itself. */
  readonly deadly?: number | undefined;
}

/** When a process is killed from outside: once it has said so many lines, and a few moments later. */
export interface Shot {
  readonly lines: number;
  readonly moments: number;
}

/** Whether it did all there was to do, or was killed before; `wrong` says why else it ended. */
export type LifeEnd =
  { readonly kind: 'done' } | { readonly kind: 'killed' } | { readonly kind: 'wrong'; readonly what: string };

/** Nobody waits for a process that hangs. */
const LONGEST_LIFE_MS = 60_000;

/** Lets a process live until it is done or dead. */
export async function live(program: string, plan: Plan, shot?: Shot): Promise<LifeEnd> {
  const child = spawn(process.execPath, [program, JSON.stringify(plan)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LONGEST_LIFE_MS,
    killSignal: 'SIGABRT',
  });
  let said = 0;
  let complaint = '';
  let isShot = false;
  const look = async (): Promise<void> => {
    if (shot === undefined || isShot || said < shot.lines) return;
    isShot = true;
    for (let moment = 0; moment < shot.moments; moment++) await breathe();
    child.kill('SIGKILL');
  };
  child.stdout.on('data', (lines: Buffer) => {
    said += lines.length;
    void look();
  });
  child.stderr.on('data', (text: Buffer) => (complaint += text.toString()));
  void look();
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  if (code === 0) return { kind: 'done' };
  if (signal === 'SIGKILL') return { kind: 'killed' };
  return { kind: 'wrong', what: `a process ended by ${signal ?? `code ${String(code)}`}: ${complaint}` };
}
