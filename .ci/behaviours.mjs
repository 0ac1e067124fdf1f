// Holds docs/behaviour.md and the tests to each other: what the document marks `done` must be named in the title of a
// test that runs, and what a test names must be in the document.
//
//   node .ci/behaviours.mjs          one line per problem, then a summary; exit 1 if there is a problem
//   node .ci/behaviours.mjs --open   the behaviours that are still open as well
//
// Only titles count. An id in a comment, in a test's body or in the table of a test.each names nothing, because such
// places are full of task and channel names that look like ids. Neither does a skipped, todo or failing test.
// Promises (G1 to G14) may be named freely, and so may rows of the fault table ("row 24"), which look like no id.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const LAST_OF_SECTION = { A: 9, B: 10, C: 14, D: 12, E: 8, F: 9 };
const LAST_PROMISE = 14;
const ID = /\b[A-G][1-9]\d*(?:\.[1-9]\d*)?\b/g;
const ROW_ID = /^[A-F][1-9]\d*(?:\.[1-9]\d*)?$/;
const NOT_SHOWN = new Set(['skip', 'todo', 'fails']);

/** The rows of every table in the document whose first cell looks like an id, in order. */
export function readBehaviours(markdown) {
  const rows = [];
  for (const [index, line] of markdown.split('\n').entries()) {
    if (!/^\|\s*[A-F]\d/.test(line)) continue;
    // An escaped pipe is part of its cell.
    const cells = line.split(/(?<!\\)\|/).slice(1, -1);
    const [id = '', behaviour = '', status = ''] = cells.map((cell) => cell.trim());
    rows.push({ id, behaviour, status, line: index + 1, cells: cells.length });
  }
  return rows;
}

/** The titles of all test, it and describe calls in a source text, each with whether it is shown by running. */
export function readTitles(source) {
  const tokens = tokenize(source);
  const titles = [];
  let notShownBefore = 0;
  for (let at = 0; at < tokens.length; at++) {
    const { kind, text } = tokens[at];
    // `pattern.test('A1')` is a method, not a test.
    if (kind !== 'word' || !/^(?:test|it|describe)$/.test(text) || tokens[at - 1]?.text === '.') continue;
    const call = readCall(tokens, at + 1);
    if (call === undefined) continue;
    if (call.modifiers.some((name) => NOT_SHOWN.has(name))) notShownBefore = Math.max(notShownBefore, call.end);
    titles.push({ title: call.title, shown: at >= notShownBefore });
  }
  return titles;
}

/** Every disagreement as one line of text. `tests` are objects with `file`, `title` and `shown`. */
export function findProblems(rows, tests) {
  const problems = [];
  const statusById = new Map();
  for (const { id, status, line, cells } of rows) {
    const where = `docs/behaviour.md:${line}`;
    if (!ROW_ID.test(id)) problems.push(`${where}: "${id}" is not an id such as A3 or A3.1`);
    if (cells !== 3) problems.push(`${where}: ${id} has ${cells} cells, expected 3 (write \\| for a bar in the text)`);
    else if (status !== 'done' && status !== 'open') {
      problems.push(`${where}: ${id} is marked "${status}", expected done or open`);
    }
    if (statusById.has(id)) problems.push(`${where}: ${id} has a row already`);
    statusById.set(id, status);
  }

  // A behaviour may stand as a row of its own, as sub-lines only, or as both.
  const known = new Set([...statusById.keys()].flatMap((id) => [id, parentOf(id)]));
  for (const [section, last] of Object.entries(LAST_OF_SECTION)) {
    for (let number = 1; number <= last; number++) {
      if (!known.has(`${section}${number}`)) problems.push(`docs/behaviour.md: ${section}${number} is missing`);
    }
  }

  const shown = new Set();
  for (const test of tests) {
    for (const [id] of test.title.matchAll(ID)) {
      if (test.shown) shown.add(id);
      if (!known.has(id) && !isPromise(id)) {
        problems.push(`${test.file}: "${test.title}" names ${id}, which docs/behaviour.md does not have`);
      }
    }
  }
  for (const [id, status] of statusById) {
    // Naming the parent shows a sub-line only where the document vouches for the whole; otherwise one test that says
    // "A3" would cover whatever is added below A3 later.
    const shownAsWhole = statusById.get(parentOf(id)) === 'done' && shown.has(parentOf(id));
    if (status === 'done' && !shown.has(id) && !shownAsWhole) {
      problems.push(`docs/behaviour.md: ${id} is marked done, but no test that runs names it`);
    }
  }
  return problems;
}

function parentOf(id) {
  return id.split('.')[0];
}

function isPromise(id) {
  return /^G\d+$/.test(id) && Number(id.slice(1)) <= LAST_PROMISE;
}

/**
 * Reads what follows `test`: modifiers, type arguments, then one or more groups, the last of which holds the title, as
 * in `test.each<Row>([...])('title', ...)`. Undefined if it is no call.
 */
