// One sample, in a process of its own: node sample.js <row> <folder> <candidate> prints { "figure": number }. Without a
// candidate it prepares the folder for all of them.
import { loadRowsNamed } from './rows.js';

const [rowId = '', folder = '', name] = process.argv.slice(2);
const [row] = await loadRowsNamed(rowId);
if (name === undefined) {
  await row?.prepare?.(folder);
  process.exit(0);
}
const candidate = row?.candidates.find((one) => one.name === name);
if (!candidate) throw new Error(`Row ${rowId} has no candidate "${name}".`);

const figure = await candidate.measure(folder);
process.stdout.write(`${JSON.stringify({ figure })}\n`);
// A peer may hold a timer; nothing after the figure is of interest.
process.exit(0);
