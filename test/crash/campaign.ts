import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Chance } from '../stress/chance.js';
import { Run, type Death } from './run.js';
import type { StoreKind } from './store-kinds.js';

/** What a campaign came to. */
export interface Report {
  runs: number;
  /** Processes that were killed by the parent, at a random moment. */
  shots: number;
  /** Processes that have killed themselves, each at a boundary of its own. */
  boundaries: number;
  /** Whether the last of them had no boundary left to die at. */
  isComplete: boolean;
  acknowledged: number;
  lost: number;
  /** What was found, each with the run it was found in. */
  readonly wrong: string[];
}

/** What there is to do in a run of a campaign, and how often a snapshot of it is taken. */
interface Size {
  readonly jobs: number;
  readonly snapshotEvery: number;
}

// Enough for a few deaths on the way, and for several snapshots.
const LONG: Size = { jobs: 36, snapshotEvery: 60 };
// Each of its boundaries costs a run.
const SHORT: Size = { jobs: 9, snapshotEvery: 25 };
/** Lines that a process says before it is shot, at the most: so a run takes several. */
const MOST_LINES = 120;
const MOST_MOMENTS = 40;

/** Kills real processes at work on stores of one kind, and tells what was wrong after that. */
export class Campaign {
  readonly report: Report = {
    runs: 0,
    shots: 0,
    boundaries: 0,
    isComplete: false,
    acknowledged: 0,
    lost: 0,
    wrong: [],
  };
  private readonly place: string;

  constructor(
    private readonly program: string,
    private readonly kind: StoreKind,
    private readonly seed: number,
  ) {
    this.place = mkdtempSync(join(tmpdir(), `precedence-crash-${kind}-`));
  }

  /** Shoots processes at moments drawn from the seed, until there were so many. */
  async shoot(count: number): Promise<void> {
    const chance = new Chance(this.seed);
    while (this.report.shots < count && this.report.wrong.length === 0) {
      const run = this.begin(chance.roll(1_000_000), LONG);
      while (!run.isOver) {
        const lines = chance.roll(MOST_LINES);
        const moments = chance.roll(MOST_MOMENTS);
        await run.live(this.report.shots + run.kills < count ? { shot: { lines, moments } } : undefined);
      }
      this.report.shots += run.kills;
      this.end(run);
    }
  }

  /** Lets a process die at every boundary in turn, until one has lived to the end. `before` kills another one ahead of it. */
  async sweep(before?: Death): Promise<void> {
    const size = SHORT;
    let [next, isComplete] = [1, false];
    const lane = async (): Promise<void> => {
      while (!isComplete && this.report.wrong.length === 0) {
        const boundary = next++;
        if (!(await this.dieAt(boundary, size, before))) isComplete = true;
      }
    };
    await Promise.all(Array.from({ length: availableParallelism() }, lane));
    this.report.isComplete = isComplete;
  }

  /** Lets processes die at these boundaries. */
  async dieAtEach(boundaries: readonly number[]): Promise<void> {
    for (const boundary of boundaries) await this.dieAt(boundary, SHORT);
  }

  /** How many boundaries there are when nobody dies. */
  async countBoundaries(): Promise<number> {
    const run = this.begin(this.seed, SHORT);
    await run.live(undefined);
    this.end(run);
    const last = run.lines.at(-1);
    return last?.said === 'done' ? last.boundaries : 0;
  }

  /** Without a trace, unless something is to be looked at. */
  clear(): void {
    if (this.report.wrong.length === 0) rmSync(this.place, { recursive: true });
  }

  /** Whether there was such a boundary. */
  private async dieAt(boundary: number, size: Size, before?: Death): Promise<boolean> {
    const run = this.begin(this.seed, size);
    if (before !== undefined) await run.live(before);
    const former = run.kills;
    if (!run.isOver) await run.live({ boundary });
    const hasDied = run.kills > former;
    if (hasDied) this.report.boundaries += 1;
    if (!run.isOver) await run.live(undefined);
    this.end(run);
    return hasDied;
  }

  private begin(seed: number, size: Size): Run {
    this.report.runs += 1;
    const place = join(this.place, String(this.report.runs));
    return new Run({ program: this.program, place, kind: this.kind, seed, ...size });
  }

  private end(run: Run): void {
    this.report.acknowledged += run.acknowledged;
    this.report.lost += run.wrong.filter((sentence) => sentence.startsWith('G1')).length;
    this.report.wrong.push(...new Set(run.wrong.map((sentence) => `${run.place}: ${sentence}`)));
    if (run.wrong.length === 0) run.clear();
  }
}
