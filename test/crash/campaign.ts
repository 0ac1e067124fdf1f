import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Chance } from '../../src/testing/simulation/chance.js';
import type { Planted } from './planted.js';
import { Run, type Death } from './run.js';
import { linesOf } from './side-file.js';
import { clearServer, type StoreKind } from './store-kinds.js';

/** What a campaign came to. */
export interface Report {
  runs: number;
  /** Processes that were killed by the parent, at a random moment. */
  shots: number;
  /** Processes that have killed themselves at a boundary: a drawn one, or each at its own, the first on a store or who takes over. */
  readonly boundaries: { drawn: number; first: number; takeover: number };
  /** Whether for both there was one in the end that had no boundary left to die at. */
  isComplete: boolean;
  /** The kinds of calls that they died before or after. */
  readonly calls: Set<string>;
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
/** And passes before it dies at one of them. */
const MOST_BOUNDARIES = 200;

/** Kills real processes at work on stores of one kind, and tells what was wrong after that. */
export class Campaign {
  readonly report: Report = {
    runs: 0,
    shots: 0,
    boundaries: { drawn: 0, first: 0, takeover: 0 },
    isComplete: false,
    calls: new Set(),
    acknowledged: 0,
    lost: 0,
    wrong: [],
  };
  private readonly place: string;

  constructor(
    private readonly program: string,
    private readonly kind: StoreKind,
    private readonly seed: number,
    /** Something wrong with the store, to see that it is found. */
    private readonly planted?: Planted,
  ) {
    this.place = mkdtempSync(join(tmpdir(), `precedence-crash-${kind}-`));
  }

  /** Shoots processes at moments drawn from the seed, until there were so many. */
  shoot(count: number): Promise<void> {
    const shots = (chance: Chance): Death => ({
      shot: { lines: chance.roll(MOST_LINES), moments: chance.roll(MOST_MOMENTS) },
    });
    return this.kill(count, shots, (kills) => (this.report.shots += kills));
  }

  /** Lets processes die at boundaries drawn from the seed, until there were so many. */
  sample(count: number): Promise<void> {
    const boundaries = (chance: Chance): Death => ({ boundary: 1 + chance.roll(MOST_BOUNDARIES) });
    return this.kill(count, boundaries, (kills) => (this.report.boundaries.drawn += kills));
  }

  /** Lets a process die at every boundary in turn until one has none left, and then those that come after a dead one. */
  async sweep(): Promise<void> {
    const half = Math.floor((await this.countBoundaries()) / 2);
    const hasAllFirst = await this.dieAtAll(undefined);
    this.report.isComplete = hasAllFirst && (await this.dieAtAll(half));
  }

  /** How many boundaries there are when nobody dies. */
  async countBoundaries(): Promise<number> {
    const run = this.begin(this.seed, SHORT);
    await run.live(undefined);
    this.end(run);
    const last = run.lines.at(-1);
    return last?.said === 'done' ? last.boundaries : 0;
  }

  /** Takes away all that could still be looked at. */
  async clear(): Promise<void> {
    rmSync(this.place, { recursive: true });
    await clearServer(this.kind, basename(this.place));
  }

  private async kill(count: number, some: (chance: Chance) => Death, killed: (kills: number) => void): Promise<void> {
    const chance = new Chance(this.seed);
    for (let kills = 0; kills < count && this.report.wrong.length === 0;) {
      const run = this.begin(chance.roll(1_000_000), LONG);
      while (!run.isOver) await run.live(kills + run.kills < count ? some(chance) : undefined);
      kills += run.kills;
      killed(run.kills);
      this.end(run);
    }
  }

  private async dieAtAll(former: number | undefined): Promise<boolean> {
    let [next, isComplete] = [1, false];
    const lane = async (): Promise<void> => {
      while (!isComplete && this.report.wrong.length === 0) {
        if (!(await this.dieAt(next++, former))) isComplete = true;
      }
    };
    await Promise.all(Array.from({ length: availableParallelism() }, lane));
    return isComplete;
  }

  /** Whether there was such a boundary to die at, after another process has died at `former`, if that is given. */
  private async dieAt(boundary: number, former: number | undefined): Promise<boolean> {
    const run = this.begin(this.seed, SHORT);
    if (former !== undefined) await run.live({ boundary: former });
    const kills = run.kills;
    if (!run.isOver) await run.live({ boundary });
    const hasDied = run.kills > kills;
    if (hasDied) this.report.boundaries[former === undefined ? 'first' : 'takeover'] += 1;
    if (!run.isOver) await run.live(undefined);
    this.end(run);
    return hasDied;
  }

  private begin(seed: number, size: Size): Run {
    this.report.runs += 1;
    const place = join(this.place, String(this.report.runs));
    const { program, kind, planted } = this;
    return new Run({ program, place, kind, seed, planted, ...size });
  }

  private end(run: Run): void {
    for (const { at } of linesOf(run.lines, 'killed')) this.report.calls.add(at.split(' ')[1] ?? '');
    this.report.acknowledged += run.acknowledged;
    this.report.lost += run.wrong.filter((sentence) => sentence.startsWith('G1')).length;
    this.report.wrong.push(...new Set(run.wrong.map((sentence) => `${run.place}: ${sentence}`)));
    if (run.wrong.length === 0) run.clear();
  }
}
