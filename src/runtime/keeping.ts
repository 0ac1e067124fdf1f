import type { Request } from '../core/index.js';
import { ClosedError, type Attempt, type Fact, type Outcome, type SchedulerError, type Task } from '../model/index.js';
import type { Store } from '../ports/store.js';
import { Beginning, type BeginningHost } from './beginning.js';
import { ContinuedClock, clockOf } from './clock.js';
import { Journal, isFull, storeFailure, type Effect, type JournalHost } from './journal.js';
import { Payloads } from './kept.js';
import { handleOf } from './recovered-task.js';
import { withhold } from './revival.js';
import type { SchedulerOptions } from './scheduler-options.js';
import { Snapshots, parseSnapshotOptions } from './snapshots.js';
import { checkStore, checkStoreless } from './store-options.js';
import { Verdicts, type Verdict } from './verdicts.js';

/** What keeping needs of its scheduler. */
export interface KeepingHost extends BeginningHost {
  dispatchSoon(): void;
  /** Whoever waits may come in. */
  opened(): void;
  /** Nothing more can be kept: whoever waits or runs is told. */
  broken(error: SchedulerError): void;
}

/** So much may be unwritten before adding waits and nothing more starts. */
const MAX_UNWRITTEN_BYTES = 16 * 1_048_576;

/**
 * A scheduler with a store: brings back what the last one left, writes what happens ahead of what it causes, and stops
 * where it cannot.
 */
export class Keeping implements JournalHost {
  readonly clock: ContinuedClock;
  readonly payloads: Payloads;
  private readonly verdicts: Verdicts;
  private readonly store: Store;
  private readonly every: ReturnType<typeof parseSnapshotOptions>;
  private journal: Journal | undefined = undefined;
  private snapshots: Snapshots | undefined = undefined;
  private starting: Promise<void> | undefined = undefined;
  /** Of the opening of the store; 0 where it is not open. */
  private epoch = 0;
  private sequence = 0;
  /** What was set before there was anything to set it on but an empty core. */
  private readonly early: Request[] = [];
  /** Effects of what happened before the start: all of them refusals. */
  private readonly earlyEffects: Effect[] = [];

  private constructor(
    private readonly options: SchedulerOptions,
    private readonly host: KeepingHost,
  ) {
    this.store = checkStore(options.store);
    this.clock = new ContinuedClock(clockOf(options.clock));
    this.payloads = new Payloads(options.codec, options.maxPayloadBytes);
    this.verdicts = new Verdicts(this.payloads);
    this.every = parseSnapshotOptions(options.snapshotEvery);
  }

  /** `undefined` without a store: then nothing of this costs anything. */
  static of(options: SchedulerOptions, host: KeepingHost): Keeping | undefined {
    checkStoreless(options);
    return options.store === undefined ? undefined : new Keeping(options, host);
  }

  /** Why nothing goes on any more. */
  get failure(): SchedulerError | undefined {
    return this.verdicts.failure;
  }

  private get isOver(): boolean {
    return this.verdicts.gives === 'everything';
  }

  /** Whether everything is back, and nothing has gone wrong. */
  get isOpen(): boolean {
    return this.journal !== undefined && this.failure === undefined && !this.isOver;
  }

  /** Whether whoever comes may come in now. */
  get letsIn(): boolean {
    return this.isOpen && this.journal?.isFull === false;
  }

  /** Whether what has happened may not be told yet. */
  get isAhead(): boolean {
    return this.journal === undefined || this.journal.isAhead;
  }

  /** Whether what is so now may be told at once; where it may not, it is looked at again at the end of each turn. */
  mayTell(): boolean {
    this.check();
    if (this.isOver && this.host.core.state.pending > 0) throw new ClosedError({ kept: true });
    this.begun();
    this.host.dispatchSoon();
    return !this.isAhead;
  }

  /** Brings back what was kept; the first time only. Rejects when that is not possible. */
  start(): Promise<void> {
    if (this.starting === undefined) {
      this.starting = this.open();
      // Whoever adds is told in another way.
      this.starting.catch(() => undefined);
    }
    return this.starting;
  }

  /** Something was set: it is done again once everything is back. */
  heed(request: Request): void {
    if (this.journal === undefined) this.early.push(request);
  }

  /** Refuses whatever would change something once nothing can be kept any more. */
  check(): void {
    if (this.failure !== undefined) throw this.failure;
  }

  /** Comes to be when everything that has happened by now is kept. */
  afterwards(effect: Effect): void {
    if (this.journal !== undefined) this.journal.afterwards(effect);
    else if (this.failure !== undefined) effect(this.failure);
    else this.earlyEffects.push(effect);
  }

  /** Begins when everything that has happened by now is kept. */
  begin(work: () => void): void {
    this.afterwards((failure) => {
      if (failure === undefined) work();
    });
  }

  /** It is used, which starts it. */
  begun(): void {
    void this.start().catch(() => undefined);
  }

  /** Resolves to the value when everything that has happened by now is kept. */
  async kept<Value>(value: Value): Promise<Value> {
    await new Promise<void>((resolve, reject) => {
      this.afterwards((failure) => {
        if (failure === undefined) resolve();
        else reject(failure);
      });
    });
    return value;
  }

