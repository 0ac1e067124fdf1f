import ts from 'typescript';

/** A source file: its path from the root of the repository, with forward slashes, and its text. */
export interface SourceText {
  readonly path: string;
  readonly text: string;
}

/** `path:line what is wrong`, so that an editor can jump there. */
export type Finding = string;

const MAX_FILE_LINES = 300;
const MAX_FUNCTION_LINES = 60;
const SAYS_NOTHING = /^(utils?|helpers?|common|misc|types?|managers?)$/i;

/** Globals that read a clock, start something, or reach outside. The core gets time and chance with its commands. */
const IMPURE_GLOBALS = new Set([
  ...['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate'],
  ...['queueMicrotask', 'performance', 'process', 'console', 'Promise', 'globalThis', 'crypto', 'fetch'],
]);

const IMPURE_MEMBERS = new Map([
  ['Date', 'now'],
  ['Math', 'random'],
]);

// The syntax tree is searched, not the text: comments and strings may mention whatever they like.
function parse({ path, text }: SourceText): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
}

function lineOf(file: ts.SourceFile, position: number): number {
  return file.getLineAndCharacterOfPosition(position).line + 1;
}

/** Calls `look` on every node; what it returns becomes a finding at that node's line. */
function search(source: SourceText, look: (node: ts.Node) => string | undefined): Finding[] {
  const file = parse(source);
  const findings: Finding[] = [];
  const visit = (node: ts.Node): void => {
    const wrong = look(node);
    if (wrong !== undefined) findings.push(`${source.path}:${lineOf(file, node.getStart(file))} ${wrong}`);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return findings;
}

/** No clock, randomness, timer, promise, log or Node module. */
export function impurities(source: SourceText): Finding[] {
  return search(source, (node) => {
    if (ts.isIdentifier(node)) return impureName(node);
    if (ts.isPropertyAccessExpression(node)) return impureMember(node.expression, node.name.text);
    if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)) {
      return impureMember(node.expression, node.argumentExpression.text);
    }
    if (ts.isNewExpression(node) && isNamed(node.expression, 'Date') && (node.arguments?.length ?? 0) === 0) {
      return 'uses new Date() without a time';
    }
    if (ts.isCallExpression(node) && isNamed(node.expression, 'Date')) return 'uses Date()';
    if (node.kind === ts.SyntaxKind.AsyncKeyword) return 'uses async';
    if (ts.isAwaitExpression(node)) return 'uses await';
    const specifier = specifierOf(node);
    return specifier?.text.startsWith('node:') === true ? `imports ${specifier.text}` : undefined;
  });
}

function isNamed(node: ts.Node, name: string): boolean {
  return ts.isIdentifier(node) && node.text === name;
}

function impureMember(object: ts.Expression, member: string): string | undefined {
  if (!ts.isIdentifier(object) || IMPURE_MEMBERS.get(object.text) !== member) return undefined;
  return `uses ${object.text}.${member}`;
}

function impureName(node: ts.Identifier): string | undefined {
  if (!IMPURE_GLOBALS.has(node.text) || isMemberName(node)) return undefined;
  return `uses ${node.text}`;
}

/** `task.process` or `{ process: 1 }` name a member, not the global of that name. */
function isMemberName(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent)) return parent.name === node;
  if (ts.isQualifiedName(parent)) return parent.right === node;
  return (
    (ts.isPropertySignature(parent) ||
      ts.isPropertyDeclaration(parent) ||
      ts.isMethodSignature(parent) ||
      ts.isMethodDeclaration(parent)) &&
    parent.name === node
  );
}

/** A file that needs scrolling for long holds more than its name says. */
export function longFiles(source: SourceText): Finding[] {
  const lines = source.text.replace(/\n$/, '').split('\n').length;
  if (lines <= MAX_FILE_LINES) return [];
  return [`${source.path}:${MAX_FILE_LINES + 1} has ${lines} lines, at most ${MAX_FILE_LINES} are allowed`];
}

/** A function that does not fit on a screen is several. */
export function longFunctions(source: SourceText): Finding[] {
  return search(source, (node) => {
    if (!ts.isFunctionLike(node)) return undefined;
    const file = node.getSourceFile();
    const lines = lineOf(file, node.end) - lineOf(file, node.getStart(file)) + 1;
    if (lines <= MAX_FUNCTION_LINES) return undefined;
    return `has a function of ${lines} lines, at most ${MAX_FUNCTION_LINES} are allowed`;
  });
}

/** A name like `utils` says what the author did not decide. `task-utils.ts` is no better. */
export function emptyNames({ path }: SourceText): Finding[] {
  const vague = path.split('/').find((part) => {
    const lastWord = part.replace(/\..*$/, '').split('-').at(-1) ?? '';
    return SAYS_NOTHING.test(lastWord);
  });
  return vague === undefined ? [] : [`${path}:1 is named "${vague}": name it after what it holds`];
}

/** No `any`, and no comment that silences the compiler or the linter. */
export function escapeHatches(source: SourceText): Finding[] {
  const anyTypes = search(source, (node) => (node.kind === ts.SyntaxKind.AnyKeyword ? 'uses any' : undefined));
  const silenced = source.text.split('\n').flatMap((line, index) => {
    const found = /@ts-(?:ignore|nocheck|expect-error)|eslint-disable/.exec(line);
    return found === null ? [] : [`${source.path}:${index + 1} uses ${found[0]}`];
  });
  return [...anyTypes, ...silenced];
}

/** One third-party package, one file that touches it. */
export function sharedPackages(sources: readonly SourceText[]): Finding[] {
  const firstImporter = new Map<string, string>();
  return sources.flatMap((source) =>
    search(source, (node) => {
      const name = packageOf(specifierOf(node)?.text);
      if (name === undefined) return undefined;
      const first = firstImporter.get(name) ?? source.path;
      firstImporter.set(name, first);
      return first === source.path ? undefined : `imports ${name}, which ${first} already wraps`;
    }),
  );
}

/** The module that a node imports: by `import`, `export from`, `import()` or an `import('x')` type. */
function specifierOf(node: ts.Node): ts.StringLiteralLike | undefined {
  const specifier = rawSpecifierOf(node);
  return specifier !== undefined && ts.isStringLiteralLike(specifier) ? specifier : undefined;
}

function rawSpecifierOf(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) return node.arguments[0];
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return node.argument.literal;
  return undefined;
}

function packageOf(specifier: string | undefined): string | undefined {
  if (specifier === undefined || /^[./]|^node:/.test(specifier)) return undefined;
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}
