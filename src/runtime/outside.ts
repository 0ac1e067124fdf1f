import { CancelledError, UnknownTaskError, parseLevel, type Priority, type TaskState } from '../model/index.js';

const ignore = (): void => undefined;

/** What is known of a task that is not in the scheduler: it waits to be let in, or was turned away. */
export class Outside {
  /** Why it will never be in. */
  error: Error | undefined = undefined;
  /** How urgent it is to be when it comes in, where somebody has changed that meanwhile. */
  level: number | undefined = undefined;
  private promise: Promise<void> | undefined = undefined;
  private settle:
    { resolve: (acceptance: Promise<void> | undefined) => void; reject: (error: Error) => void } | undefined =
    undefined;

  constructor(
    /** The user's own id, or the one that somebody has asked for before its number was known. */
    public named: string | undefined,
    private readonly makeName: () => string,
  ) {}

  get id(): string {
    return this.takeName();
  }

  /** Has an id from now on. */
  takeName(): string {
    this.named ??= this.makeName();
    return this.named;
  }

  get state(): TaskState {
    if (this.error === undefined) return 'waiting';
    return this.error instanceof CancelledError ? 'cancelled' : 'failed';
  }

  /** Resolves when the task is in; rejects when it was turned away, without ending the process if nobody listens. */
  get accepted(): Promise<void> {
    if (this.promise === undefined) {
      this.promise = new Promise((resolve, reject) => {
        this.settle = { resolve, reject };
      });
      this.promise.catch(ignore);
      if (this.error !== undefined) this.turnAway(this.error);
    }
    return this.promise;
  }

  /** It comes in as urgent as that; one that was turned away never does. */
  setPriority(priority: Priority): void {
    if (this.error !== undefined) throw new UnknownTaskError({ taskId: this.id });
    this.level = parseLevel(priority);
  }

  comeIn(acceptance: Promise<void> | undefined): void {
    this.settle?.resolve(acceptance);
  }

  turnAway(error: Error): void {
    this.error = error;
    this.settle?.reject(error);
  }
}
