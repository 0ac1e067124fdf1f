import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { format } from 'prettier';
import { brief, type CandidateResult, type RowResult } from './verdict.js';

/** Where and how a row was measured. */
export interface Circumstances {
  readonly date: string;
  readonly command: string;
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  readonly loadAtStart: number;
  readonly samples: number;
}

/** A row as it is published. */
export interface PublishedRow extends RowResult {
  readonly measured: Circumstances;
}

const figuresFile = new URL('../../docs/performance.json', import.meta.url);
const page = new URL('../../docs/performance.md', import.meta.url);
const BEGIN = '<!-- figures: begin -->';
const END = '<!-- figures: end -->';

/** Puts the rows in place of those of the same id in docs/performance.json, and their tables into docs/performance.md. */
export async function publish(results: readonly RowResult[], measured: Circumstances): Promise<void> {
  const published: PublishedRow[] = existsSync(figuresFile)
    ? (JSON.parse(readFileSync(figuresFile, 'utf8')) as PublishedRow[])
    : [];
  for (const result of results) {
    const at = published.findIndex(({ id }) => id === result.id);
    if (at < 0) published.push({ ...result, measured });
    else published[at] = { ...result, measured };
  }
  writeFileSync(figuresFile, await format(JSON.stringify(published), { parser: 'json', printWidth: 120 }));
  writeFileSync(page, withFigures(readFileSync(page, 'utf8'), published));
}

/** The page with the tables of these rows between its marks. */
export function withFigures(text: string, rows: readonly PublishedRow[]): string {
  const [before, rest] = [text.slice(0, text.indexOf(BEGIN)), text.slice(text.indexOf(END))];
  return `${before}${BEGIN}\n\n${rows.map(section).join('\n')}\n${rest}`;
}

function section({ id, work, unit, better, candidates, measured }: PublishedRow): string {
  const { date, node, cpu, cores, loadAtStart, samples, command } = measured;
  return [
    `### ${id}: ${work}`,
    '',
    `${unit}, ${better} is better; median of ${samples}. \`${command}\`, ${date}, Node ${node}, ${cores} × ${cpu}, load ${brief(loadAtStart)} at the start.`,
    '',
    '| candidate | median | min | max | we are | bar | reached |',
    '| --- | ---: | ---: | ---: | ---: | --- | --- |',
    ...candidates.map(line),
    '',
  ].join('\n');
}

function line({ name, median, min, max, ahead, bars, failure }: CandidateResult): string {
  const cells = [
    name,
    failure === undefined ? figure(median) : 'failed',
    figure(min),
    figure(max),
    ahead === undefined ? '' : `${brief(ahead)} ×`,
    bars.map(({ text }) => text).join(', '),
    bars.map(({ reached }) => (reached ? 'yes' : 'no')).join(', '),
  ];
  return `| ${cells.join(' | ')} |`;
}

function figure(value: number | undefined): string {
  return value === undefined ? '-' : brief(value);
}
