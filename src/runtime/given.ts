/**
 * What a handler may give: a result, a promise of one, or an async generator. That gives way at a `yield` once its slice is
 * used up and somebody as urgent waits, and goes on from there later; what it returns is the result.
 */
export type Given<Result> = Result | PromiseLike<Result> | Steps<Result>;

/** What an `async function*` gives, said so that nothing else that can be iterated is taken for it. */
export interface Steps<Result> {
  /** Goes on to the next yield, or to the end. */
  next(): Promise<IteratorResult<unknown, Result>>;
  /** Ends where it is. */
  return(value: never): Promise<IteratorResult<unknown, Result>>;
  /** Fails where it is. */
  throw(error: unknown): Promise<IteratorResult<unknown, Result>>;
  /** Itself. */
  [Symbol.asyncIterator](): AsyncIterator<unknown, unknown, unknown>;
}
