import { CancelledError, refuseTask, type SchedulerError } from '../model/index.js';
import type { Arrivals } from './arrivals.js';
import type { Application } from './entrance.js';
import type { Handle } from './handle.js';

/** Makes a task of the arguments of `add`. */
type Prepare = (
  run: unknown,
  second: unknown,
  third: unknown,
  positions: ReadonlyMap<unknown, number>,
) => { readonly application: Application; readonly refusal: SchedulerError | undefined };

/** Tasks that come in together or not at all, collected one by one. */
export class Batch {
  private readonly applications: Application[] = [];
  /** Where each stands that others of the batch may come after, by its handle or its key. */
  private readonly positions = new Map<unknown, number>();
  private refusal: SchedulerError | undefined = undefined;
  private isOver = false;

  constructor(
    private readonly prepare: Prepare,
    private readonly arrivals: Arrivals,
  ) {}

  /** Reserves the next positions for tasks that name each other by these keys. */
  expect(keys: readonly string[]): void {
    keys.forEach((key, position) => this.positions.set(key, position));
  }

  add(run: unknown, second?: unknown, third?: unknown): Handle<unknown> {
    if (this.isOver) refuseTask('batch', 'over', 'to be added to before the function of the batch returns');
    const { application, refusal } = this.prepare(run, second, third, this.positions);
    const { handle, spec } = application;
    this.positions.set(handle, this.applications.length);
    this.applications.push(application);
    this.refusal ??= refusal;
    handle.stayOutside(spec.id);
    return handle;
  }

  /** Lets them all in, lets them wait, or turns them away. */
  end(): void {
    this.isOver = true;
    const { applications, refusal } = this;
    if (refusal !== undefined) this.arrivals.turnAway(applications, refusal);
    else if (applications.length > 0) this.arrivals.takeAll(applications);
  }

  /** Nothing comes of it. */
  giveUp(): void {
    this.isOver = true;
    for (const each of this.applications) {
      const error = new CancelledError({ taskId: each.handle.id, reason: 'its batch was not finished' });
      this.arrivals.turnAway([each], error);
    }
  }
}
