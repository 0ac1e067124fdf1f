/** A mistake of the scheduler itself, never of its caller: a condition that cannot be false was false. */
export class InvariantError extends Error {
  static {
    InvariantError.prototype.name = 'InvariantError';
  }

  readonly code = 'INVARIANT';

  constructor(message: string) {
    super(`${message} This is a bug in precedence; please report it.`);
  }
}

/** Stops at once when a condition that must hold does not; stays on in production, so conditions must be cheap. */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}
