import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { format } from 'prettier';
import { brief, type CandidateResult, type RowResult } from './verdict.js';

/** Where and how something was measured. */
export interface Circumstances {
  readonly date: string;
  readonly command: string;
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  readonly loadAtStart: number;
}

/** A row as it is published. */
export interface PublishedRow extends RowResult {
  readonly measured: Circumstances & { readonly samples: number };
}

const figuresFile = new URL('../../docs/performance.json', import.meta.url);
const page = new URL('../../docs/performance.md', import.meta.url);

/** This script's command and this machine, as they are now. */
export function circumstances(script: string, loadAtStart: number): Circumstances {
  return {
    date: new Date().toISOString().slice(0, 10),
    command: [`npm run ${script} --`, ...process.argv.slice(2)].join(' '),
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    loadAtStart,
  };
}

/** Where and how, in one line of a page. */
export function toldCircumstances({ command, date, node, cores, cpu, loadAtStart }: Circumstances): string {
  return `\`${command}\`, ${date}, Node ${node}, ${cores} × ${cpu}, load ${brief(loadAtStart)} at the start.`;
}

/** Puts the rows in place of those of the same id in docs/performance.json, and their tables into docs/performance.md. */
export async function publish(results: readonly RowResult[], measured: PublishedRow['measured']): Promise<void> {
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
  return withPart(text, 'figures', rows.map(section).join('\n'));
}

/** The page with this text between the marks of that name. */
export function withPart(text: string, name: string, part: string): string {
  const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
  const [before, rest] = [text.slice(0, text.indexOf(begin)), text.slice(text.indexOf(end))];
  return `${before}${begin}\n\n${part}\n${rest}`;
}

function section({ id, work, unit, better, candidates, measured }: PublishedRow): string {
  return [
    `### ${id}: ${work}`,
    '',
    `${unit}, ${better} is better; median of ${measured.samples}. ${toldCircumstances(measured)}`,
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
