import { describe, expect, test } from 'vitest';
import { findProblems, readBehaviours, readTitles } from '../.ci/behaviours.mjs';

// The sources below are strings, so that the script, which reads this file too, sees no ids in titles here.

const SECTIONS = { A: 9, B: 10, C: 14, D: 12, E: 8, F: 9 };

/** A document that has every behaviour, all of them open, except for what `changes` says; null leaves one out. */
function documentWith(changes: Readonly<Record<string, 'done' | 'open' | null>> = {}): string {
  const statuses = new Map<string, 'done' | 'open' | null>();
  for (const [section, last] of Object.entries(SECTIONS)) {
    for (let number = 1; number <= last; number++) statuses.set(`${section}${number}`, 'open');
  }
  for (const [id, status] of Object.entries(changes)) statuses.set(id, status);
  const rows = [...statuses].flatMap(([id, status]) => (status === null ? [] : [`| ${id} | Something. | ${status} |`]));
  return ['| id | behaviour | status |', '| --- | --- | --- |', ...rows].join('\n');
}

function problemsOf(markdown: string, source = ''): string[] {
  const tests = readTitles(source).map((title) => ({ file: 'test/made-up.test.ts', ...title }));
  return findProblems(readBehaviours(markdown), tests);
}

function titlesOf(source: string): string[] {
  return readTitles(source).map(({ title }) => title);
}

describe('the behaviour script accepts', () => {
  test('a document in which all is open, and no tests', () => {
    expect(problemsOf(documentWith())).toEqual([]);
  });

  test('a done behaviour that a test names', () => {
    expect(problemsOf(documentWith({ A1: 'done' }), `test('A1 picks by name', () => {});`)).toEqual([]);
  });

  test('a behaviour that has sub-lines only, and a test that names the whole', () => {
    const markdown = documentWith({ C5: null, 'C5.1': 'done', 'C5.2': 'open' });
    expect(problemsOf(markdown, `describe('C5', () => { test('C5.1 changes a level', () => {}); });`)).toEqual([]);
  });

  test('a sub-line shown through its parent when the whole is marked done', () => {
    expect(problemsOf(documentWith({ C5: 'done', 'C5.1': 'done' }), `test('C5', () => {});`)).toEqual([]);
  });

  test('promises, rows of the fault table, and words that only resemble ids', () => {
    expect(problemsOf(documentWith(), `test('G14, row 24, P10, 0xF99, D*, A0, a77, F99x', () => {});`)).toEqual([]);
  });

  test('a bar inside the text when it is escaped', () => {
    const [row] = readBehaviours(String.raw`| A1 | 'a' \| 'b' | done |`);
    expect(row).toEqual({ id: 'A1', behaviour: String.raw`'a' \| 'b'`, status: 'done', line: 1, cells: 3 });
  });
});

