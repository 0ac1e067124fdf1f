import type { Task } from '../model/index.js';
import { Handle, type Handler, type HandleHost } from './handle.js';
import type { Kept } from './kept.js';
import type { Payload } from './payload.js';
import { SeriesWork, type SeriesHandle } from './series-handle.js';

/** What a task carries that has come back after a restart. */
export class RecoveredTask implements Payload {
  /** Made when somebody asks for it. */
  handle: Handle<unknown> | undefined = undefined;
  declare readonly gaps?: readonly number[];

  constructor(
    readonly run: Handler<unknown>,
    readonly input: Kept | undefined,
    gaps: readonly number[] | undefined,
    /** Where it is an occurrence of a series. */
    public series: SeriesHandle<unknown> | undefined,
  ) {
    if (gaps !== undefined) this.gaps = gaps;
  }

  settle(task: Task): void {
    this.handle?.settle();
    this.series?.settle(task);
  }
}

/** A handle of the task, made if nobody has asked for one. */
export function handleFor(task: Task, host: HandleHost): Handle<unknown> {
  const { payload } = task;
  if (payload instanceof Handle) return payload as Handle<unknown>;
  const carrier = payload as RecoveredTask | SeriesWork;
  const make = (): Handle<unknown> => Object.assign(new Handle(host, carrier.run), { task });
  if (carrier instanceof RecoveredTask) return (carrier.handle ??= make());
  return carrier.watched(task, make);
}

/** The handle of whoever waits for the task, if there is one. */
export function handleOf(task: Task): Handle<unknown> | undefined {
  const { payload } = task;
  return payload instanceof SeriesWork ? payload.handleOf(task) : handleIn(payload);
}

/** The handle of whoever waits for the task that carries this, if there is one. */
export function handleIn(payload: unknown): Handle<unknown> | undefined {
  if (payload instanceof Handle) return payload as Handle<unknown>;
  return payload instanceof RecoveredTask ? payload.handle : undefined;
}
