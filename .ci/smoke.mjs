// Uses the packed package as a stranger would: unpacked into an empty project, with only its dependencies beside it,
// from a module and from plain CommonJS. `npm run smoke` uses the Node that runs it, `npm run smoke -- --all` also the
// newest of every other supported line, which it installs from the registry into .build/.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const OTHER_LINES = [20, 22, 24];

const STORY = `
  const scheduler = new Scheduler({ concurrency: 2 });
  const order = [];
  const first = scheduler.add(() => { order.push('low'); return 20; }, { priority: 'low' });
  const second = scheduler.add(async () => { order.push('high'); return 1; }, { priority: 'high' });
  const sum = await scheduler.add((task) => task.dependencies[0] + task.dependencies[1], { after: [first, second] });
  await scheduler.close();
  if (sum !== 21 || order.join() !== 'high,low') throw new Error('expected 21 and high,low, got ' + sum + ' and ' + order);
`;

const names = Object.keys(manifest.exports)
  .filter((path) => path !== './package.json')
  .map((path) => manifest.name + path.slice(1));

const asModule = `
import { Scheduler } from 'precedence';
${names.map((name) => `await import('${name}');`).join('\n')}
${STORY}`;

const asCommonJs = `
const { Scheduler } = require('precedence');
(async () => {${STORY}})().catch((error) => { console.error(error); process.exitCode = 1; });`;

/** An empty project that has the packed package, and of everything else only what that names. */
function unpack() {
  const project = mkdtempSync(join(tmpdir(), 'precedence-smoke-'));
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', project];
  const tarball = execFileSync('npm', pack, { cwd: root, encoding: 'utf8' }).trim().split('\n').at(-1);
  const modules = join(project, 'node_modules');
  mkdirSync(join(modules, manifest.name), { recursive: true });
  execFileSync('tar', ['-xzf', join(project, tarball), '--strip-components=1', '-C', join(modules, manifest.name)]);
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  mkdirSync(join(modules, '@types'), { recursive: true });
  symlinkSync(join(root, 'node_modules', '@types', 'node'), join(modules, '@types', 'node'));
  copyFileSync(join(root, '.ci', 'published-types.ts.txt'), join(project, 'types.mts'));
  writeFileSync(join(project, 'module.mjs'), asModule);
  writeFileSync(join(project, 'common.cjs'), asCommonJs);
  return project;
}

/** The newest Node of a line, as the registry's package for this platform has it. */
function nodeOf(line) {
  const folder = join(root, '.build', 'nodes', String(line));
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  mkdirSync(folder, { recursive: true });
  execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefix', folder, `${name}@${line}`]);
  return join(folder, 'node_modules', name, 'bin', 'node');
}

/** Compiles against the declarations that are in the package. */
function compileTypes(project) {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const flags = '--noEmit --strict --target es2022 --lib es2023,esnext.disposable --module nodenext --types node';
  execFileSync(process.execPath, [tsc, ...flags.split(' '), 'types.mts'], { cwd: project, stdio: 'inherit' });
  console.log('The published types hold.');
}

const lines = process.argv.includes('--all') ? OTHER_LINES : [];
const nodes = [process.execPath, ...lines.map(nodeOf)];
const project = unpack();
try {
  compileTypes(project);
  for (const node of nodes) {
    for (const file of ['module.mjs', 'common.cjs']) execFileSync(node, [join(project, file)], { stdio: 'inherit' });
    console.log(`${execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()}: import and require work`);
  }
} finally {
  rmSync(project, { recursive: true });
}
