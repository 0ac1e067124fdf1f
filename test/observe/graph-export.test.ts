import { describe, expect, test } from 'vitest';
import { toGraph } from '../../src/graph.js';
import { parseTaskOptions, type GraphSource, type GraphTask } from '../../src/model/index.js';
import { toDot, toMermaid } from '../../src/observe/graph-export.js';
import { Scheduler } from '../../src/index.js';
import { sim, type Sim } from '../../src/testing/index.js';

const NASTY = [
  '__proto__',
  'constructor',
  '10',
  '9',
  'a"b',
  'a\\',
  'x\\N&amp;',
  '<b>`c`</b>',
  'style:#a;',
  'end',
  'é漢😀',
  '];-->',
];

function diamond(): Sim {
  const s = sim({ slots: 1 });
  s.add('a');
  s.add('b', { after: ['a'], priority: 'high' });
  s.add('c', { after: [{ task: 'a', onFailure: 'skip' }], channel: 'mail' });
  s.add('d', { after: ['b', { task: 'c', onFailure: 'run' }] });
  return s;
}

/** A graph with ids that no option would let through, as facts from elsewhere might bring. */
function withIds(ids: readonly string[]): GraphSource {
  const tasks = ids.map((id, i): GraphTask => ({ key: `n${i}`, id, state: 'ready', level: 2, channel: 'default' }));
  return { graph: () => ({ tasks, edges: [] }) };
}

/** Reads a DOT string the way Graphviz does: escapes of quote and backslash, `\n`, and HTML entities. */
function readDot(dot: string): string[] {
  return [...dot.matchAll(/^ {2}n\d+ \[label="((?:[^"\\]|\\.)*)"\];$/gm)].map(
    ([, label]) =>
      (label as string)
        .replace(/\\(.)/g, (_all, character: string) => (character === 'n' ? '\n' : character))
        .replaceAll('&amp;', '&')
        .split('\n')[0] as string,
  );
}

