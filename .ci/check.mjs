// Everything that must hold before a change is committed: `npm run check`, or some of it with
// `npm run check -- --only lint,types`. Goes on after a failing step, so that one run shows all faults.
// The last line is always `N passed, N failed`: each test counts as one, and so does each other step.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { coverageByFolder } from './coverage.mjs';

const root = join(import.meta.dirname, '..');
const testReport = '.build/tests.json';
const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const tarball = `.build/${name}-${version}.tgz`;
const folders = ['src', 'test', 'examples', 'bench'].filter((folder) => existsSync(join(root, folder)));

// Steps that only read the sources share the machine, two at a time. Tests and examples have it to themselves:
// some of them look at how long things take.
const steps = [
  { name: 'format', shared: true, commands: ['prettier --check --log-level warn .'] },
  { name: 'lint', shared: true, commands: ['eslint --max-warnings 0 .'] },
  { name: 'types', shared: true, commands: ['tsc --noEmit'] },
  { name: 'imports', shared: true, commands: [`depcruise --output-type err-long ${folders.join(' ')}`] },
  { name: 'docs', shared: true, commands: ['typedoc --emit none --logLevel Warn'] },
  { name: 'snippets', shared: true, commands: ['node .ci/snippets.mjs'] },
  { name: 'dead-code', shared: true, commands: ['knip --no-progress --no-config-hints'] },
  { name: 'behaviours', live: true, commands: ['node .ci/behaviours.mjs', 'node .ci/promises.mjs'] },
  {
    name: 'tests',
    live: true,
    commands: [`vitest run --coverage --reporter=default --reporter=json --outputFile.json=${testReport}`],
    before: () => rmSync(join(root, testReport), { force: true }),
    after: () => coverageByFolder(root).forEach((line) => console.log(line)),
    count: countTests,
  },
  {
    name: 'package',
    commands: [
      'node .ci/build.mjs',
      'publint --strict',
      `npm pack --ignore-scripts --silent --pack-destination .build`,
      `attw ${tarball} --profile esm-only --no-color`,
      `node .ci/smoke.mjs`,
    ],
  },
  { name: 'examples', commands: ['tsc -b .ci/tsconfig.run.json', 'node .build/examples/run.js --all'] },
];

function countTests(ok) {
  let report = { numPassedTests: 0, numFailedTests: 0 };
  try {
    report = JSON.parse(readFileSync(join(root, testReport), 'utf8'));
  } catch {
    console.log('No test report was written.');
  }
  // A file that cannot be loaded or a missed coverage threshold fails the run without failing any one test.
  return { passed: report.numPassedTests, failed: Math.max(report.numFailedTests, ok ? 0 : 1) };
}

function execute(command, live) {
  const [program, ...args] = command.split(' ');
  const path = join(root, 'node_modules', '.bin') + delimiter + process.env['PATH'];
  // Both streams of a live step go to standard output, so that nothing can come after the last line.
  const stream = live ? 1 : 'pipe';
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: root,
      env: { ...process.env, PATH: path },
      stdio: ['ignore', stream, stream],
      shell: process.platform === 'win32',
    });
    let output = '';
    child.stdout?.on('data', (chunk) => (output += chunk));
    child.stderr?.on('data', (chunk) => (output += chunk));
    child.on('error', (error) => resolve({ ok: false, output: `${command}: ${error.message}\n` }));
    child.on('close', (code) => resolve({ ok: code === 0, output }));
  });
}

async function runStep(step) {
  step.before?.();
  if (step.live) console.log(`> ${step.name}`);
  const start = process.hrtime.bigint();
  let ok = true;
  let output = '';
  for (const command of step.commands) {
    const result = await execute(command, step.live);
    output += result.output;
    ok = result.ok;
    if (!ok) break;
  }
  const seconds = (Number(process.hrtime.bigint() - start) / 1e9).toFixed(1);
  if (!ok) process.stdout.write(output);
  step.after?.();
  console.log(`${ok ? '✓' : '✗'} ${step.name}: ${ok ? 'passed' : 'FAILED'} in ${seconds} s`);
  return step.count?.(ok) ?? { passed: ok ? 1 : 0, failed: ok ? 0 : 1 };
}

async function runAll(chosen) {
  const tallies = [];
  const shared = chosen.filter((step) => step.shared);
  const drain = async () => {
    for (let step = shared.shift(); step; step = shared.shift()) tallies.push(await runStep(step));
  };
  await Promise.all([drain(), drain()]);
  for (const step of chosen.filter((step) => !step.shared)) tallies.push(await runStep(step));
  return tallies;
}

function chooseSteps(args) {
  if (args.length === 0) return steps;
  const [flag, list, ...rest] = args;
  const names = list?.split(',') ?? [];
  const unknown = names.filter((name) => !steps.some((step) => step.name === name));
  if (flag !== '--only' || names.length === 0 || unknown.length > 0 || rest.length > 0) {
    console.error(`Usage: npm run check [-- --only ${steps.map((step) => step.name).join(',')}]`);
    process.exit(2);
  }
  return steps.filter((step) => names.includes(step.name));
}

const chosen = chooseSteps(process.argv.slice(2));
mkdirSync(join(root, '.build'), { recursive: true });
const tallies = await runAll(chosen);
const sum = (key) => tallies.reduce((total, tally) => total + tally[key], 0);
console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
process.exitCode = sum('failed') > 0 ? 1 : 0;
