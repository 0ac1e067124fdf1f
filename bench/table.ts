import { brief, type CandidateResult, type RowResult } from './verdict.js';

const headers = ['row', 'candidate', 'median', 'min', 'max', 'we are', 'bar', 'reached'] as const;

/** One row of the benchmark as lines for the terminal, a heading first. */
export function table(row: RowResult): string {
  const lines = row.candidates.map((candidate) => cells(row, candidate));
  const all = [headers, ...lines];
  const widths = headers.map((_, column) => Math.max(...all.map((line) => line[column]!.length)));
  const text = all.map((line) =>
    line
      .map((cell, column) => (isNumeric(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd(),
  );
  return [`${row.id}: ${row.work} (${row.unit}, ${row.better} is better)`, ...text, ''].join('\n');
}

function cells(row: RowResult, candidate: CandidateResult): readonly string[] {
  const { name, median, min, max, ahead, bars, failure } = candidate;
  return [
    row.id,
    name,
    failure === undefined ? figure(median) : `failed`,
    figure(min),
    figure(max),
    ahead === undefined ? '' : `${brief(ahead)} ×`,
    bars.map((bar) => bar.text).join(', '),
    failure ?? bars.map((bar) => (bar.reached ? 'yes' : 'NO')).join(', '),
  ];
}

const figure = (value: number | undefined) => (value === undefined ? '-' : brief(value));
const isNumeric = (column: number) => column >= 2 && column <= 5;

/** The last line: how many bars hold. */
export function summary(rows: readonly RowResult[]): string {
  const bars = rows.flatMap((row) => row.candidates.flatMap((candidate) => candidate.bars));
  const reached = bars.filter((bar) => bar.reached).length;
  return `${reached} of ${bars.length} bars reached`;
}