describe('the behaviour script detects', () => {
  const unproven = (id: string): string => `docs/behaviour.md: ${id} is marked done, but no test that runs names it`;

  test('a done behaviour that no test names', () => {
    expect(problemsOf(documentWith({ A1: 'done' }), `test('A10x and A', () => {});`)).toEqual([unproven('A1')]);
  });

  test('a done sub-line of which only the parent is named', () => {
    const markdown = documentWith({ C5: null, 'C5.1': 'done' });
    expect(problemsOf(markdown, `test('C5', () => {});`)).toEqual([unproven('C5.1')]);
  });

  test('a done behaviour of which only a sub-line is named', () => {
    const markdown = documentWith({ C5: 'done', 'C5.1': 'open' });
    expect(problemsOf(markdown, `test('C5.1', () => {});`)).toEqual([unproven('C5')]);
  });

  test.each(['test.skip', 'test.todo', 'test.fails', 'it.skip', 'describe.skip', 'test.skip.each([1])'])(
    'a done behaviour that is named by %s only',
    (call) => {
      expect(problemsOf(documentWith({ A1: 'done' }), `${call}('A1', () => {});`)).toEqual([unproven('A1')]);
    },
  );

  test('a done behaviour that is named only inside a skipped describe', () => {
    const source = `describe.skip('later', () => { test('A1', () => {}); }); test('A2', () => {});`;
    expect(problemsOf(documentWith({ A1: 'done', A2: 'done' }), source)).toEqual([unproven('A1')]);
  });

  test('an id that the document does not have', () => {
    const problem = (id: string): string =>
      `test/made-up.test.ts: "${id} is new" names ${id}, which docs/behaviour.md does not have`;
    for (const id of ['A10', 'C5.9', 'F99', 'G15', 'G1.1']) {
      expect(problemsOf(documentWith(), `test('${id} is new', () => {});`)).toEqual([problem(id)]);
    }
  });

  test('an unknown id in a skipped test', () => {
    expect(problemsOf(documentWith(), `test.skip('A10', () => {});`)).toHaveLength(1);
  });

  test('a behaviour that the document lacks, each of them', () => {
    const all = readBehaviours(documentWith());
    expect(all).toHaveLength(62);
    for (const { id } of all) {
      const problem = `docs/behaviour.md: ${id} is missing`;
      expect(problemsOf(documentWith({ [id]: null }))).toEqual([problem]);
    }
  });

  test('two rows with one id', () => {
    const problems = problemsOf(`${documentWith()}\n| A1 | Again. | open |`);
    expect(problems).toEqual(['docs/behaviour.md:65: A1 has a row already']);
  });

  test('a mark that is neither done nor open', () => {
    const problems = problemsOf(documentWith().replace('Something. | open', 'Something. | Done'));
    expect(problems).toEqual(['docs/behaviour.md:3: A1 is marked "Done", expected done or open']);
  });

  test('an id that is not well formed', () => {
    const problems = problemsOf(`${documentWith()}\n| A3.x | Something. | open |`);
    expect(problems).toEqual(['docs/behaviour.md:65: "A3.x" is not an id such as A3 or A3.1']);
  });

  test('a bar that splits the text', () => {
    const problems = problemsOf(documentWith().replace('Something.', 'Some | thing.'));
    expect(problems).toEqual(['docs/behaviour.md:3: A1 has 4 cells, expected 3 (write \\| for a bar in the text)']);
  });
});

describe('the behaviour script reads titles', () => {
  test('of test, it and describe, also nested', () => {
    const source = `describe("a", () => { it('b', () => { run(); }); test(\`c\`, async () => {}); });`;
    expect(titlesOf(source)).toEqual(['a', 'b', 'c']);
  });

  test('behind modifiers, tables, properties and type arguments', () => {
    const source = `
      test.concurrent('a', () => {});
      test.each([['no', ')']])('b %s', () => {});
      test.each<{ run: (n: number) => void }>([])('c', () => {});
      test.each\`x | y \${'no'} | \${{ z: '}' }}\`('d', () => {});
      test.prop([fc.string(), fc.constant('no')], { seed: 1 })('e', () => {});
      it.skipIf(process.platform === 'win32')('f', () => {});
      describe.for([1, 2])('g', () => {});`;
    expect(titlesOf(source)).toEqual(['a', 'b %s', 'c', 'd', 'e', 'f', 'g']);
  });

  test('made of several pieces or broken over lines', () => {
    const source = `
      test(
        'a ' + 'b',
        { timeout: 5 },
        () => {},
      );
      test(\`c \${name({ of: \`d\` })} e\`, () => {});
      test('it\\'s', () => {});`;
    expect(titlesOf(source)).toEqual(['a b', 'c d e', "it\\'s"]);
  });

  test('and nothing from comments, strings, regular expressions, bodies or methods', () => {
    const source = `
      // test('no', () => {});
      /* it('no') */
      const text = "test('no')" + \`describe('no') \${'x'} test('no')\`;
      const quote = /['"\`/(]/.test('no') || value / 2 > 1 / 3;
      const latest = latestest('no');
      test('yes', () => { expect(pattern.test('no')).toBe('A1'); });`;
    expect(titlesOf(source)).toEqual(['yes']);
  });

  test('from broken source without failing', () => {
    for (const source of ['test(', "test('a", 'test(`a', 'test(`a ${', 'test.each<', 'test.', "test('a' /", '}}`']) {
      expect(() => readTitles(source)).not.toThrow();
    }
  });
});
