import { describe, expect, test } from 'vitest';
import { findProblems, namedIn, withTests } from '../.ci/promises.mjs';

/** A page of all promises and rows, brought up to date with these tests. */
function pageFor(tests: readonly { file: string; title: string; shown: boolean }[]): string {
  const ids = [
    ...Array.from({ length: 14 }, (_, at) => `G${at + 1}`),
    ...Array.from({ length: 44 }, (_, at) => at + 1),
  ];
  return withTests(ids.map((id) => `| ${id} | Something. | |`).join('\n'), tests);
}

/** Titles that name all but rows 40 and 43, which have no tests yet. */
function titlesBut(left: string): { file: string; title: string; shown: boolean }[] {
  const rows = Array.from({ length: 44 }, (_, at) => `row ${at + 1}`).filter(
    (row) => row !== 'row 40' && row !== 'row 43',
  );
  const names = [...Array.from({ length: 14 }, (_, at) => `G${at + 1}`), ...rows];
  return names.filter((name) => name !== left).map((title) => ({ file: 'test/made-up.test.ts', title, shown: true }));
}

describe('the script of promises', () => {
  test('reads what a title names', () => {
    expect(namedIn('G1 and G14 hold, rows 2, 3 and 41 too')).toEqual(['G1', 'G14', '2', '3', '41']);
    expect(namedIn('G15 of 2 rows in row order, arrow 3')).toEqual([]);
  });

  test('links each line to the files that show it, and is content then', () => {
    const tests = titlesBut('');
    const page = pageFor(tests);
    expect(page.split('\n')[6]).toBe('| G7 | Something. | [made-up](../test/made-up.test.ts) |');
    expect(page).toContain('| 43 | Something. | not yet |');
    expect(findProblems(page, tests)).toEqual([]);
    const twice = [...tests, { file: 'test/made-up.test.ts', title: 'row 7 again', shown: true }];
    expect(pageFor(twice)).toContain('| 7 | Something. | [made-up](../test/made-up.test.ts) × 2 |');
  });

  test('finds a promise or row without a test', () => {
    for (const left of ['G7', 'row 7']) {
      const tests = titlesBut(left);
      expect(findProblems(pageFor(tests), tests)).toEqual([
        `docs/promises.md: no test that runs names ${left.replace('row ', '')}`,
      ]);
    }
  });

  test('does not count a test that is skipped', () => {
    const tests = titlesBut('').map((each) => ({ ...each, shown: each.title !== 'row 7' }));
    expect(findProblems(pageFor(tests), tests)).toEqual(['docs/promises.md: no test that runs names 7']);
  });

  test('finds a line that is missing, a row that nobody knows, and a list that is not up to date', () => {
    const tests = titlesBut('');
    const page = pageFor(tests);
    expect(findProblems(page.replace(/^\| 7 .*\n/m, ''), tests)).toEqual(['docs/promises.md: 7 is missing']);
    const stale = page.replace('made-up', 'gone');
    expect(findProblems(stale, tests)).toEqual([expect.stringContaining('not up to date')]);
    const more = [...tests, { file: 'test/made-up.test.ts', title: 'row 99', shown: true }];
    expect(findProblems(page, more)).toEqual(['a test names row 99, which is not there']);
  });
});
