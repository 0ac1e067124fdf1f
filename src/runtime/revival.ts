import type { Core, CoreSnapshot, ListName, RestoreOptions, TaskRecord } from '../core/index.js';
import { UnknownHandlerError, isFinal, type Fact, type StrategyRecord, type WorkerRecord } from '../model/index.js';
import type { Definitions } from './definition.js';
import type { Handler } from './handle.js';
import type { Payloads } from './kept.js';
import { RecoveredTask } from './recovered-task.js';
import { SeriesHandle, SeriesWork, type SeriesHost } from './series-handle.js';

/** What a store has of a payload. */
interface Stored {
  readonly input?: unknown;
  readonly gaps?: readonly number[] | undefined;
}

/** A task as it was read, to be changed. */
type Recorded = { -readonly [Field in keyof TaskRecord]: TaskRecord[Field] };

/** What brings data back to life needs of its scheduler. */
export interface RevivalHost {
  readonly core: Core;
  readonly definitions: Definitions;
  readonly payloads: Payloads;
  readonly seriesHost: SeriesHost;
  readonly strategies: NonNullable<RestoreOptions['strategies']>;
}

/** Gives facts and snapshots back what data cannot hold: what runs, and who is told. */
export class Revival {
  private readonly handlers = new Map<string, Handler<unknown>>();
  /** By the numbers that records of tasks name their specs by. */
  private readonly types: string[] = [];

  constructor(private readonly host: RevivalHost) {}

  fact(fact: Fact): Fact {
    switch (fact.kind) {
      case 'task.submitted':
        return { ...fact, payload: this.task(fact.payload, fact.spec.type, fact.occurrence?.series) };
      case 'task.renewed': {
        const task = this.host.core.state.table.byId(fact.task);
        // It comes after the same tasks as the call before.
        const { gaps } = (task?.payload ?? {}) as Stored;
        return { ...fact, payload: this.task({ ...(fact.payload as Stored), gaps }, task?.spec.type) };
      }
      case 'series.added':
      case 'series.updated':
        return { ...fact, payload: this.series(fact.payload, fact.spec.type, fact.series) };
      case 'task.completed':
        return { ...fact, value: this.host.payloads.back(fact.value) };
      case 'task.checkpointed':
        return { ...fact, checkpoint: this.host.payloads.back(fact.checkpoint) };
      case 'configured':
        return fact.setting.name === 'strategy'
          ? { ...fact, setting: { ...fact.setting, ...this.strategy(fact.setting) } }
          : fact;
      case 'worker.attached':
        return { ...fact, worker: this.worker(fact.worker) };
      default:
        return fact;
    }
  }

  /** An entry of a snapshot that is being read. It is changed, since a copy of each would cost more than the entry. */
  entry(list: ListName, entry: unknown): void {
    if (list === 'specs') this.types.push((entry as CoreSnapshot['specs'][number]).type ?? '');
    else if (list === 'tasks' || list === 'strays') this.record(entry as Recorded);
  }

  /** A snapshot of which each entry has come by. */
  snapshot(snapshot: CoreSnapshot): CoreSnapshot {
    const series = snapshot.series.map((record) => {
      return { ...record, payload: this.series(record.payload, this.types[record.spec], record.id) };
    });
    const handles = new Map(series.map(({ id, payload }) => [id, payload.handle]));
    for (const { payload, extra } of [...snapshot.tasks, ...snapshot.strays]) {
      if (extra?.series !== undefined) (payload as RecoveredTask).series = handles.get(extra.series);
    }
    return {
      ...snapshot,
      series,
      workers: snapshot.workers.map((worker) => this.worker(worker)),
      settings: { ...snapshot.settings, strategy: this.strategy(snapshot.settings.strategy) },
    };
  }

  private record(record: Recorded): void {
    const { payloads } = this.host;
    record.payload = this.task(record.payload, this.types[record.spec]);
    if (record.value !== undefined) record.value = payloads.back(record.value);
    const { extra } = record;
    if (extra?.checkpoint !== undefined) record.extra = { ...extra, checkpoint: payloads.back(extra.checkpoint) };
  }

  private task(stored: unknown, type = '', seriesId?: string): RecoveredTask {
    const { input, gaps } = (stored ?? {}) as Stored;
    return new RecoveredTask(this.handler(type), this.host.payloads.back(input), gaps, this.seriesHandle(seriesId));
  }

  private series(stored: unknown, type = '', id: string): SeriesWork {
    const { input } = (stored ?? {}) as Stored;
    const handle = this.seriesHandle(id) ?? new SeriesHandle<unknown>(this.host.seriesHost);
    return new SeriesWork(this.handler(type), this.host.payloads.back(input), undefined, handle);
  }

  private seriesHandle(id: string | undefined): SeriesHandle<unknown> | undefined {
    const series = id === undefined ? undefined : this.host.core.state.series.get(id);
    return (series?.payload as SeriesWork | undefined)?.handle;
  }

  /** Found by its name when it runs: it may be defined later. */
  private handler(type: string): Handler<unknown> {
    let handler = this.handlers.get(type);
    if (handler === undefined) {
      handler = (task) => {
        const definition = this.host.definitions.get(type);
        if (definition === undefined) throw new UnknownHandlerError({ type });
        return definition.run(task);
      };
      this.handlers.set(type, handler);
    }
    return handler;
  }

  /** A strategy of the user's own that is not given any more decides nothing: the options say what does from now on. */
  private strategy(record: StrategyRecord): StrategyRecord {
    const isGone = record.custom && !this.host.strategies.some(({ name }) => name === record.strategy);
    return isGone ? { strategy: 'priority', custom: false } : record;
  }

  private worker(worker: WorkerRecord): WorkerRecord {
    return worker.strategy === null ? worker : { ...worker, strategy: this.strategy(worker.strategy) };
  }
}

/** Lets nothing start for which there is no handler; says what that is. */
export function withhold(core: Core, definitions: Definitions): readonly UnknownHandlerError[] {
  const missing = withoutHandler(core, definitions);
  core.state.resources.withhold(new Set(missing.keys()));
  return [...missing].map(([type, waiting]) => new UnknownHandlerError({ type, waiting }));
}

/** How many tasks and series there are of types for which there is no handler, by type. */
function withoutHandler(core: Core, definitions: Definitions): Map<string, number> {
  const { state } = core;
  const missing = new Map<string, number>();
  const count = (type: string): void => {
    if (type !== '' && definitions.get(type) === undefined) missing.set(type, (missing.get(type) ?? 0) + 1);
  };
  for (const { state: now, spec } of state.table.all()) if (!isFinal(now)) count(spec.type);
  for (const { spec } of state.series.values()) count(spec.type);
  return missing;
}

/** The series' records are there, or are others by now: their handles go on with them. */
export function connectSeries(core: Core): void {
  for (const series of core.state.series.values()) (series.payload as SeriesWork).handle.goOn(series);
}
