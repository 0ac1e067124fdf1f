import type { AsyncResource } from 'node:async_hooks';
import { Series, type Core } from '../core/index.js';
import type { Moment, Task } from '../model/index.js';
import type { Events } from './events.js';
import { Handle, type Handler, type HandleHost } from './handle.js';
import type { Keeping } from './keeping.js';
import type { Intake, Repeated } from './intake.js';
import { SeriesHandle, SeriesWork, type SeriesHost } from './series-handle.js';
import type { Waits } from './waits.js';

/** What repeating needs of its scheduler. */
export interface RepeatingHost extends HandleHost {
  readonly core: Core;
  readonly intake: Intake;
  readonly waits: Waits;
  readonly arrivals: { nextName(): string };
  readonly closing: { checkOpen(): void };
  readonly keeping: Keeping | undefined;
  readonly events: Events;
  now(): Moment;
  dispatchSoon(): void;
}

/** A series that was asked for. */
interface Asked {
  readonly id: string;
  readonly repeated: Repeated;
  readonly handle: SeriesHandle<unknown>;
  readonly context: AsyncResource | undefined;
}

/** One that was asked for before everything was back. */
interface Early extends Asked {
  /** What was asked of it since. */
  readonly steps: Parameters<SeriesHost['steer']>[0][];
}

/** Beginning and updating series. */
export class Repeating {
  /** Those that wait until everything is back, as one with the same id may be among it. */
  private early: Early[] = [];

  constructor(private readonly host: RepeatingHost) {}

  readonly seriesHost: SeriesHost = {
    resultOf: <Result>(task: Task) => {
      const { run } = task.payload as SeriesWork;
      return Object.assign(new Handle(this.host, run as Handler<Result>), { task }).result;
    },
    until: (holds) => this.host.waits.until(holds),
    steer: (kind, series) => {
      const early = this.early.findLast((each) => each.id === series);
      if (early === undefined) this.host.tell({ kind, series });
      else early.steps.push(kind);
    },
  };

  repeat(run: unknown, second: unknown, third: unknown): SeriesHandle<unknown> {
    const { host } = this;
    host.closing.checkOpen();
    const repeated = host.intake.repeated(run, second, third);
    const handle = this.handleFor(repeated);
    if (repeated.signal !== undefined) handle.heed(repeated.signal, host.intake.signals);
    return handle;
  }

  private handleFor(repeated: Repeated): SeriesHandle<unknown> {
    const { host } = this;
    if (host.keeping !== undefined && !host.keeping.isOpen) {
      if (host.keeping.failure !== undefined) throw host.keeping.failure;
      return this.wait(repeated);
    }
    const id = repeated.spec.id ?? this.nextName();
    const handle = this.known(id) ?? new SeriesHandle(this.seriesHost);
    this.begin({ id, repeated, handle, context: host.capture() });
    return handle;
  }

  /** Everything is back: those that have waited begin, or update what has come back. */
  opened(): void {
    for (const each of this.early.splice(0)) {
      const known = this.known(each.id);
      try {
        this.begin(each);
        for (const kind of each.steps) this.host.tell({ kind, series: each.id });
      } catch (error) {
        this.host.events.tell('error', { error, eventName: undefined });
        continue;
      }
      known?.followedBy(each.handle);
    }
  }

  private wait(repeated: Repeated): SeriesHandle<unknown> {
    const { host } = this;
    const id = repeated.spec.id ?? host.arrivals.nextName();
    const before = this.early.find((each) => each.id === id);
    const handle = before?.handle ?? new SeriesHandle<unknown>(this.seriesHost);
    const { spec, recurrence } = repeated;
    handle.series = new Series(0, 0, id, spec, recurrence, undefined);
    this.early.push({ id, repeated, handle, context: host.capture(), steps: [] });
    host.keeping?.begun();
    return handle;
  }

  private begin({ id, repeated, handle, context }: Asked): void {
    const { host } = this;
    const { handler, input, spec, recurrence } = repeated;
    const work = new SeriesWork(handler, input, context, handle);
    handle.series = host.core.repeat(host.now(), id, spec, recurrence, work);
    host.dispatchSoon();
  }

  private known(id: string): SeriesHandle<unknown> | undefined {
    return (this.host.core.state.series.get(id)?.payload as SeriesWork | undefined)?.handle;
  }

  /** An id that no series has: one that is in use would update its series. */
  private nextName(): string {
    const { series, nextSeries } = this.host.core.state;
    let number = nextSeries;
    while (series.has(`series-${number}`)) number += 1;
    return `series-${number}`;
  }
}
