import { readFileSync, writeFileSync } from 'node:fs';
import { format } from 'prettier';
import { toldCircumstances, withPart, type Circumstances } from './publish.js';

/** What is kept after so many tasks. */
export interface SoakReading {
  readonly tasks: number;
  readonly liveBytes: number;
  readonly fileBytes: number;
}

/** What a soak has shown. */
export interface SoakReport {
  readonly tasks: number;
  readonly seconds: number;
  /** Bytes for each further task, in the second half. */
  readonly slope: number;
  readonly readings: readonly SoakReading[];
  readonly ended: Readonly<Record<'completed' | 'failed' | 'cancelled', number>>;
  readonly checks: number;
  readonly broken: number;
  readonly measured: Circumstances;
}

const reportFile = new URL('../../docs/soak.json', import.meta.url);
const page = new URL('../../docs/performance.md', import.meta.url);

/** Puts the report into docs/soak.json, and what it says into docs/performance.md. */
export async function publishSoak(report: SoakReport): Promise<void> {
  writeFileSync(reportFile, await format(JSON.stringify(report), { parser: 'json', printWidth: 120 }));
  writeFileSync(page, withSoak(readFileSync(page, 'utf8'), report));
}

/** The page with this report between its marks. */
function withSoak(text: string, { tasks, seconds, slope, readings, ended, checks, broken, measured }: SoakReport) {
  const megabytes = (bytes: number | undefined): string => ((bytes ?? 0) / 1e6).toFixed(1);
  const lines = readings
    .filter((_, at) => at === 0 || (at + 1) % Math.ceil(readings.length / 10) === 0)
    .map((reading) => {
      const cells = [reading.tasks.toLocaleString('en'), megabytes(reading.liveBytes), megabytes(reading.fileBytes)];
      return `| ${cells.join(' | ')} |`;
    });
  const part = [
    `${tasks.toLocaleString('en')} tasks in ${seconds.toFixed(0)} s: ${ended.completed.toLocaleString('en')} completed, ` +
      `${ended.failed.toLocaleString('en')} failed and ${ended.cancelled.toLocaleString('en')} cancelled, as they were to. ` +
      `${checks.toLocaleString('en')} checks, ${String(broken)} broken. In the second half each further task left ` +
      `${slope.toFixed(3)} bytes. ${toldCircumstances(measured)}`,
    '',
    '| tasks | MB live | MB in files |',
    '| ---: | ---: | ---: |',
    ...lines,
    '',
  ].join('\n');
  return withPart(text, 'soak', part);
}
