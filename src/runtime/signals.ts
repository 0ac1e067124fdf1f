import { SchedulerError, isFinal, recordError } from '../model/index.js';
import { Handle, type Handler, type HandleHost } from './handle.js';

/** The signals that tasks were added with: aborting one takes back all its tasks that are unfinished. */
export class CancelSignals {
  /** One listener for each signal, as removing one of many costs as much as there are. */
  private readonly listening = new Map<
    AbortSignal,
    { readonly handles: Set<Handle<unknown>>; readonly abort: () => void }
  >();

  /** From now on aborting the signal takes the task back. */
  listen(signal: AbortSignal, handle: Handle<unknown>): void {
    const known = this.listening.get(signal);
    if (known !== undefined) {
      known.handles.add(handle);
      return;
    }
    const handles = new Set([handle]);
    const abort = (): void => {
      for (const each of [...handles]) takeBack(each, reasonOf(signal));
    };
    this.listening.set(signal, { handles, abort });
    signal.addEventListener('abort', abort);
  }

  /** The task has ended. */
  leave(signal: AbortSignal, handle: Handle<unknown>): void {
    const known = this.listening.get(signal);
    known?.handles.delete(handle);
    if (known?.handles.size !== 0) return;
    signal.removeEventListener('abort', known.abort);
    this.listening.delete(signal);
  }
}

/** Where nothing can be taken back any more, its handle says why: what a listener throws would end the process. */
function takeBack(handle: Handle<unknown>, reason: string): void {
  try {
    handle.cancel(reason);
  } catch (error) {
    if (!(error instanceof SchedulerError)) throw error;
  }
}

/** What an abort says, as the reason of a cancellation. */
export function reasonOf(signal: AbortSignal): string {
  return recordError(signal.reason).message;
}

/** A task that its caller's signal takes back; what it heard with is let go of at its end. */
export class SignalledHandle<Result> extends Handle<Result> {
  constructor(
    host: HandleHost,
    run: Handler<Result>,
    private readonly signal: AbortSignal,
    private readonly signals: CancelSignals,
  ) {
    super(host, run);
    signals.listen(signal, this);
  }

  override follow(other: Handle<Result>): void {
    super.follow(other);
    const leave = (): void => {
      this.signals.leave(this.signal, this);
    };
    other.result.then(leave, leave);
  }

  override settle(): void {
    super.settle();
    if (isFinal(this.state)) this.signals.leave(this.signal, this);
  }
}
