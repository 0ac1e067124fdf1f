// npm run crash -- [--kills 200] [--seed 7] [--store file|sqlite|postgres|redis]: kills processes at random and at every boundary in turn.
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { Campaign, type Report } from './campaign.js';
import { programIn } from './program.js';
import { FILE_KINDS, STORE_KINDS, type StoreKind } from './store-kinds.js';

interface Row extends Report {
  readonly kind: StoreKind;
  readonly seconds: number;
}

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string' },
    store: { type: 'string' },
  },
});
const kills = wholeNumber('kills', values.kills);
const seed = values.seed === undefined ? Math.floor(Math.random() * 1e9) : wholeNumber('seed', values.seed);
// Servers are not on every machine: they are asked for by name.
const kinds = values.store === undefined ? FILE_KINDS : STORE_KINDS.filter((kind) => kind === values.store);
if (kinds.length === 0) throw new Error(`--store is one of ${STORE_KINDS.join(', ')}, not "${values.store ?? ''}".`);

console.log(`Seed ${seed}: ${kills} kills at random, then one at each boundary, for each of ${kinds.join(', ')}.`);
const program = await programIn(join(import.meta.dirname, '../../..'), join(import.meta.dirname, 'child.js'));
const rows: Row[] = [];
try {
  for (const kind of kinds) rows.push(await campaign(kind));
} finally {
  rmSync(dirname(program), { recursive: true });
}
for (const { kind, calls } of rows) console.log(`${kind}: died before and after ${[...calls].sort().join(', ')}`);
for (const { kind, wrong } of rows) for (const sentence of wrong) console.log(`${kind}: ${sentence}`);
console.table(rows.map(shown));
const hasPassed = rows.every(({ wrong, isComplete, shots }) => wrong.length === 0 && isComplete && shots >= kills);
process.exitCode = hasPassed ? 0 : 1;
console.log(hasPassed ? 'passed' : 'failed');

async function campaign(kind: StoreKind): Promise<Row> {
  const start = process.hrtime.bigint();
  const campaign = new Campaign(program, kind, seed);
  await campaign.shoot(kills);
  await campaign.sweep();
  // What went wrong can be looked at: the sentences name the directories.
  if (campaign.report.wrong.length === 0) await campaign.clear();
  return { kind, ...campaign.report, seconds: Number(process.hrtime.bigint() - start) / 1e9 };
}

function shown({ kind, seconds, ...report }: Row): Record<string, unknown> {
  return {
    store: kind,
    'killed at random': report.shots,
    'boundaries of the first': shownBoundaries(report.boundaries.first, report),
    'and of who takes over': shownBoundaries(report.boundaries.takeover, report),
    runs: report.runs,
    'tasks acknowledged': report.acknowledged,
    lost: report.lost,
    wrong: report.wrong.length,
    seconds: Math.round(seconds),
  };
}

/** How many there are is known once somebody has passed all of them. */
function shownBoundaries(count: number, { isComplete }: Report): string {
  return `${count}/${isComplete ? count : '?'}`;
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} is a whole number of at least 0, not "${text}".`);
}
