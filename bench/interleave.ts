import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Candidate, type Row } from './row.js';

/** What the processes of one candidate printed, in the order they ran. */
export interface Samples {
  readonly candidate: Candidate;
  readonly figures: number[];
  /** The first line of the first failure; after it the candidate is not run again. */
  failure?: string;
}

export interface Effort {
  readonly samples: number;
  readonly full: boolean;
}

type Progress = (line: string) => void;

/** Takes one sample of every candidate, then the next of every candidate, so that a slow minute hits all alike. */
export async function interleave(row: Row, effort: Effort, progress: Progress): Promise<Samples[]> {
  const candidates = row.candidates.filter((candidate) => effort.full || !candidate.slow);
  // A row may be for full runs only, and preparing it may take minutes.
  if (candidates.length === 0) return [];
  const folder = mkdtempSync(join(tmpdir(), 'precedence-bench-'));
  try {
    progress(`${row.id}  is prepared`);
    if (row.prepare !== undefined) await sampleProcess([], [row.id, folder]);
    return await takeTurns({ ...row, candidates }, folder, effort, progress);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function takeTurns(row: Row, folder: string, effort: Effort, progress: Progress): Promise<Samples[]> {
  const all: Samples[] = row.candidates.map((candidate) => ({ candidate, figures: [] }));
  for (let round = 0; round < effort.samples; round++) {
    for (const samples of all) {
      const { candidate, figures } = samples;
      if (samples.failure !== undefined || round >= (candidate.slow?.samples ?? Infinity)) continue;
      progress(`${row.id}  ${round + 1}/${effort.samples}  ${candidate.name}`);
      try {
        figures.push(await sample(row, folder, candidate));
      } catch (error) {
        samples.failure = firstLine(error);
      }
    }
  }
  return all;
}

const entry = fileURLToPath(import.meta.resolve('./sample.js'));
const run = promisify(execFile);

async function sample(row: Row, folder: string, candidate: Candidate): Promise<number> {
  const stdout = await sampleProcess(candidate.memory ? ['--expose-gc'] : [], [row.id, folder, candidate.name]);
  const { figure } = JSON.parse(stdout) as { figure: unknown };
  if (typeof figure !== 'number' || !Number.isFinite(figure)) throw new Error(`printed ${stdout.trim()}, not a figure`);
  return figure;
}

async function sampleProcess(flags: readonly string[], words: readonly string[]): Promise<string> {
  // Options inherited from the caller's shell would not be the default flags.
  const { NODE_OPTIONS: _, ...env } = process.env;
  return (await run(process.execPath, [...flags, entry, ...words], { env })).stdout;
}

/** The line of a crashed process that names its error, rather than the excerpt of code above it. */
function firstLine(error: unknown): string {
  const written = error instanceof Error && 'stderr' in error && typeof error.stderr === 'string' ? error.stderr : '';
  const lines = (written || String(error)).split('\n').map((line) => line.trim());
  return (
    lines.find((line) => /^(?:\w*Error|FATAL ERROR)\b/.test(line)) ?? lines.find((line) => line !== '') ?? 'unknown'
  );
}
