// Makes a fresh clone ready: installs from the lockfile when what is installed is not what the lockfile names. Given a
// folder, does that for the package there: `node .ci/setup.mjs test/couchdb-server`. Uses only what Node brings along,
// because it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2] ?? '.';
const root = join(import.meta.dirname, '..', folder);

function packagesOf(lockfile) {
  try {
    return JSON.parse(readFileSync(join(root, lockfile), 'utf8')).packages ?? {};
  } catch {
    return undefined; // missing, or cut off by an interrupted install
  }
}

/** Contents are compared, not file times: a checkout or a copy changes times without changing packages. */
function isInstalled() {
  const wanted = packagesOf('package-lock.json');
  const present = packagesOf('node_modules/.package-lock.json');
  if (wanted === undefined) throw new Error('package-lock.json is missing or unreadable. Restore it from git.');
  if (present === undefined) return false;
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '') continue;
    const installed = present[path];
    // Binaries for other platforms are in the lockfile, but never installed.
    if (installed === undefined && (entry.optional || entry.devOptional)) continue;
    if (installed?.version !== entry.version || installed?.integrity !== entry.integrity) return false;
  }
  return true;
}

function install() {
  // The npm that started us, where there is one: another npm on the path may be another version.
  const npm = process.env['npm_execpath'];
  const flags = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const options = { cwd: root, stdio: 'inherit' };
  return npm
    ? spawnSync(process.execPath, [npm, ...flags], options)
    : spawnSync('npm', flags, { ...options, shell: process.platform === 'win32' });
}

if (!isInstalled()) {
  const lockfile = join(folder, 'package-lock.json');
  console.log(`Installing dependencies from ${lockfile} ...`);
  const { status, error } = install();
  if (status !== 0) {
    console.error(`npm ci failed${error ? `: ${error.message}` : ` with exit code ${status}`}.`);
    process.exit(1);
  }
}
