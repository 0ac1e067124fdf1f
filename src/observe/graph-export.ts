import type { FailurePolicy, GraphSource, GraphTask } from '../model/index.js';

/** What a reader of text could take for something else: controls, lone surrogates, marks of direction. */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Everything but letters, digits and a few marks could mean something to Mermaid, or to the page it is shown on. */
const NOT_PLAIN = /[^\p{L}\p{N} _./-]/gu;

const DOT_STYLES: Readonly<Record<FailurePolicy, string>> = {
  fail: '',
  skip: ' [label="skip", style="dashed"]',
  run: ' [label="run", style="dotted"]',
};

const MERMAID_ARROWS: Readonly<Record<FailurePolicy, string>> = {
  fail: '-->',
  skip: '-. skip .->',
  run: '-. run .->',
};

/**
 * The dependency graph in the language of Graphviz, an arrow from each dependency to its dependant.
 *
 * @example
 * ```ts
 * writeFileSync('tasks.dot', toDot(scheduler)); // dot -Tsvg tasks.dot > tasks.svg
 * ```
 */
export function toDot(source: GraphSource): string {
  const { tasks, edges } = source.graph();
  const lines = ['digraph precedence {', '  node [shape="box"];'];
  for (const task of tasks) lines.push(`  ${task.key} [label="${linesOf(task).map(dotText).join('\\n')}"];`);
  for (const { from, to, onFailure } of edges) lines.push(`  ${from} -> ${to}${DOT_STYLES[onFailure]};`);
  lines.push('}');
  return `${lines.join('\n')}\n`;
}

/** The dependency graph as a Mermaid flowchart, which Markdown viewers draw. */
export function toMermaid(source: GraphSource): string {
  const { tasks, edges } = source.graph();
  const lines = ['flowchart TD'];
  for (const task of tasks) lines.push(`  ${task.key}["${linesOf(task).map(mermaidText).join('<br/>')}"]`);
  for (const { from, to, onFailure } of edges) lines.push(`  ${from} ${MERMAID_ARROWS[onFailure]} ${to}`);
  return `${lines.join('\n')}\n`;
}

function linesOf({ id, state, level, channel }: GraphTask): readonly string[] {
  return [id, `${state}, level ${level}`, `channel ${channel}`];
}

function visible(text: string): string {
  return text.replace(UNSEEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Inside double quotes Graphviz reads backslashes and HTML entities. */
function dotText(text: string): string {
  return visible(text).replace(/["\\]/g, '\\$&').replaceAll('&', '&amp;');
}

/** Mermaid writes a character as `#`, its number, and a semicolon. */
function mermaidText(text: string): string {
  return visible(text).replace(NOT_PLAIN, (character) => `#${character.codePointAt(0) as number};`);
}
