import { SchedulerError, StoreError, type Fact, type Task } from '../model/index.js';
import type { Store } from '../ports/store.js';
import type { Clock, Timer } from './clock.js';
import { FactTexts } from './fact-text.js';
import { JOURNAL_VERSION } from './migrations.js';

/** What may be seen or begin only when its cause is kept; told the failure if that never will be. */
export type Effect = (failure: SchedulerError | undefined) => void;

/** What has happened and is not kept yet, and what waits for that. */
class Unwritten {
  readonly texts: string[] = [];
  bytes = 0;
  readonly effects: Effect[] = [];
  /** Tasks whose ends are among it. */
  readonly ends = new Set<Task>();
  private promise: Promise<void> | undefined = undefined;

  /** Resolves when it is kept; one promise for all that came in with it. */
  get acceptance(): Promise<void> {
    if (this.promise === undefined) {
      this.promise = new Promise((resolve, reject) => {
        this.effects.push((failure) => {
          if (failure === undefined) resolve();
          else reject(failure);
        });
      });
      // Most do not ask, and a failure is told in other ways too.
      this.promise.catch(() => undefined);
    }
    return this.promise;
  }

  release(failure: SchedulerError | undefined): void {
    for (const effect of this.effects) effect(failure);
  }
}

/** What a journal needs of its scheduler. */
export interface JournalHost {
  readonly clock: Clock;
  /** Something has happened that is to be written at the end of the turn. */
  dispatchSoon(): void;
  /** The task that a fact is about, as long as it is known. */
  taskOf(id: string): Task | undefined;
  /** Everything that has happened so far is in the record with this number, which is about to be written. */
  sealed(sequence: number): void;
  /** The record is kept, with so many facts and bytes. */
  appended(sequence: number, facts: number, bytes: number): void;
  /** Nothing is being written: what must not go on beside an append may be done now. */
  between(): Promise<void>;
  /** There is no space; the same is tried again. */
  stuck(error: SchedulerError): void;
  /** Nothing can be kept any more. */
  failed(error: SchedulerError): void;
}

/** The facts with which a task ends. */
const ENDS: ReadonlySet<Fact['kind']> = new Set(['task.completed', 'task.failed', 'task.cancelled', 'task.skipped']);

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Writes facts ahead of what they cause. What happens while a record is being written is gathered for the next one, so that
 * many changes share one write; what they cause (a start, a result, an event) is let out, in order, when its record is kept.
 */
export class Journal {
  private gathering = new Unwritten();
  private inFlight: Unwritten | undefined = undefined;
  private readonly texts = new FactTexts();
  private isSealing = false;
  private isStuck = false;
  private failure: SchedulerError | undefined = undefined;
  private pause: Timer | undefined = undefined;
  private endPause: (() => void) | undefined = undefined;
  private readonly idle: (() => void)[] = [];

  constructor(
    private readonly store: Store,
    private readonly epoch: number,
    private sequence: number,
    private readonly maxUnwrittenBytes: number,
    private readonly host: JournalHost,
  ) {}

  /** Whether what has happened may not be told yet. */
  get isAhead(): boolean {
    return this.inFlight !== undefined || this.gathering.texts.length > 0 || this.gathering.effects.length > 0;
  }

  /** Whether nothing more should come: too much is unwritten, or there is no space for it. */
  get isFull(): boolean {
    return this.isStuck || this.gathering.bytes + (this.inFlight?.bytes ?? 0) >= this.maxUnwrittenBytes;
  }

  /** Whether the task's end is not kept yet. */
  hasUnkeptEnd(task: Task): boolean {
    return this.gathering.ends.has(task) || this.inFlight?.ends.has(task) === true;
  }

  /** Resolves when everything that has happened by now is kept. */
  get acceptance(): Promise<void> {
    this.host.dispatchSoon();
    return this.gathering.acceptance;
  }

  note(fact: Fact): void {
    if (ENDS.has(fact.kind)) {
      const task = this.host.taskOf((fact as Extract<Fact, { kind: 'task.completed' }>).task);
      if (task !== undefined) this.gathering.ends.add(task);
    }
    this.add(this.texts.of(fact));
  }

