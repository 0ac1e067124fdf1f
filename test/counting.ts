import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { compileFunction } from 'node:vm';
import ts from 'typescript';
import type * as index from '../src/index.js';
import type * as testing from '../src/testing/index.js';

/**
 * Counts what the real code does, so that a claim about growth needs no clock.
 *
 * The sources are loaded a second time, each with a counter at the start of every function and of every turn of every
 * loop; where a built-in walks a collection (a spread, `indexOf`, a copy), the collection's size is added. Nothing is
 * named, so the counts hold whatever the parts are called and however they are cut. Wrapping the methods of classes
 * was rejected: it sees neither free functions nor a loop that calls nothing.
 */
export interface Counted {
  /** How many operations the work takes. */
  readonly operations: (work: () => void) => number;
  /** The simulation, over a core that counts; it counts nothing itself. */
  readonly sim: typeof testing.sim;
  readonly Scheduler: typeof index.Scheduler;
}

const root = join(import.meta.dirname, '..');
const nodeRequire = createRequire(import.meta.url);
/** What decides; the simulation around it does work of its own that is nobody's cost. */
const COUNTED = /^src\/(model|ready|core|runtime)\/|\/heap-js\//;

/** Built-ins whose cost is the size of what they are called on. */
const WALKS_RECEIVER = new Set([
  ...['indexOf', 'lastIndexOf', 'includes', 'find', 'findIndex', 'findLast', 'findLastIndex', 'some', 'every'],
  ...['filter', 'map', 'flatMap', 'flat', 'forEach', 'reduce', 'reduceRight', 'join', 'concat', 'sort', 'toSorted'],
  ...['reverse', 'toReversed', 'shift', 'unshift', 'splice', 'toSpliced', 'with', 'fill', 'copyWithin', 'clear'],
]);
/** Built-ins whose cost is the size of what they return. */
const WALKS_RESULT = new Set([
  'slice',
  'from',
  'of',
  'keys',
  'values',
  'entries',
  'fromEntries',
  'getOwnPropertyNames',
]);
/** Built-ins whose cost is the size of their first argument. */
const WALKS_ARGUMENT = new Set(['set', 'assign', 'freeze', 'stringify', 'structuredClone']);
const COLLECTIONS = /^(Array|Map|Set|(Big)?(Ui|I)nt\d+(Clamped)?Array|Float\d+Array)$/;

/** The elements of an array, a typed array, a map or a set; a length that is asked for; nothing else has a size. */
function sizeOf(value: unknown): number {
  if (typeof value === 'number') return value;
  if (Array.isArray(value)) return value.length;
  if (ArrayBuffer.isView(value)) return (value as Uint8Array).length;
  return value instanceof Map || value instanceof Set ? value.size : 0;
}

function isIterator(value: unknown): value is IterableIterator<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value && 'next' in value;
}

/** Runs scripts that were given counters, and holds what they have counted. */
class Counter {
  private count = 0;

  operations(work: () => void): number {
    const before = this.count;
    work();
    return this.count - before;
  }

  run(script: string, name: string, module: { exports: object }, require: (name: string) => unknown): void {
    const walk = (value: unknown): unknown => {
      this.count += sizeOf(value);
      return value;
    };
    const given = {
      module,
      exports: module.exports,
      require,
      __step: () => {
        this.count += 1;
      },
      __walkElements: (value: unknown) => (typeof value === 'number' ? value : walk(value)),
      // An iterator tells its size only by being walked to its end, which comes anyway.
      __walkAll: (value: unknown) => walk(isIterator(value) ? [...value] : value),
    };
    // A name that is no path: whoever measures coverage must not take this for the source itself.
    const run = compileFunction(script, Object.keys(given), { filename: `counted:${name}` }) as (
      ...values: unknown[]
    ) => void;
    run(...Object.values(given));
  }
}

/** Loads the sources with counters in them; each call makes a world of its own. */
export function counted(): Counted {
  const counter = new Counter();
  const modules = new Map<string, { exports: object }>();
  const load = (path: string): object => {
    const known = modules.get(path);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    modules.set(path, module);
    const counts = COUNTED.test(path.slice(root.length + 1).replaceAll('\\', '/'));
    const script = scriptOf(readFileSync(path, 'utf8'), counts ? [insertCounters] : []);
    counter.run(script, path, module, (name) => {
      if (name === 'heap-js') return load(nodeRequire.resolve(name));
      return name.startsWith('.') ? load(sourceOf(join(dirname(path), name))) : nodeRequire(name);
    });
    return module.exports;
  };
  return {
    operations: (work) => counter.operations(work),
    sim: (load(join(root, 'src/testing/index.ts')) as typeof testing).sim,
    Scheduler: (load(join(root, 'src/index.ts')) as typeof index).Scheduler,
  };
}

/** How many operations a few lines of source take. */
export function operationsOf(source: string): number {
  const counter = new Counter();
  return counter.operations(() => {
    counter.run(scriptOf(source, [insertCounters]), 'source', { exports: {} }, nodeRequire);
  });
}

