// Holds docs/promises.md to the tests: the last cell of each promise and of each row of the fault table lists the test files
// in which a title names it. Titles name a promise by its id ("G7") and a row by its number ("row 7", "rows 7 and 8").
//
//   node .ci/promises.mjs           one line per problem, then a summary; exit 1 if there is a problem
//   node .ci/promises.mjs --write   fills in the last cells
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readTests } from './behaviours.mjs';

const PROMISES = 14;
const FAULTS = 44;
/** Nothing in the package can fall into these yet: feeding other machines through an engine, and a page to look at. */
const NOT_YET = new Set(['40', '43']);

/** What a title names: `G7` for a promise, `7` for a row. */
export function namedIn(title) {
  const promises = [...title.matchAll(/\bG(?:[1-9]|1[0-4])\b/g)].map(([id]) => id);
  const rows = [...title.matchAll(/\brows? (\d+(?:(?:,| and) \d+)*)/g)].flatMap(([, list]) => list.match(/\d+/g));
  return [...promises, ...rows];
}

/** The files that show each promise and row, with how many titles of each do. */
export function shownBy(tests) {
  const shown = new Map();
  for (const { file, title, shown: runs } of tests) {
    if (!runs) continue;
    for (const id of new Set(namedIn(title))) {
      const files = shown.get(id) ?? new Map();
      files.set(file, (files.get(file) ?? 0) + 1);
      shown.set(id, files);
    }
  }
  return shown;
}

/**
 * The page with the last cell of each row as the tests have it.
 * @returns {string}
 */
export function withTests(page, tests) {
  const shown = shownBy(tests);
  return page
    .split('\n')
    .map((line) => {
      const [, id, said] = /^\| (G?\d+) +\| (.*?) +\|/.exec(line) ?? [];
      return id === undefined ? line : `| ${id} | ${said} | ${cellOf(id, shown.get(id))} |`;
    })
    .join('\n');
}

function cellOf(id, files) {
  if (files === undefined) return NOT_YET.has(id) ? 'not yet' : 'NO TEST';
  return [...files].map(([file, count]) => linkTo(file.split(sep).join('/'), count)).join(', ');
}

function linkTo(file, count) {
  const name = file.slice('test/'.length).replace(/\.test(?:-d)?\.ts$/, '');
  return `[${name}](../${file})${count > 1 ? ` × ${count}` : ''}`;
}

/** What is wrong with the page, one line each. */
export function findProblems(page, tests) {
  const problems = [];
  const said = new Set(page.split('\n').flatMap((line) => /^\| (G?\d+) /.exec(line)?.[1] ?? []));
  const wanted = [
    ...Array.from({ length: PROMISES }, (_, at) => `G${at + 1}`),
    ...Array.from({ length: FAULTS }, (_, at) => String(at + 1)),
  ];
  const shown = shownBy(tests);
  for (const id of wanted) {
    if (!said.has(id)) problems.push(`docs/promises.md: ${id} is missing`);
    if (!shown.has(id) && !NOT_YET.has(id)) problems.push(`docs/promises.md: no test that runs names ${id}`);
    if (shown.has(id) && NOT_YET.has(id))
      problems.push(`docs/promises.md: ${id} counts as not yet there, but a test names it`);
  }
  for (const id of shown.keys()) if (!wanted.includes(id)) problems.push(`a test names row ${id}, which is not there`);
  if (withTests(page, tests) !== page) {
    problems.push(
      'docs/promises.md: its lists of tests are not up to date; node .ci/promises.mjs --write makes them so',
    );
  }
  return problems;
}

function main() {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const file = join(root, 'docs', 'promises.md');
  const tests = readTests(root);
  if (process.argv.includes('--write')) writeFileSync(file, withTests(readFileSync(file, 'utf8'), tests));
  const problems = findProblems(readFileSync(file, 'utf8'), tests);
  for (const problem of problems) console.error(problem);
  const shown = [...shownBy(tests).keys()];
  const promises = shown.filter((id) => id.startsWith('G')).length;
  console.log(
    `promises: ${promises} of ${PROMISES}, rows: ${shown.length - promises} of ${FAULTS}, each with tests of its own`,
  );
  if (problems.length > 0) process.exitCode = 1;
}

// Imported by its test, the file only lends its functions.
if (basename(process.argv[1] ?? '') === 'promises.mjs') main();
