import { refuseConfig } from '../model/index.js';

/** What may be said about waiting. */
export interface WaitOptions {
  /** Ends the wait: it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Begins to wait: calls one of both when it is over, and returns how to leave before. */
type Begin<Value> = (resolve: (value: Value) => void, reject: (error: Error) => void) => () => void;

/** A promise that a signal can end; whoever has aborted already does not begin to wait. */
export function abortable<Value>(options: WaitOptions | undefined, begin: Begin<Value>): Promise<Value> {
  const signal = signalOf(options);
  return new Promise((resolve, reject) => {
    let leave = (): void => undefined;
    const abort = (): void => {
      leave();
      // The reason is the caller's own, and may be anything.
      reject(signal?.reason as Error);
    };
    if (signal?.aborted === true) {
      abort();
      return;
    }
    signal?.addEventListener('abort', abort, { once: true });
    const stopListening = (): void => {
      signal?.removeEventListener('abort', abort);
    };
    leave = begin(
      (value) => {
        stopListening();
        resolve(value);
      },
      (error) => {
        stopListening();
        reject(error);
      },
    );
  });
}

function signalOf(options: WaitOptions | undefined): AbortSignal | undefined {
  const given: unknown = options;
  if (given === undefined) return undefined;
  if (typeof given !== 'object' || given === null)
    return refuseConfig('options', given, 'an object such as { signal }');
  const { signal } = given as { readonly signal?: unknown };
  if (signal === undefined || signal instanceof AbortSignal) return signal;
  return refuseConfig('signal', signal, 'an AbortSignal');
}
