// One sample, in a process of its own: node sample.js <row> <candidate> prints { "figure": number }.
import { loadRowsNamed } from './rows.js';

const [rowId = '', name = ''] = process.argv.slice(2);
const [row] = await loadRowsNamed(rowId);
const candidate = row?.candidates.find((one) => one.name === name);
if (!candidate) throw new Error(`Row ${rowId} has no candidate "${name}".`);

const figure = await candidate.measure();
process.stdout.write(`${JSON.stringify({ figure })}\n`);
// A peer may hold a timer; nothing after the figure is of interest.
process.exit(0);