  /** Notes something beside the facts. */
  add(text: string): void {
    this.gathering.texts.push(text);
    this.gathering.bytes += text.length;
    this.host.dispatchSoon();
  }

  /** Comes to be when everything that has happened by now is kept. */
  afterwards(effect: Effect): void {
    if (this.failure !== undefined) {
      effect(this.failure);
      return;
    }
    this.gathering.effects.push(effect);
    this.host.dispatchSoon();
  }

  /**
   * What was gathered is written at the end of the turn, unless something is being written already. Whoever was told of the
   * last record has gone on by then as far as that goes without waiting: ends and what they bring about share a record.
   */
  seal(): void {
    if (this.isSealing || this.inFlight !== undefined || this.failure !== undefined) return;
    this.isSealing = true;
    // Comes after all microtasks, however many promises they go through.
    process.nextTick(this.sealNow);
  }

  private readonly sealNow = (): void => {
    this.isSealing = false;
    if (this.failure !== undefined) return;
    const unwritten = this.gathering;
    if (unwritten.texts.length > 0) {
      this.host.sealed(this.sequence + 1);
      this.gathering = new Unwritten();
      this.inFlight = unwritten;
      void this.write(unwritten);
    } else if (unwritten.effects.length > 0) {
      this.gathering = new Unwritten();
      unwritten.release(undefined);
      // What was let out may have led to more, so that whoever waits for rest waits for the next turn.
      if (this.idle.length > 0) this.host.dispatchSoon();
    } else for (const resolve of this.idle.splice(0)) resolve();
  };

  /**
   * Resolves when everything is kept, and nothing is being written. What is to see exactly that is called at once: whoever
   * waits for the promise may find that more has happened.
   */
  async rest(atRest: () => void = () => undefined): Promise<void> {
    if (this.failure !== undefined) return;
    await new Promise<void>((resolve) => {
      this.idle.push(() => {
        if (this.failure === undefined) atRest();
        resolve();
      });
      this.host.dispatchSoon();
    });
  }

  /** Nothing more is written, and nothing let out. */
  fail(error: SchedulerError): void {
    if (this.failure !== undefined) return;
    this.failure = error;
    this.pause?.cancel();
    this.endPause?.();
    // Which ends were not kept is still to be known.
    this.inFlight?.release(error);
    this.gathering.release(error);
    for (const resolve of this.idle.splice(0)) resolve();
  }

  private async write(unwritten: Unwritten): Promise<void> {
    const body = `[${JOURNAL_VERSION},${unwritten.texts.join(',')}]`;
    try {
      await this.append(body);
      if (this.failure !== undefined) return;
      this.sequence += 1;
      this.host.appended(this.sequence, unwritten.texts.length, body.length);
      await this.host.between();
    } catch (error) {
      this.host.failed(storeFailure('append', error));
      return;
    }
    if (this.hasFailed) return;
    this.inFlight = undefined;
    unwritten.release(undefined);
    this.host.dispatchSoon();
  }

  /** A getter, as what is looked at may have changed behind an `await`. */
  private get hasFailed(): boolean {
    return this.failure !== undefined;
  }

  /** Without space, the same bytes are tried again and again; meanwhile nothing is let out. */
  private async append(body: string): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; !this.hasFailed; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        await this.store.append(this.sequence, this.epoch, body);
        this.isStuck = false;
        return;
      } catch (error) {
        if (!isFull(error)) throw error;
        if (!this.isStuck) this.host.stuck(error);
        this.isStuck = true;
      }
      await this.waitFor(pauseMs);
    }
  }

  private waitFor(pauseMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.endPause = resolve;
      this.pause = this.host.clock.setTimer(resolve, pauseMs);
    });
  }
}

/** Whether there was no space, and nothing has happened. */
export function isFull(error: unknown): error is StoreError {
  return error instanceof StoreError && error.kind === 'full';
}

/** Whatever a store has failed with, as one of our own errors. */
export function storeFailure(operation: string, error: unknown): SchedulerError {
  if (error instanceof SchedulerError) return error;
  return new StoreError({ operation, cause: error });
}
