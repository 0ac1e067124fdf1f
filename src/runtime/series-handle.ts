import type { AsyncResource } from 'node:async_hooks';
import type { Series } from '../core/index.js';
import {
  UnknownTaskError,
  type FinalState,
  type RecurrenceOptions,
  type Task,
  type TaskOptions,
} from '../model/index.js';
import type { Handle, Handler } from './handle.js';
import type { Payload } from './payload.js';
import type { CancelSignals } from './signals.js';
import { showAs } from './shown.js';

/** What may be said about a series: what its tasks are like, and when they repeat. */
export interface RepeatOptions extends Omit<TaskOptions, 'eta' | 'delay'>, RecurrenceOptions {
  /** Aborting it cancels the series: the occurrence that runs or waits goes on. */
  readonly signal?: AbortSignal | undefined;
}

/** One run of a series that has ended. It cannot be awaited itself, so that iterating gives it and not its result. */
export interface Occurrence<Result> {
  readonly id: string;
  /** The tick it was made for, in epoch milliseconds. */
  readonly scheduledAt: number;
  readonly state: FinalState;
  /** What came of it; it rejects unless the occurrence has completed. */
  readonly result: Promise<Result>;
}

/** What a series handle may ask of its scheduler. */
export interface SeriesHost {
  /** The result of an occurrence. */
  resultOf<Result>(task: Task): Promise<Result>;
  /** Resolves when it holds. */
  until(holds: () => boolean): Promise<unknown>;
  steer(kind: 'pauseSeries' | 'resumeSeries' | 'cancelSeries', series: string): void;
}

/** Beyond so many ended occurrences that nobody has asked for, the oldest are left out. */
const UNREAD_OCCURRENCES = 1_000;

/** What the occurrences of a series run, until it is updated: those that were made before run what they were made with. */
export class SeriesWork implements Payload {
  /** Of the occurrences that somebody has asked for, also once they have ended: one that failed may be run again. */
  private handles: WeakMap<Task, Handle<unknown>> | undefined = undefined;

  constructor(
    readonly run: Handler<unknown>,
    readonly input: unknown,
    /** All occurrences run in the context of whoever made or updated the series. */
    readonly context: AsyncResource | undefined,
    readonly handle: SeriesHandle<unknown>,
  ) {}

  settle(task: Task): void {
    this.handle.settle(task);
    this.handles?.get(task)?.settle();
  }

  /** The handle of one occurrence that somebody asks for. */
  watched(task: Task, make: () => Handle<unknown>): Handle<unknown> {
    const handles = (this.handles ??= new WeakMap<Task, Handle<unknown>>());
    const handle = handles.get(task) ?? make();
    handles.set(task, handle);
    return handle;
  }

  /** The handle of one occurrence, if somebody has asked for it. */
  handleOf(task: Task): Handle<unknown> | undefined {
    return this.handles?.get(task);
  }
}

/** A task that repeats. Each of its occurrences is a task of its own. */
export class SeriesHandle<Result> {
  static {
    showAs(SeriesHandle, 'SeriesHandle', ({ id, state, next, runs }) => ({ id, state, next, runs }));
  }

  /** @internal Set by the scheduler right after the series was accepted. */
  series!: Series;
  private ended = 0;
  private follower: SeriesHandle<unknown> | undefined = undefined;
  private readonly readers = new Set<Task[]>();
  /** How to listen no more to the signals that cancel it. */
  private readonly heeded: (() => void)[] = [];

  /** @internal */
  constructor(private readonly host: SeriesHost) {}

  get id(): string {
    return this.series.id;
  }

  /** A series ends when it is cancelled, or when its count or its time is used up. */
  get state(): 'active' | 'paused' | 'ended' {
    if (this.series.ended) return 'ended';
    return this.series.paused ? 'paused' : 'active';
  }

  /** When the next occurrence is made, in epoch milliseconds; `undefined` while an unfinished one is awaited for that. */
  get next(): number | undefined {
    return this.series.nextAt;
  }

  /** How many occurrences were made so far. */
  get runs(): number {
    return this.series.made;
  }

  /** How many were left out because the one before was unfinished. */
  get skipped(): number {
    return this.series.skipped;
  }

  /** Whether more runs begin than the schedule gives: in the latest interval, or in the one before. */
  get overran(): boolean {
    return this.series.overran;
  }

  /** Makes no occurrences until it is resumed. */
  pause(): void {
    this.steer('pauseSeries');
  }

  /** Goes on at its time, or at once if that has passed. */
  resume(): void {
    this.steer('resumeSeries');
  }

  /** Makes no more occurrences; the one that runs or waits goes on. A series that has ended is left as it is. */
  cancel(): void {
    if (!this.series.ended) this.steer('cancelSeries');
    this.leaveSignals();
  }

  /**
   * The occurrences that end from now on, each with its result, until the series has ended. Whoever reads more slowly
   * than they come loses the oldest beyond a thousand.
   */
  get occurrences(): AsyncIterable<Occurrence<Result>> {
    return { [Symbol.asyncIterator]: () => this.read([]) };
  }

  /** @internal The series is back after a restart: only those of its occurrences that are unfinished will end. */
  goOn(series: Series): void {
    this.series = series;
    this.ended = series.made - series.active;
  }

  /** @internal The series was asked for anew before it was back: whoever did that is told of what ends too. */
  followedBy(follower: SeriesHandle<unknown>): void {
    this.follower = follower;
    follower.goOn(this.series);
  }

  /** @internal Aborting the signal cancels it, until it has ended. */
  heed(signal: AbortSignal, signals: CancelSignals): void {
    signals.listen(signal, this);
    this.heeded.push(() => {
      signals.leave(signal, this);
    });
  }

  /** @internal An occurrence has ended. */
  settle(task: Task): void {
    this.follower?.settle(task);
    this.ended += 1;
    if (this.isOver()) this.leaveSignals();
    for (const unread of this.readers) {
      unread.push(task);
      if (unread.length > UNREAD_OCCURRENCES) unread.shift();
    }
  }

  private steer(kind: Parameters<SeriesHost['steer']>[0]): void {
    // Another series may have the id by now.
    if (this.series.ended) throw new UnknownTaskError({ taskId: this.id });
    this.host.steer(kind, this.id);
  }

  private async *read(unread: Task[]): AsyncGenerator<Occurrence<Result>, void, undefined> {
    this.readers.add(unread);
    try {
      for (;;) {
        await this.host.until(() => unread.length > 0 || this.isOver());
        const task = unread.shift();
        if (task === undefined) return;
        yield this.occurrence(task);
      }
    } finally {
      this.readers.delete(unread);
    }
  }

  private occurrence(task: Task): Occurrence<Result> {
    const { host } = this;
    return {
      id: task.id,
      scheduledAt: task.extra?.scheduledAt ?? 0,
      state: task.state as FinalState,
      get result() {
        return host.resultOf<Result>(task);
      },
    };
  }

  private leaveSignals(): void {
    for (const leave of this.heeded.splice(0)) leave();
  }

  private isOver(): boolean {
    // After a restart it has no record when the series had ended, and another one has its id.
    const { series } = this as { readonly series?: Series };
    return series === undefined || (series.ended && this.ended >= series.made);
  }
}
