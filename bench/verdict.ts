import { type Samples } from './interleave.js';
import { type Bar, type Row } from './row.js';

export interface RowResult {
  readonly id: string;
  readonly group: string;
  readonly work: string;
  readonly unit: string;
  readonly better: 'higher' | 'lower';
  readonly candidates: readonly CandidateResult[];
}

export interface CandidateResult {
  readonly name: string;
  readonly figures: readonly number[];
  readonly median: number | undefined;
  readonly min: number | undefined;
  readonly max: number | undefined;
  /** How many times as good as this candidate we are; undefined for ours. */
  readonly ahead: number | undefined;
  readonly bars: readonly BarResult[];
  readonly failure: string | undefined;
}

export interface BarResult {
  readonly text: string;
  readonly reached: boolean;
}

/** Compares the medians of one interleaved run. A bar that speaks of a candidate without a figure is not reached. */
export function judge(row: Row, all: readonly Samples[]): RowResult {
  const medians = new Map(all.map(({ candidate, figures }) => [candidate.name, median(figures)]));
  const ours = row.candidates[0]!.name;
  // A factor of two is written 2 whichever way the unit points.
  const timesAsGood = (good: string, other: string): number => {
    const [a, b] = [medians.get(good) ?? NaN, medians.get(other) ?? NaN];
    return row.better === 'higher' ? a / b : b / a;
  };
  const judgeBar = (bar: Bar, name: string, against: string): BarResult => {
    switch (bar.kind) {
      case 'ahead':
        return { text: `≥ ${brief(bar.times)} ×`, reached: timesAsGood(against, name) >= bar.times };
      case 'at-most':
        return { text: `≤ ${brief(bar.figure)} ${row.unit}`, reached: (medians.get(name) ?? NaN) <= bar.figure };
      case 'growth':
        return {
          text: `≤ ${brief(bar.times)} × ${bar.from}`,
          reached: timesAsGood(bar.from, name) <= bar.times,
        };
    }
  };
  const candidates = all.map(({ candidate, figures, failure }) => {
    const { name, against = ours } = candidate;
    return {
      name,
      figures,
      median: medians.get(name),
      min: figures.length > 0 ? Math.min(...figures) : undefined,
      max: figures.length > 0 ? Math.max(...figures) : undefined,
      ahead: name === against || medians.get(name) === undefined ? undefined : timesAsGood(against, name),
      bars: (candidate.bars ?? []).map((bar) => judgeBar(bar, name, against)),
      failure,
    };
  });
  return { id: row.id, group: row.group, work: row.work, unit: row.unit, better: row.better, candidates };
}

function median(figures: readonly number[]): number | undefined {
  const sorted = [...figures].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? sorted[middle]
    : sorted.length > 0
      ? mean(sorted[middle - 1]!, sorted[middle]!)
      : undefined;
}

const mean = (a: number, b: number) => (a + b) / 2;

/** Three digits are all that a measurement of this kind carries. */
export function brief(figure: number): string {
  const digits = Math.abs(figure) >= 100 ? 0 : Math.abs(figure) >= 10 ? 1 : 2;
  return Number(figure.toFixed(digits)).toLocaleString('en-US');
}