/** Reads Mermaid's entity codes; what is left must be plain. */
function readMermaid(text: string): string[] {
  return [...text.matchAll(/^ {2}n\d+\["([^"\n]*)"\]$/gm)].map(([, label]) => {
    const [first] = (label as string).split('<br/>');
    expect(first).toMatch(/^(?:[\p{L}\p{N} _./-]|#\d+;)*$/u);
    return (first as string).replace(/#(\d+);/g, (_all, code: string) => String.fromCodePoint(Number(code)));
  });
}

describe('C13.2 the graph as text', () => {
  test('C13.2 DOT: a box for each task, an arrow from dependency to dependant, by policy', () => {
    expect(toDot(diamond().core)).toBe(`digraph precedence {
  node [shape="box"];
  n1 [label="a\\nrunning, level 1\\nchannel default"];
  n2 [label="b\\nwaiting, level 1\\nchannel default"];
  n3 [label="c\\nwaiting, level 2\\nchannel mail"];
  n4 [label="d\\nwaiting, level 2\\nchannel default"];
  n1 -> n2;
  n1 -> n3 [label="skip", style="dashed"];
  n2 -> n4;
  n3 -> n4 [label="run", style="dotted"];
}
`);
  });

  test('C13.2 Mermaid: the same as a flowchart', () => {
    expect(toMermaid(diamond().core)).toBe(`flowchart TD
  n1["a<br/>running#44; level 1<br/>channel default"]
  n2["b<br/>waiting#44; level 1<br/>channel default"]
  n3["c<br/>waiting#44; level 2<br/>channel mail"]
  n4["d<br/>waiting#44; level 2<br/>channel default"]
  n1 --> n2
  n1 -. skip .-> n3
  n2 --> n4
  n3 -. run .-> n4
`);
  });

  test('C13.2 row 27 any name a task can have is read back unharmed', () => {
    const s = sim();
    for (const id of NASTY) s.add(id);
    expect(readDot(toDot(s.core))).toEqual(NASTY);
    expect(readMermaid(toMermaid(s.core))).toEqual(NASTY);
  });

  test('C13.2 row 44 line breaks, controls, lone surrogates and marks of direction are shown, not sent', () => {
    const source = withIds(['a\nb', '\u001b[2J', '\ud800', '\u202ex', '\u2028', '\0']);
    const shown = ['a\\u000ab', '\\u001b[2J', '\\ud800', '\\u202ex', '\\u2028', '\\u0000'];
    expect(readDot(toDot(source))).toEqual(shown);
    expect(readMermaid(toMermaid(source))).toEqual(shown);
  });
});

describe('the graph for graphlib', () => {
  test('C13 nodes have our own keys and the task as label; edges carry the policy', () => {
    const graph = toGraph(diamond().core);
    expect(graph.nodes()).toEqual(['n1', 'n2', 'n3', 'n4']);
    expect(graph.node('n3')).toEqual({ key: 'n3', id: 'c', state: 'waiting', level: 2, channel: 'mail' });
    expect(graph.edges().map(({ v, w }) => [v, w, graph.edge(v, w)])).toEqual([
      ['n1', 'n2', 'fail'],
      ['n1', 'n3', 'skip'],
      ['n2', 'n4', 'fail'],
      ['n3', 'n4', 'run'],
    ]);
    expect(graph.sources()).toEqual(['n1']);
  });

  test('row 27 ids like __proto__ pollute nothing, and integer-like ones keep the order of submission', () => {
    const s = sim();
    for (const id of NASTY) s.add(id);
    s.add('after', { after: ['__proto__', '9'] });
    const graph = toGraph(s.core);
    expect(graph.nodes().map((key) => graph.node(key).id)).toEqual([...NASTY, 'after']);
    expect(graph.predecessors('n13')).toEqual(['n1', 'n4']);
    expect(Object.keys({})).toEqual([]);
    expect(({} as Record<string, unknown>)['id']).toBeUndefined();
  });

  test('row 26 a chain of 100,000 is exported without overflow', () => {
    const s = sim({ check: false });
    const spec = parseTaskOptions(undefined, '');
    const tasks = Array.from({ length: 100_000 }, (_each, i) => ({
      spec,
      payload: undefined,
      after: i > 0 ? [i - 1] : [],
    }));
    s.core.handle({ kind: 'submitAll', now: s.now, tasks });
    expect(toGraph(s.core).edgeCount()).toBe(99_999);
    expect(toDot(s.core).match(/ -> /g)).toHaveLength(99_999);
    expect(toMermaid(s.core).match(/ --> /g)).toHaveLength(99_999);
    expect(s.core.explain('task-100000')).toMatchObject({ dependencies: [{ task: 'task-99999', state: 'waiting' }] });
    s.core.check();
  });

  test('a result that is needed for longer than its task is kept is still shown', () => {
    const s = sim({ slots: 1, retain: { count: 0, ageMs: Infinity } });
    s.addAll({ a: {}, b: {}, end: { after: ['a', 'b'] } });
    s.complete('a');
    const graph = toGraph(s.core);
    expect(graph.nodes().map((key) => [graph.node(key).id, graph.node(key).state])).toEqual([
      ['a', 'completed'],
      ['b', 'running'],
      ['end', 'waiting'],
    ]);
    expect(graph.inEdges('n3')).toHaveLength(2);
  });
});

test('C13 C2.1 a scheduler shows its graph, its topological order and its reasons', async () => {
  await using scheduler = new Scheduler({ concurrency: 1 });
  const a = scheduler.add(() => 1, { id: 'a' });
  const b = scheduler.add(() => 2, { id: 'b', after: [a] });
  expect(scheduler.topologicalOrder()).toEqual(['a', 'b']);
  expect(toGraph(scheduler).successors('n1')).toEqual(['n2']);
  expect(toDot(scheduler)).toContain('n1 -> n2;');
  expect(scheduler.explain('b')).toMatchObject({ kind: 'waiting', dependencies: [{ task: 'a' }] });
  await b;
  expect(scheduler.explain('b')).toMatchObject({ kind: 'final', state: 'completed' });
});