function readCall(tokens, start) {
  const modifiers = [];
  let title;
  let at = start;
  for (;;) {
    const token = tokens[at];
    if (token?.text === '.' && tokens[at + 1]?.kind === 'word') {
      modifiers.push(tokens[at + 1].text);
      at += 2;
    } else if (token?.text === '<' && token.kind === 'mark') {
      at = skipTypeArguments(tokens, at);
    } else if (token?.kind === 'template') {
      at = endOfGroup(tokens, at);
    } else if (token?.text === '(' && token.kind === 'mark') {
      title = textOfFirstArgument(tokens, at);
      at = endOfGroup(tokens, at);
    } else {
      return title === undefined ? undefined : { modifiers, title, end: at };
    }
  }
}

function isOpening(token) {
  return token.kind === 'template' || (token.kind === 'mark' && '([{'.includes(token.text));
}

function isClosing(token) {
  return token.kind === 'mark' && ')]}'.includes(token.text);
}

/** The index after the bracket that closes the one at `open`, or the number of tokens. */
function endOfGroup(tokens, open) {
  let depth = 0;
  for (let at = open; at < tokens.length; at++) {
    if (isOpening(tokens[at])) depth++;
    if (isClosing(tokens[at]) && --depth === 0) return at + 1;
  }
  return tokens.length;
}

function skipTypeArguments(tokens, open) {
  let depth = 0;
  for (let at = open; at < tokens.length; at++) {
    if (tokens[at].text === '<') depth++;
    // The arrow of a function type closes nothing.
    if (tokens[at].text === '>' && tokens[at - 1].text !== '=' && --depth === 0) return at + 1;
  }
  return tokens.length;
}

/** All literal text of the first argument: a title may be a concatenation or a template. */
function textOfFirstArgument(tokens, open) {
  const parts = [];
  let depth = 0;
  for (let at = open; at < tokens.length; at++) {
    const token = tokens[at];
    if (isOpening(token)) depth++;
    if (isClosing(token) && --depth === 0) break;
    if (depth === 1 && token.kind === 'mark' && token.text === ',') break;
    if (token.kind === 'text') parts.push(token.text);
  }
  return parts.join('');
}

const PLAIN =
  /(?<blank>\s+|\/\/[^\n]*|\/\*[^]*?\*\/)|(?<text>'(?:\\[^]|[^'\\\n])*'|"(?:\\[^]|[^"\\\n])*")|(?<word>[\w$]+)|(?<mark>[^])/y;
const REGULAR_EXPRESSION = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/\w*/y;
const TEMPLATE_TEXT = /(?:\\[^]|\$(?!\{)|[^`\\$])*/y;
const BEFORE_EXPRESSION = /^(?:return|typeof|case|in|of|do|else|void|delete|await|yield|throw|new)$/;

/**
 * Splits source text into words, marks and the text of string literals, without blanks and comments. A template is a
 * bracket of its own, opened by a `template` token, so that whoever counts brackets need not know about templates.
 */
function tokenize(source) {
  const tokens = [];
  // For each open brace, whether it is the `${` of a template, to which its end returns.
  const braces = [];
  let at = 0;
  const match = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };
  const readTemplateText = () => {
    tokens.push({ kind: 'text', text: match(TEMPLATE_TEXT)[0] });
    const ends = source[at] === '`' || at >= source.length;
    tokens.push(ends ? { kind: 'mark', text: ')' } : { kind: 'mark', text: '{' });
    if (!ends) braces.push('template');
    at += ends ? 1 : 2;
  };
  while (at < source.length) {
    const last = tokens.at(-1);
    const expectsValue =
      last === undefined || (last.kind === 'mark' ? !')]}'.includes(last.text) : BEFORE_EXPRESSION.test(last.text));
    if (source[at] === '/' && !'/*'.includes(source[at + 1]) && expectsValue && match(REGULAR_EXPRESSION)) {
      tokens.push({ kind: 'word', text: '/regular expression/' });
      continue;
    }
    const { blank, text, word, mark } = match(PLAIN).groups;
    if (blank !== undefined) continue;
    if (text !== undefined) tokens.push({ kind: 'text', text: text.slice(1, -1) });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word });
    else if (mark === '`') {
      tokens.push({ kind: 'template', text: '`' });
      readTemplateText();
    } else {
      tokens.push({ kind: 'mark', text: mark });
      if (mark === '{') braces.push('block');
      if (mark === '}' && braces.pop() === 'template') readTemplateText();
    }
  }
  return tokens;
}

/** Every title in the tests below `root`, with its file. */
export function readTests(root) {
  return readdirSync(join(root, 'test'), { recursive: true })
    .filter((name) => /\.test(?:-d)?\.ts$/.test(name))
    .sort()
    .flatMap((name) => {
      const file = join('test', name);
      return readTitles(readFileSync(join(root, file), 'utf8')).map((title) => ({ file, ...title }));
    });
}

function main() {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const rows = readBehaviours(readFileSync(join(root, 'docs/behaviour.md'), 'utf8'));
  const problems = findProblems(rows, readTests(root));
  const open = rows.filter(({ status }) => status !== 'done');
  if (process.argv.includes('--open')) for (const { id, behaviour } of open) console.log(`open ${id}: ${behaviour}`);
  for (const problem of problems) console.error(problem);
  console.log(`behaviours: ${rows.length - open.length} done, ${open.length} open`);
  if (problems.length > 0) process.exitCode = 1;
}

// Imported by its test, the file only lends its functions.
if (basename(process.argv[1] ?? '') === 'behaviours.mjs') main();
