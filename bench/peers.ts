import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

// The peers live in a package of their own that a main install lacks, so the compiler cannot see their types:
// what the rows use of each is declared here, and they are loaded by name at run time.

export interface AsyncQueue {
  push(data: unknown): Promise<unknown>;
  push(data: unknown, callback: () => void): void;
  pause(): void;
  drain(): Promise<void>;
}
export interface AsyncPriorityQueue {
  push(data: unknown, priority: number): Promise<unknown>;
  push(data: unknown, priority: number, callback: () => void): void;
  pause(): void;
  drain(): Promise<void>;
}
interface Async {
  queue(worker: (data: unknown) => Promise<void>, concurrency: number): AsyncQueue;
  priorityQueue(worker: (data: unknown) => Promise<void>, concurrency: number): AsyncPriorityQueue;
}

interface FastqCallback {
  push(data: unknown, done: () => void): void;
  drain: () => void;
}
interface FastqPromise {
  push(data: unknown): Promise<unknown>;
  pause(): void;
}
interface Fastq {
  (worker: (data: unknown, done: () => void) => void, concurrency: number): FastqCallback;
  promise(worker: (data: unknown) => Promise<void>, concurrency: number): FastqPromise;
}

interface PQueue {
  add(run: () => Promise<void>, options?: { priority: number }): Promise<void>;
  onIdle(): Promise<void>;
}
type PQueueConstructor = new (options: { concurrency: number; autoStart?: boolean }) => PQueue;

type PLimit = (concurrency: number) => (run: () => Promise<void>) => Promise<void>;

type PMap = (list: readonly number[], run: () => Promise<void>, options: { concurrency: number }) => Promise<unknown>;

type PGraphConstructor = new (
  nodes: Map<string, { run: () => Promise<void> }>,
  dependencies: [string, string][],
) => { run(options: { concurrency: number }): Promise<void> };

interface Heap<T> {
  init(list: T[]): void;
  remove(element: T): boolean;
}
type HeapConstructor = new <T>(compare: (a: T, b: T) => number) => Heap<T>;

interface CycleDetectingGraph {
  addVertex(vertex: number): boolean;
  /** False if the edge would have closed a cycle. */
  addEdge(from: number, to: number): boolean;
}

interface BullAddress {
  readonly connection: { readonly host: string; readonly port: number };
}
interface Bullmq {
  Queue: new (name: string, options: BullAddress) => { add(name: string, data: unknown): Promise<unknown> };
  Worker: new (
    name: string,
    run: () => Promise<void>,
    options: BullAddress & { readonly concurrency: number },
  ) => { on(event: 'completed' | 'failed', listener: () => void): unknown };
}

interface Graphlib {
  Graph: new () => { setNode(id: string): void; setEdge(from: string, to: string): void };
  alg: { isAcyclic(graph: object): boolean };
}

export const loadAsync = async () => (await load<{ default: Async }>('async')).default;
export const loadFastq = async () => (await load<{ default: Fastq }>('fastq')).default;
export const loadPQueue = async () => (await load<{ default: PQueueConstructor }>('p-queue')).default;
export const loadPLimit = async () => (await load<{ default: PLimit }>('p-limit')).default;
export const loadPMap = async () => (await load<{ default: PMap }>('p-map')).default;
export const loadPGraph = async () => (await load<{ PGraph: PGraphConstructor }>('p-graph')).PGraph;
export const loadHeap = async () => (await load<{ Heap: HeapConstructor }>('heap-js')).Heap;
export const loadBullmq = () => load<Bullmq>('bullmq');
export const loadGraphlib = async () => (await load<{ default: Graphlib }>('@dagrejs/graphlib')).default;
export const loadCycleDetect = async () =>
  (await load<{ GenericGraphAdapter: { create(): CycleDetectingGraph } }>('incremental-cycle-detect'))
    .GenericGraphAdapter;

const peers = findPeers();
/** The folder of our own package. */
export const packageRoot = dirname(dirname(peers));
const requireFromPeers = createRequire(join(peers, 'package.json'));

async function load<Module>(name: string): Promise<Module> {
  return (await import(pathToFileURL(findPeer(name)).href)) as Module;
}

/** The file that a peer is loaded from. */
export function findPeer(name: string): string {
  return requireFromPeers.resolve(name);
}

/** Installs the peers when what is there is not what their lockfile names. */
export function installPeers(): void {
  const wanted = packagesIn('package-lock.json');
  const present = packagesIn(join('node_modules', '.package-lock.json'));
  if (Object.entries(wanted).every(([path, { version }]) => path === '' || present[path]?.version === version)) return;
  console.error('Installing the peers of the benchmarks ...');
  // The npm that started us, where there is one: another npm on the path may be another version.
  const npm = process.env['npm_execpath'];
  const [command, first] = npm === undefined ? ['npm', []] : [process.execPath, [npm]];
  execFileSync(command, [...first, 'ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: peers,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

function packagesIn(lockfile: string): Record<string, { version?: string }> {
  const path = join(peers, lockfile);
  if (!existsSync(path)) return {};
  return (JSON.parse(readFileSync(path, 'utf8')) as { packages: Record<string, { version?: string }> }).packages;
}

/** The exact version of each peer, for the report. */
export function peerVersions(): Record<string, string> {
  const manifest = JSON.parse(readFileSync(join(peers, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  return manifest.dependencies;
}

/** This file may run from where it was compiled to, some folders below the root. */
function findPeers(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const candidate = join(folder, 'bench', 'peers');
    if (existsSync(join(candidate, 'package.json'))) return candidate;
    if (folder === dirname(folder)) throw new Error('bench/peers was not found in any folder above this file.');
  }
}
