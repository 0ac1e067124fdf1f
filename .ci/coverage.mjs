// Branch coverage per folder of src and of all of it, from the summary that the test run leaves behind.
import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

export function coverageByFolder(root) {
  let summary;
  try {
    summary = JSON.parse(readFileSync(join(root, 'coverage', 'coverage-summary.json'), 'utf8'));
  } catch {
    return ['No coverage was written: it needs a run in which every test passes.'];
  }
  const folders = new Map();
  for (const [file, { branches }] of Object.entries(summary)) {
    if (file === 'total') continue;
    const parts = relative(join(root, 'src'), file).split(sep);
    const folder = parts.length > 1 ? `src/${parts[0]}` : 'src';
    const seen = folders.get(folder) ?? { covered: 0, total: 0 };
    folders.set(folder, { covered: seen.covered + branches.covered, total: seen.total + branches.total });
  }
  const all = { covered: 0, total: 0 };
  for (const { covered, total } of folders.values()) {
    all.covered += covered;
    all.total += total;
  }
  const percent = ({ covered, total }) => (total === 0 ? '100.0' : ((100 * covered) / total).toFixed(1));
  return [...[...folders].sort(([a], [b]) => (a < b ? -1 : 1)), ['all sources', all]].map(
    ([name, count]) => `branches of ${name}: ${percent(count)} % (${count.covered} of ${count.total})`,
  );
}
