import ts from 'typescript';
import { SWITCH } from './switch-name.js';

/** A source file: its path from the root of the repository, and its text. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

/** A small mistake that somebody might have made there. */
export interface Mutant {
  readonly path: string;
  readonly line: number;
  /** Where what is changed stands in the text. */
  readonly start: number;
  readonly end: number;
  /** What stands in its place; of a statement that is taken out, nothing. */
  readonly to: string;
}

/** All mistakes of these kinds that can be made in a file: each of them changes one place. */
export function mutantsIn({ path, text }: Source): Mutant[] {
  const file = parsed({ path, text });
  const mutants: Mutant[] = [];
  eachValue(file, (node) => {
    const start = node.getStart(file);
    const line = file.getLineAndCharacterOfPosition(start).line + 1;
    for (const to of changesOf(node, file)) mutants.push({ path, line, start, end: node.getEnd(), to });
  });
  return mutants;
}

/** What a mutant has changed, in one line. */
export function shown({ start, end, to }: Mutant, { text }: Source): string {
  const from = text.slice(start, end);
  return to === '' ? `without ${inLine(from)}` : `${inLine(from)} -> ${inLine(to)}`;
}

function inLine(code: string): string {
  const line = code.replaceAll(/\s+/g, ' ');
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}

/**
 * The code with all of these mutants in it, of which none counts unless it is switched on: so that it is compiled once.
 */
export function switched(source: Source, mutants: ReadonlyMap<number, Mutant>): string {
  const file = parsed(source);
  const bySpan = new Map<string, [number: number, to: string][]>();
  for (const [number, { start, end, to }] of mutants) {
    const span = `${start} ${end}`;
    bySpan.set(span, [...(bySpan.get(span) ?? []), [number, to]]);
  }
  return switchedNode(file, file, bySpan);
}

/** Innermost first, as what is around them holds them: a mutant replaces what it is of, and all switches in that. */
function switchedNode(
  node: ts.Node,
  file: ts.SourceFile,
  bySpan: ReadonlyMap<string, readonly (readonly [number, string])[]>,
): string {
  let text = '';
  let at = node.getStart(file);
  node.forEachChild((child) => {
    text += file.text.slice(at, child.getStart(file)) + switchedNode(child, file, bySpan);
    at = child.getEnd();
  });
  text += file.text.slice(at, node.getEnd());
  const here = isMutable(node) ? (bySpan.get(`${node.getStart(file)} ${node.getEnd()}`) ?? []) : [];
  for (const [number, to] of here) {
    // In braces, or an `else` that follows would belong to the switch.
    text = ts.isStatement(node)
      ? `{ if (!${SWITCH}(${number})) ${text} }`
      : `(${SWITCH}(${number}) ? (${to}) : (${text}))`;
  }
  return text;
}

function parsed({ path, text }: Source): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
}

/** Calls it with every node that is code: not with types, nor with what only names something. */
function eachValue(file: ts.SourceFile, take: (node: ts.Node) => void): void {
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || isOnlyTypes(node)) return;
    if (isMutable(node)) take(node);
    ts.forEachChild(node, visit);
  };
  visit(file);
}

function isOnlyTypes(node: ts.Node): boolean {
  return (
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    // What a broken promise says of itself is no behaviour.
    isCallOf(node, 'invariant') ||
    isCallOf(node, 'broken')
  );
}

function isCallOf(node: ts.Node, name: string): boolean {
  return ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === name;
}

/** Whether something else can stand in the place of a node. */
function isMutable(node: ts.Node): boolean {
  const { parent } = node;
  // The root has none.
  if ((parent as ts.Node | undefined) === undefined) return false;
  if (ts.isStatement(node)) return ts.isBlock(parent) || ts.isIfStatement(parent) || ts.isCaseOrDefaultClause(parent);
  if (ts.isParenthesizedExpression(node)) return false;
  // `{ 'name': ... }`, `x['name']` of a record, `enum`: these name something.
  const isName = ts.isPropertyName(node) && 'name' in parent && parent.name === node;
  return !isName && !ts.isLiteralTypeNode(parent);
}

const COMPARISONS: ReadonlyMap<ts.SyntaxKind, readonly string[]> = new Map([
  [ts.SyntaxKind.LessThanToken, ['<=', '>=']],
  [ts.SyntaxKind.LessThanEqualsToken, ['<', '>']],
  [ts.SyntaxKind.GreaterThanToken, ['>=', '<=']],
  [ts.SyntaxKind.GreaterThanEqualsToken, ['>', '<']],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, ['!==']],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, ['===']],
  [ts.SyntaxKind.AmpersandAmpersandToken, ['||']],
  [ts.SyntaxKind.BarBarToken, ['&&']],
]);
const ARITHMETIC: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [ts.SyntaxKind.PlusToken, '-'],
  [ts.SyntaxKind.MinusToken, '+'],
  [ts.SyntaxKind.AsteriskToken, '/'],
  [ts.SyntaxKind.SlashToken, '*'],
  [ts.SyntaxKind.PercentToken, '*'],
  [ts.SyntaxKind.PlusEqualsToken, '-='],
  [ts.SyntaxKind.MinusEqualsToken, '+='],
]);

function changesOf(node: ts.Node, file: ts.SourceFile): readonly string[] {
  if (ts.isStatement(node)) return isRemovable(node) ? [''] : [];
  if (ts.isBinaryExpression(node)) return binaryChanges(node, file);
  if (ts.isPrefixUnaryExpression(node)) return unaryChanges(node, file);
  if (ts.isNumericLiteral(node)) return [`${node.text} + 1`];
  if (node.kind === ts.SyntaxKind.TrueKeyword) return ['false'];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return ['true'];
  // With a blank in it, it is a sentence for people.
  if (ts.isStringLiteral(node)) return node.text === '' || node.text.includes(' ') ? [] : ["''"];
  return isCondition(node) ? [`!(${node.getText(file)})`] : [];
}

/** A condition that is no comparison, which is changed in its own way. */
function isCondition(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isIfStatement(parent)) return parent.expression === node;
  return ts.isConditionalExpression(parent) && parent.condition === node;
}

function binaryChanges({ left, operatorToken, right }: ts.BinaryExpression, file: ts.SourceFile): readonly string[] {
  const isText = [left, right].some((side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side));
  const arithmetic = ARITHMETIC.get(operatorToken.kind);
  const operators = COMPARISONS.get(operatorToken.kind) ?? (arithmetic === undefined || isText ? [] : [arithmetic]);
  return operators.map((operator) => `${left.getText(file)} ${operator} ${right.getText(file)}`);
}

function unaryChanges({ operator, operand }: ts.PrefixUnaryExpression, file: ts.SourceFile): readonly string[] {
  const isSign = operator === ts.SyntaxKind.ExclamationToken || operator === ts.SyntaxKind.MinusToken;
  return isSign ? [operand.getText(file)] : [];
}

/** What does something, and without which the code still means something. */
function isRemovable(node: ts.Statement): boolean {
  if (ts.isReturnStatement(node)) return node.expression === undefined;
  if (ts.isContinueStatement(node)) return true;
  if (!ts.isExpressionStatement(node)) return false;
  const { expression } = node;
  return !(ts.isCallExpression(expression) && expression.expression.kind === ts.SyntaxKind.SuperKeyword);
}
