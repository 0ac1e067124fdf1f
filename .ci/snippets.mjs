// Type-checks every `ts` block of the README and the guides against the sources, so that no page shows what does not
// compile. Names that a block does not declare stand for the reader's own code and are let pass; `scheduler` is the
// one exception: it is a Scheduler unless the block makes one.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const UNKNOWN_NAME = new Set([2304, 2552, 2503, 2582, 2593, 18004]);
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** The blocks of a page, each with the line it begins at. */
function blocksOf(page) {
  const blocks = [];
  let block;
  readFileSync(join(root, page), 'utf8')
    .split('\n')
    .forEach((line, i) => {
      if (block === undefined && line === '```ts') block = { page, line: i + 1, lines: [] };
      else if (line === '```' && block !== undefined) {
        blocks.push(block);
        block = undefined;
      } else block?.lines.push(line);
    });
  return blocks;
}

const PREAMBLE = "import type { Scheduler as AnyScheduler } from 'precedence'; declare const scheduler: AnyScheduler;";

function moduleOf({ lines }) {
  const own = /\b(?:const|let|using) scheduler\b/.test(lines.join('\n'));
  // One line before the first, whichever it is, so that the lines of an error can be counted back.
  return [own ? 'export {};' : PREAMBLE, ...lines].join('\n');
}

const files = new Map(pages.flatMap(blocksOf).map((block, i) => [join(root, 'docs', `block-${String(i)}.mts`), block]));
const entries = Object.entries(manifest.exports).filter(([, target]) => typeof target === 'object');
const options = {
  target: ts.ScriptTarget.ES2023,
  lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts', 'lib.esnext.array.d.ts'],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  types: ['node'],
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  paths: Object.fromEntries(
    entries.map(([path, { default: file }]) => {
      const source = file.replace('./dist/', join(root, 'src/')).replace(/\.js$/, '.ts');
      return [manifest.name + path.slice(1), [source]];
    }),
  ),
};

/** Whether it is about a name, or a file beside the block, that stands for the reader's own code. */
function isReaders({ code, messageText }) {
  return UNKNOWN_NAME.has(code) || (code === 2307 && /module '\.{1,2}\//.test(String(messageText)));
}

const host = ts.createCompilerHost(options);
const { readFile, fileExists, getSourceFile } = host;
host.fileExists = (name) => files.has(name) || fileExists(name);
host.readFile = (name) => (files.has(name) ? moduleOf(files.get(name)) : readFile(name));
host.getSourceFile = (name, target) =>
  files.has(name) ? ts.createSourceFile(name, moduleOf(files.get(name)), target) : getSourceFile(name, target);

const program = ts.createProgram([...files.keys()], options, host);
let faults = 0;
for (const [name, { page, line }] of files) {
  const source = program.getSourceFile(name);
  const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
  for (const { code, start = 0, messageText } of found.filter((fault) => !isReaders(fault))) {
    const at = line + source.getLineAndCharacterOfPosition(start).line;
    console.log(`${page}:${String(at)} TS${String(code)} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`);
    faults += 1;
  }
}
console.log(`${String(files.size)} blocks of ${String(pages.length)} pages, ${String(faults)} fault(s)`);
if (faults > 0 || files.size === 0) process.exitCode = 1;
