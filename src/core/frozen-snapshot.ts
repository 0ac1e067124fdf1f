import { invariant, type Fact, type Moment, type Task, type TaskSpec } from '../model/index.js';
import type { FrozenEdges } from './frozen-edges.js';
import { TaskBefore, type FrozenTasks } from './frozen-tasks.js';
import { seriesRecord } from './series-record.js';
import type { CoreSnapshot, SeriesRecord } from './snapshot-format.js';
import { headOf, pausedChannels } from './snapshot-head.js';
import { SnapshotPuzzle, type ListName, type SnapshotLists, type SnapshotPart } from './snapshot-parts.js';
import { SpecTable } from './spec-table.js';
import type { State } from './state.js';

/** A part has so many entries at the most. */
export const ENTRIES = 1_024;
/** So many steps that give no entry cost as much as one entry. */
const STEPS_PER_ENTRY = 16;

/** The entries of a list, each made when it is asked for; `undefined` is a step without one. */
type Source = {
  readonly [List in ListName]: readonly [list: List, entries: Iterable<SnapshotLists[List] | undefined>];
}[ListName];

/** A series as it was, but for its spec's place. */
interface SeriesBefore {
  readonly spec: TaskSpec;
  readonly record: SeriesRecord;
}

/**
 * A snapshot in the making. What is short, and what can be copied in bulk, is copied at the moment that it is of; the
 * rest is told in parts, each of them bounded, while commands go on. Tasks are not copied at all: one that changes before
 * it was told is recorded first.
 */
export class FrozenSnapshot {
  /** What is short; lists that are told in parts are empty in it. */
  readonly head: CoreSnapshot;
  private readonly specs = new SpecTable();
  private readonly tasks: FrozenTasks;
  private readonly edges: FrozenEdges;
  private readonly sources: readonly Source[];

  constructor(
    private readonly state: State,
    now: Moment,
    untold: readonly Fact[],
  ) {
    const { specs } = this;
    const { table, abandoned, dependencies, retention, keys } = state;
    this.head = headOf(state, now, untold);
    this.tasks = table.freeze();
    this.edges = dependencies.freeze();
    const { tasks, edges } = this;
    const { named, numbered } = table.save();
    const strays = new Set([...abandoned].map(({ task }) => task).filter((task) => !tasks.has(task)));
    const series = [...state.series.values()].map((each) => ({ spec: each.spec, record: seriesRecord(each, -1) }));
    this.sources = [
      ['tasks', tasks.records(specs)],
      [
        'strays',
        strayRecords(
          [...strays].map((task) => new TaskBefore(task)),
          specs,
        ),
      ],
      ['edges', edges.records((dependency) => tasks.has(dependency))],
      ['kept', keptRecords(retention.kept())],
      ['series', seriesRecords(series, specs)],
      ['named', named],
      ['numbered', numbered],
      ['keys', keys.save(now.wall)],
      ['held', heldRecords(pausedChannels(state).map(({ held }) => [...held]))],
    ];
  }

  /** What specs the records of tasks and series name by their places, as far as they were told. */
  get specRecords(): CoreSnapshot['specs'] {
    return this.specs.records;
  }

  /** Commands may come in between from now on. */
  begin(): this {
    const { table, dependencies } = this.state;
    invariant(table.frozen === undefined, 'A snapshot was begun while another one was being made.');
    table.frozen = this.tasks;
    dependencies.graph.frozen = this.edges.lists;
    return this;
  }

  /** What has not been told is not asked for any more. */
  end(): void {
    const { table, dependencies } = this.state;
    if (table.frozen !== this.tasks) return;
    table.frozen = undefined;
    dependencies.graph.frozen = undefined;
  }

  /** All that the head does not hold, once, specs before what names them. Each part is made in a bounded time; some are empty. */
  *parts(entries = ENTRIES): Iterable<SnapshotPart> {
    for (const source of this.sources) {
      for (const part of partsOf(source, entries)) {
        const specs = this.specs.takeNew();
        if (specs.length > 0) yield { list: 'specs', entries: specs };
        yield part;
      }
    }
    this.end();
  }

  /** The same in one go. */
  whole(): CoreSnapshot {
    const puzzle = new SnapshotPuzzle();
    for (const part of this.parts()) puzzle.add(part);
    return puzzle.whole(this.head);
  }
}

function* partsOf([list, source]: Source, most: number): Iterable<SnapshotPart> {
  let entries: unknown[] = [];
  let steps = 0;
  const part = (): SnapshotPart => ({ list, entries }) as SnapshotPart;
  for (const entry of source) {
    if (entry !== undefined) entries.push(entry);
    steps += entry === undefined ? 1 : STEPS_PER_ENTRY;
    if (steps < most * STEPS_PER_ENTRY) continue;
    yield part();
    entries = [];
    steps = 0;
  }
  if (entries.length > 0) yield part();
}

function* strayRecords(strays: readonly TaskBefore[], specs: SpecTable): Iterable<SnapshotLists['strays']> {
  for (const stray of strays) yield stray.recordWith(specs);
}

function* keptRecords(kept: Iterable<readonly [Task, number]>): Iterable<SnapshotLists['kept']> {
  for (const [task, at] of kept) yield [task.sequence, at === -Infinity ? null : at];
}

function* seriesRecords(series: readonly SeriesBefore[], specs: SpecTable): Iterable<SnapshotLists['series']> {
  for (const { spec, record } of series) yield { ...record, spec: specs.indexOf(spec) };
}

function* heldRecords(channels: readonly (readonly Task[])[]): Iterable<SnapshotLists['held']> {
  for (const [channel, tasks] of channels.entries()) for (const { sequence } of tasks) yield [channel, sequence];
}
