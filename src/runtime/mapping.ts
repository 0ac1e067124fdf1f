import { CancelledError, isFinal, refuseTask, type TaskOptions } from '../model/index.js';
import type { AddOptions } from './add-options.js';
import type { DefinedHandler, Definition } from './definition.js';
import type { Handle, TaskContext } from './handle.js';
import type { Intake } from './intake.js';
import { reasonOf } from './signals.js';

/** Whatever can be read one by one. */
export type Source<Item> = Iterable<Item> | AsyncIterable<Item>;

/** What may be said about all tasks of a `map`, and how far it reads ahead. */
export interface MapOptions extends Omit<TaskOptions, 'id'>, Pick<AddOptions, 'signal'> {
  /** How many items may be taken from the source without their results being taken. */
  readonly ahead?: number | undefined;
}

const ignore = (): void => undefined;

/** Something that can be read; anything else is refused. */
export function checkSource<Item>(source: Source<Item>): Source<Item> {
  const given: unknown = source;
  const isText = typeof given === 'string';
  if (
    isText ||
    (typeof given === 'object' && given !== null && (Symbol.iterator in given || Symbol.asyncIterator in given))
  ) {
    return source;
  }
  return refuseTask('source', given, 'an iterable or an async iterable');
}

/** How far to read ahead: twice as many as run at a time, so that no slot waits for the source. */
export function parseAhead(ahead: unknown, concurrency: number): number {
  if (ahead === undefined) return Number.isFinite(concurrency) ? Math.max(2, 2 * concurrency) : 64;
  if (Number.isSafeInteger(ahead) && (ahead as number) > 0) return ahead as number;
  return refuseTask('ahead', ahead, 'a whole number of at least 1');
}

/** Makes a task of an item. What is malformed is refused before anything is read. */
export function itemAdder<Item, Result>(
  run: DefinedHandler<Item, Result> | Definition<Item, Result>,
  options: Omit<MapOptions, 'ahead'>,
  intake: Intake,
): (item: Item) => Handle<Result> {
  const id: unknown = (options as TaskOptions).id;
  if (id !== undefined) refuseTask('id', id, 'no id: each item has a task of its own');
  intake.check(run, options);
  // Which result it has is known to the types only.
  if (typeof run !== 'function') return (item) => intake.add(run, item, options) as Handle<Result>;
  return (item) => {
    const work = (task: TaskContext): unknown => run(item, task as TaskContext<readonly unknown[], Item>);
    return intake.add(work, options, undefined) as Handle<Result>;
  };
}

/**
 * Reads a source, makes a task of each item, and gives the results in the order of the items. It reads no further than
 * so many items ahead of the result that was taken last, and not before it is asked for the first.
 *
 * p-limit, which bounds functions that are all there already, would have to be given the whole source first.
 */
export class Mapping<Item, Result> {
  /** Tasks whose results are not taken yet, in order. */
  private readonly begun: Handle<Result>[] = [];
  private ending: 'open' | 'ended' | { readonly error: unknown } = 'open';
  /** Whether the source has said itself that nothing more comes, or has failed: then it need not be let go. */
  private isExhausted = false;
  private reading: Promise<void> | undefined = undefined;
  private readonly iterator: Iterator<Item> | AsyncIterator<Item>;

  constructor(
    source: Source<Item>,
    private readonly add: (item: Item) => Handle<Result>,
    private readonly ahead: number,
    private readonly signal: AbortSignal | undefined,
  ) {
    // A text is no object, and `in` would throw.
    this.iterator =
      typeof source !== 'string' && Symbol.asyncIterator in source
        ? source[Symbol.asyncIterator]()
        : (source as Iterable<Item>)[Symbol.iterator]();
  }

  async *results(): AsyncGenerator<Result, void, undefined> {
    const { signal } = this;
    if (signal?.aborted === true) this.abort();
    else signal?.addEventListener('abort', this.abort);
    try {
      for (;;) {
        this.read();
        // One item is enough to go on with: a source may be slow, and the first result there long before the next item.
        while (this.begun.length === 0 && this.reading !== undefined && this.ending === 'open') await this.more();
        const [first] = this.begun;
        if (first === undefined) break;
        const result = await first.result;
        this.begun.shift();
        yield result;
      }
      if (typeof this.ending === 'object') throw this.ending.error;
    } finally {
      signal?.removeEventListener('abort', this.abort);
      await this.stop();
    }
  }

  /** Resolves when something was read. */
  private next: Promise<void> = Promise.resolve();
  private wake: (() => void) | undefined = undefined;

  /** Resolves when something was read, or nothing more will be: a source may be silent for ever. */
  private more(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
      void this.next.then(resolve);
    });
  }

  /** The tasks that there are take themselves back. */
  private readonly abort = (): void => {
    const reason = reasonOf(this.signal as AbortSignal);
    if (this.ending === 'open') this.ending = { error: new CancelledError({ taskId: '', reason }) };
    this.wake?.();
  };

  private read(): void {
    if (this.reading !== undefined || this.ending !== 'open') return;
    this.reading = this.readOn().finally(() => {
      this.reading = undefined;
    });
  }

  private async readOn(): Promise<void> {
    while (this.ending === 'open' && this.begun.length < this.ahead) {
      const one = this.readOne();
      this.next = one;
      await one;
    }
  }

  private async readOne(): Promise<void> {
    try {
      const next = await this.take();
      if (this.ending !== 'open') return;
      if (next.done === true) {
        this.ending = 'ended';
        return;
      }
      const handle = this.add(next.value);
      this.begun.push(handle);
      // With a bound on pending tasks the next item is read when this one is in.
      await handle.accepted.catch(ignore);
    } catch (error) {
      this.ending = { error };
    }
  }

  private async take(): Promise<IteratorResult<Item>> {
    try {
      const next = await this.iterator.next();
      this.isExhausted = next.done === true;
      return next;
    } catch (error) {
      this.isExhausted = true;
      throw error;
    }
  }

  /** Takes back what nobody will ask for, and lets the source go. */
  private async stop(): Promise<void> {
    this.ending = 'ended';
    for (const handle of this.begun) {
      if (!isFinal(handle.state)) handle.cancel('nobody reads the results any more');
    }
    if (this.isExhausted) return;
    const isGone = this.letGo();
    // A source that was asked for the next item may be silent for long, or for ever, and a generator ends only after that.
    if (this.reading === undefined) await isGone;
    else isGone.catch(ignore);
  }

  private async letGo(): Promise<void> {
    await this.iterator.return?.();
  }
}
