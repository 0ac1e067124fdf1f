/** What comes of the work, done at once, as a promise: what it throws is a rejection. */
export function promised<Value>(work: () => Value | PromiseLike<Value>): Promise<Value> {
  return new Promise((resolve) => {
    resolve(work());
  });
}