  /** Resolves when everything that has happened by now is kept: the same promise for all that happens in a turn. */
  get acceptance(): Promise<void> {
    return (this.journal as Journal).acceptance;
  }

  /** Whether the end of a task may be told; if it never may, why. */
  verdictOn(task: Task): Verdict {
    return this.verdicts.on(task, this.journal?.hasUnkeptEnd(task) === true);
  }

  /** An outcome as the store will have it. */
  outcome(attempt: Attempt, outcome: Outcome): Outcome {
    return this.verdicts.outcome(attempt, outcome);
  }

  /** Nothing more starts in this process: what has not begun stays in the store, and whoever waits for it is told. */
  part(): void {
    this.verdicts.gives = 'up';
    this.rejectUnfinished();
  }

  /** What runs is aborted: that costs it nothing, so that it is given back and goes again after the next start. */
  giveBack(): void {
    this.verdicts.gives = 'back';
  }

  readonly note = (fact: Fact): void => this.journal?.note(fact);

  /** The end of a turn. */
  readonly seal = (): void => this.journal?.seal();

  taskOf(id: string): Task | undefined {
    return this.host.core.state.table.byId(id);
  }

  dispatchSoon(): void {
    this.host.dispatchSoon();
  }

  readonly sealed = (sequence: number): void => this.snapshots?.sealed(sequence);

  appended(sequence: number, facts: number, bytes: number): void {
    this.sequence = sequence;
    this.snapshots?.appended(facts, bytes);
  }

  async between(): Promise<void> {
    await this.snapshots?.compact().catch(unlessFull);
  }

  stuck(error: SchedulerError): void {
    this.host.events.tellAtOnce('error', { error, eventName: undefined });
  }

  failed(error: SchedulerError): void {
    if (this.failure !== undefined || this.isOver) return;
    this.verdicts.failure = error;
    this.journal?.fail(error);
    this.snapshots?.stop();
    for (const effect of this.earlyEffects.splice(0)) effect(error);
    this.host.broken(error);
    this.rejectUnfinished();
    this.host.events.tellAtOnce('error', { error, eventName: undefined });
    void this.release();
  }

  /** A type has been defined: what has waited for that may start. */
  defined(): void {
    if (!this.isOpen) return;
    withhold(this.host.core, this.host.definitions);
    this.host.dispatchSoon();
  }

  /** Nobody will wait for these in this process any more; where they are kept, they go on in another. */
  rejectUnfinished(): void {
    for (const task of this.host.core.state.table.all()) handleOf(task)?.settle();
  }

  /** Resolves when it is open, has failed, or was never used. */
  async ready(): Promise<void> {
    await this.starting?.catch(() => undefined);
  }

  /** The end: everything is kept, with a last snapshot, so that the next start need not replay anything. */
  async close(): Promise<void> {
    await this.ready();
    const { journal, snapshots } = this;
    await journal?.rest();
    if (this.isOpen) {
      try {
        await snapshots?.finish();
        // Something may have been steered while the one before was made.
        let last: Promise<void> | undefined;
        await journal?.rest(() => {
          last = snapshots?.saveLast(this.sequence);
        });
        await last?.catch(unlessFull);
      } catch (error) {
        this.failed(storeFailure('close', error));
      }
    }
    this.verdicts.gives = 'everything';
    this.rejectUnfinished();
    await this.release();
  }

  private async release(): Promise<void> {
    if (this.epoch === 0) return;
    try {
      // Where the store has another owner by now, it stays open for them.
      await this.store.close(this.epoch);
    } catch {
      // What counts is kept, or was told to be lost; whoever opens it next finds out what is there.
    }
  }

  private async open(): Promise<void> {
    const { host } = this;
    const beginning = new Beginning(this.store, this.options, this.payloads, host);
    try {
      ({ epoch: this.epoch, sequence: this.sequence } = await this.store.open());
      await beginning.load();
      this.openJournal();
      beginning.goOn(this.clock, this.epoch, (note) => this.journal?.add(JSON.stringify(note)));
      // On an empty store they are part of how everything begins.
      if (!beginning.hasHistory) this.early.length = 0;
      for (const request of this.early) host.core.handle({ ...request, now: this.clock.now() });
    } catch (error) {
      const failure = storeFailure('be opened', error);
      this.failed(failure);
      throw failure;
    }
    const missing = withhold(host.core, host.definitions);
    for (const error of missing) host.events.tell('error', { error, eventName: undefined });
    host.opened();
    host.dispatchSoon();
    await this.kept(undefined);
  }

  private openJournal(): void {
    const { store, epoch, sequence, host } = this;
    this.snapshots = new Snapshots(store, epoch, host.core, this.every, (error) => {
      this.failed(storeFailure('save a snapshot', error));
    });
    this.journal = new Journal(store, epoch, sequence, MAX_UNWRITTEN_BYTES, this);
    for (const effect of this.earlyEffects.splice(0)) this.journal.afterwards(effect);
  }
}

/** Letting go may take space before it gives any: what is let go then is let go after the next snapshot. */
function unlessFull(error: unknown): void {
  if (!isFull(error)) throw error;
}