/** How a cost may grow with the size of what it is paid over. */
export type Law = 'constant' | 'logarithmic';

/**
 * The sizes at which the cost is above what the law allows, told from the cost at the smallest size. A tenth is left
 * for what comes in steps: growing an array, building an order anew.
 */
export function beyond(law: Law, sizes: readonly number[], costOf: (size: number) => number): string[] {
  const [smallest = 1, ...larger] = sizes;
  const least = costOf(smallest);
  return larger.flatMap((size) => {
    const cost = costOf(size);
    const allowed = 1.1 * least * (law === 'constant' ? 1 : Math.log(size) / Math.log(smallest)) + 1;
    const told = `${cost.toFixed(1)} operations at ${String(size)}, ${least.toFixed(1)} at ${String(smallest)}`;
    return cost <= allowed ? [] : [`${told}: more than ${law}`];
  });
}

function sourceOf(path: string): string {
  const source = path.replace(/\.js$/, '.ts');
  return existsSync(source) ? source : path;
}

/** The source as a script that runs by itself. */
function scriptOf(source: string, after: ts.TransformerFactory<ts.SourceFile>[]): string {
  const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.CommonJS };
  const script = ts.transpileModule(source, { compilerOptions, transformers: { after } }).outputText;
  // A script has no address of its own; where one is asked for, any will do, as nothing is counted there.
  return script.replaceAll('import.meta.url', "'file:///counted.js'");
}

/** Comes after the types are gone: what it sees is what runs. */
function insertCounters(context: ts.TransformationContext): ts.Transformer<ts.SourceFile> {
  const replace = (node: ts.Node, part: ts.Node | undefined, by: ts.Node): ts.Node =>
    ts.visitEachChild(node, (child) => (child === part ? by : child), context);
  const visit = (node: ts.Node): ts.Node => {
    const inner = ts.visitEachChild(node, visit, context);
    if (ts.isFunctionLike(inner) && 'body' in inner) {
      const { body } = inner;
      if (body === undefined) return inner;
      return replace(inner, body, ts.isBlock(body) ? begun(body.statements) : begunWith(body));
    }
    if (ts.isIterationStatement(inner, false)) return replace(inner, inner.statement, begun([inner.statement]));
    if (ts.isSpreadElement(inner)) return replace(inner, inner.expression, call('__walkAll', inner.expression));
    if (ts.isNewExpression(inner)) return countFilling(inner);
    if (ts.isCallExpression(inner)) return countWalks(inner);
    return inner;
  };
  return (file) => ts.visitEachChild(file, visit, context);
}

function call(name: string, argument: ts.Expression): ts.Expression {
  return ts.factory.createCallExpression(ts.factory.createIdentifier(name), undefined, [argument]);
}

function step(): ts.Expression {
  return ts.factory.createCallExpression(ts.factory.createIdentifier('__step'), undefined, []);
}

/** A body of statements that counts one operation first. */
function begun(statements: readonly ts.Statement[]): ts.Block {
  return ts.factory.createBlock([ts.factory.createExpressionStatement(step()), ...statements], true);
}

/** The same for an arrow function that is one expression. */
function begunWith(body: ts.Expression): ts.Expression {
  return ts.factory.createParenthesizedExpression(ts.factory.createComma(step(), body));
}

/** `new Map(entries)` walks the entries, `new Int32Array(size)` clears so many numbers. */
function countFilling(node: ts.NewExpression): ts.Node {
  const [first, ...rest] = node.arguments ?? [];
  if (first === undefined || ts.isSpreadElement(first)) return node;
  if (!ts.isIdentifier(node.expression) || !COLLECTIONS.test(node.expression.text)) return node;
  return ts.factory.updateNewExpression(node, node.expression, undefined, [call('__walkAll', first), ...rest]);
}

function countWalks(node: ts.CallExpression): ts.Node {
  const { factory } = ts;
  const { expression: callee } = node;
  if (!ts.isPropertyAccessExpression(callee) || callee.expression.kind === ts.SyntaxKind.SuperKeyword) return node;
  const name = callee.name.text;
  if (WALKS_RESULT.has(name)) return call('__walkElements', node);
  const [first, ...rest] = node.arguments;
  if (WALKS_ARGUMENT.has(name) && first !== undefined && !ts.isSpreadElement(first)) {
    return factory.createCallExpression(callee, undefined, [call('__walkElements', first), ...rest]);
  }
  if (!WALKS_RECEIVER.has(name)) return node;
  const receiver = call('__walkElements', callee.expression);
  // What is called on nothing inside `a?.b.c()` must stay uncalled.
  return ts.isOptionalChain(node)
    ? factory.createCallChain(
        factory.createPropertyAccessChain(receiver, factory.createToken(ts.SyntaxKind.QuestionDotToken), name),
        undefined,
        undefined,
        node.arguments,
      )
    : factory.createCallExpression(factory.createPropertyAccessExpression(receiver, name), undefined, node.arguments);
}
