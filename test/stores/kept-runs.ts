import fc from 'fast-check';
import { Core, type CoreSnapshot } from '../../src/core/index.js';
import type { Fact } from '../../src/model/index.js';
import type { Store } from '../../src/ports/store.js';
import { SIM_START, sim } from '../../src/testing/index.js';
import { converse, reply, someOptions, someSteps } from '../core/commands.js';

/*
 * Random runs of a core as a journal and a snapshot have them, and the tasks that a view must show afterwards.
 */

/** What is written in turn: records, and once a snapshot of everything before. */
export interface KeptRun {
  readonly before: readonly string[];
  readonly snapshot: readonly string[] | undefined;
  readonly after: readonly string[];
  readonly tasks: readonly TaskRow[];
}

/** A row of the view, its times in epoch milliseconds. */
export interface TaskRow {
  readonly id: string;
  readonly sequence: number;
  readonly type: string;
  readonly channel: string;
  readonly level: number;
  readonly state: string;
  readonly attempts: number;
  readonly worker: string | null;
  readonly due_at: number | null;
  readonly started_at: number | null;
  readonly ended_at: number | null;
  readonly deadline: number | null;
}

const LISTS = ['specs', 'tasks', 'strays', 'edges', 'kept', 'series'] as const;

function recordText(facts: readonly Fact[]): string {
  return JSON.stringify([1, ...facts]);
}

/** So few entries in a part that a small run has several. */
function snapshotTexts(snapshot: CoreSnapshot, entries = 7): string[] {
  const head = Object.fromEntries(Object.entries(snapshot).filter(([name]) => !LISTS.some((list) => list === name)));
  const lists = LISTS.flatMap((name) => {
    const all: readonly unknown[] = snapshot[name];
    const parts = Math.ceil(all.length / entries);
    return Array.from({ length: parts }, (_, n) => [name, ...all.slice(n * entries, (n + 1) * entries)]);
  });
  return [[1, head], ...lists].map((part) => JSON.stringify(part));
}

/** The tasks of a core as the view shows them; when they ended is not told by the core, only whether. */
function rowsOf(core: Core): TaskRow[] {
  return [...core.state.table.all()].map((task) => {
    const attempt = task.state === 'running' ? task.attempt : undefined;
    return {
      id: task.id,
      sequence: task.sequence,
      type: task.spec.type,
      channel: task.spec.channel,
      level: task.level,
      state: task.state,
      attempts: task.attempts,
      worker: attempt?.workerId ?? null,
      due_at: task.due + core.state.origin.wall,
      started_at: attempt?.started.wall ?? null,
      ended_at: null,
      deadline: task.spec.deadline === Infinity ? null : task.spec.deadline,
    };
  });
}

/** Random runs, with a snapshot somewhere or none. */
export const someKeptRun: fc.Arbitrary<KeptRun> = fc
  .tuple(someOptions, someSteps, fc.option(fc.nat(120)))
  .map(([options, steps, cut]) => {
    const core = new Core(options);
    const records: string[] = [];
    let snapshot: string[] | undefined;
    let before = 0;
    let handled = 0;
    converse(core, steps, (asked, command) => {
      const said = reply(asked, command);
      if ('facts' in said && said.facts.length > 0) records.push(recordText(said.facts));
      if (handled === cut) {
        snapshot = snapshotTexts(asked.snapshot());
        before = records.length;
      }
      handled += 1;
      return said;
    });
    const { untold } = core.snapshot();
    if (untold.length > 0) records.push(recordText(untold));
    return { before: records.slice(0, before), snapshot, after: records.slice(before), tasks: rowsOf(core) };
  });

/** Writes a run as a scheduler does; with the snapshot, it is compacted too. */
export async function write(store: Store, { before, snapshot, after }: KeptRun): Promise<void> {
  const { epoch } = await store.open();
  let sequence = 0;
  for (const body of before) await store.append(sequence++, epoch, body);
  if (snapshot !== undefined) {
    const parts = (async function* () {
      await Promise.resolve();
      yield* snapshot;
    })();
    await store.saveSnapshot({ sequence, parts }, epoch);
  }
  for (const body of after) await store.append(sequence++, epoch, body);
  await store.compact(epoch);
}

/** What must be the same in all stores: of finished tasks, whether the end is told. */
export function comparable(rows: readonly TaskRow[]): TaskRow[] {
  return [...rows].sort((a, b) => a.sequence - b.sequence).map((row) => ({ ...row, ended_at: null }));
}

/** The end of one task and the run of another at known times, and texts that not every database reads. */
export function storyOf(snapshotAt: 'no' | 'the end'): KeptRun {
  const s = sim();
  s.add(`a "漢字" 'quoted'`, { channel: "it's", payload: { input: '\0\ud800 \\u0000 \ud83d\ude00' } });
  s.add('b', { deadline: SIM_START + 900 });
  s.advance(10);
  const [first = ''] = s.claim();
  s.advance(10);
  s.complete(first, '\0');
  s.advance(10);
  s.claim();
  const ended = s.core.state.table.byId(first);
  const tasks = rowsOf(s.core).map((row) => (row.id === ended?.id ? { ...row, ended_at: SIM_START + 20 } : row));
  const records = [recordText(s.facts)];
  return snapshotAt === 'no'
    ? { before: records, snapshot: undefined, after: [], tasks }
    : { before: records, snapshot: snapshotTexts(s.core.snapshot()), after: [], tasks };
}
