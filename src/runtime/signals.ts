import { SchedulerError, isFinal, recordError } from '../model/index.js';
import { Handle, type Handler, type HandleHost } from './handle.js';

/** What can be taken back: a task, or a series. */
interface Cancellable {
  cancel(reason: string): unknown;
}

/** The signals that tasks and series came with: aborting one takes back all of them that are unfinished. */
export class CancelSignals {
  /** One listener for each signal, as removing one of many costs as much as there are. */
  private readonly listening = new Map<
    AbortSignal,
    { readonly handles: Set<Cancellable>; readonly abort: () => void }
  >();

  /** From now on aborting the signal takes it back. */
  listen(signal: AbortSignal, handle: Cancellable): void {
    const known = this.listening.get(signal);
    if (known !== undefined) {
      known.handles.add(handle);
      return;
    }
    const handles = new Set<Cancellable>([handle]);
    const abort = (): void => {
      for (const each of [...handles]) takeBack(each, reasonOf(signal));
    };
    this.listening.set(signal, { handles, abort });
    signal.addEventListener('abort', abort);
  }

  /** It has ended. */
  leave(signal: AbortSignal, handle: Cancellable): void {
    const known = this.listening.get(signal);
    known?.handles.delete(handle);
    if (known?.handles.size !== 0) return;
    signal.removeEventListener('abort', known.abort);
    this.listening.delete(signal);
  }
}

/** Where nothing can be taken back any more, its handle says why: what a listener throws would end the process. */
function takeBack(handle: Cancellable, reason: string): void {
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

  /** Run again, it is taken back again. */
  override renew(): void {
    super.renew();
    if (!isFinal(this.state) && !this.signal.aborted) this.signals.listen(this.signal, this);
  }

  override settle(): void {
    super.settle();
    if (isFinal(this.state)) this.signals.leave(this.signal, this);
  }
}
