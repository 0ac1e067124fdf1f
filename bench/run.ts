// npm run bench -- [group ...] [--full] [--samples N] [--row ID ...] [--json file] [--publish]
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { interleave } from './interleave.js';
import { installPeers, peerVersions } from './peers.js';
import { circumstances, publish } from './publish.js';
import { groups, type Row } from './row.js';
import { loadRows, loadRowsNamed } from './rows.js';
import { summary, table } from './table.js';
import { brief, judge, type RowResult } from './verdict.js';

const samplesForAVerdict = 5;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    full: { type: 'boolean', default: false },
    samples: { type: 'string' },
    row: { type: 'string', multiple: true },
    json: { type: 'string' },
    publish: { type: 'boolean', default: false },
  },
});
const effort = { full: values.full, samples: parseSamples(values.samples ?? (values.full ? '11' : '5')) };
const chosen = await chooseRows(positionals, values.row);

installPeers();
const loadAtStart = loadavg()[0] ?? 0;
const results: RowResult[] = [];
for (const row of chosen) {
  const samples = await interleave(row, effort, showProgress);
  showProgress('');
  if (samples.length === 0) continue;
  const result = judge(row, samples);
  results.push(result);
  console.log(table(result));
}
console.log(summary(results));
if (effort.samples < samplesForAVerdict) {
  console.log(
    `${effort.samples} sample(s) each: enough to try a row, not to judge it (${samplesForAVerdict} or more).`,
  );
}
// Collection runs on helper threads: without a free core it slows those most who leave most garbage.
if (loadAtStart > cpus().length / 2) {
  console.log(`The machine was busy at the start (load ${brief(loadAtStart)}): the ratios are not to be trusted.`);
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report(), undefined, 2)}\n`);
if (values.publish) await publish(results, measured());
const failed = results.some((row) => row.candidates.some((candidate) => candidate.failure !== undefined));
process.exitCode = failed ? 1 : 0;

async function chooseRows(names: readonly string[], ids: readonly string[] | undefined): Promise<readonly Row[]> {
  const unknown = names.find((name) => !groups.some((group) => group === name));
  if (unknown !== undefined) throw new Error(`There is no group "${unknown}". There are: ${groups.join(', ')}.`);
  if (ids) return (await Promise.all(ids.map(loadRowsNamed))).flat();
  return (await loadRows()).filter((row) => names.length === 0 || names.includes(row.group));
}

function parseSamples(text: string): number {
  const samples = Number(text);
  if (!Number.isInteger(samples) || samples < 1)
    throw new Error(`--samples wants a whole number from 1, got "${text}".`);
  return samples;
}

function showProgress(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${line}`);
}

function measured() {
  return { ...circumstances('bench', loadAtStart), samples: effort.samples };
}

function report() {
  return {
    ...measured(),
    full: effort.full,
    peers: peerVersions(),
    rows: results,
  };
}
