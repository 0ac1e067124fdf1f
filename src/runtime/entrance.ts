import type { Core, Explanation } from '../core/index.js';
import {
  CancelledError,
  ClosedError,
  SaturatedError,
  SchedulerError,
  refuseConfig,
  type TaskSpec,
} from '../model/index.js';
import type { Handle } from './handle.js';

/** Those who come in together or not at all. */
interface Applicant {
  readonly handles: readonly Handle<unknown>[];
  /** Takes them in; throws what they are refused with. */
  readonly enter: () => void;
}

/**
 * Where tasks come in when there is a bound on how many may be pending. With `wait` they stand in line: the first is let
 * in as soon as there is room for all it brings, and nobody overtakes.
 */
export class Entrance {
  private line: Applicant[] = [];
  /** Those before it are in: cutting them off each time would cost as much as there are behind. */
  private head = 0;
  /** Tasks in the line: an applicant may bring several. */
  private waiting = 0;
  private named = 0;

  constructor(
    private readonly core: Core,
    private readonly maxWaiting: number,
  ) {}

  /** How many tasks wait to be let in. */
  get size(): number {
    return this.waiting;
  }

  /**
   * Lets the task in, lets it wait, or turns it away: then its handle says so, and nothing is thrown. One that waits
   * without an id of its own is given one, as its number is not known before it is in.
   */
  apply(handle: Handle<unknown>, spec: TaskSpec, enter: (spec: TaskSpec) => void): void {
    if (!this.mustWait(1)) {
      const pass = (): void => {
        enter(spec);
      };
      this.letPass({ handles: [handle], enter: pass }, () => spec.id ?? this.nextName());
      return;
    }
    const id = spec.id ?? this.nextName();
    const own = spec.id === undefined ? Object.freeze({ ...spec, id }) : spec;
    handle.stayOutside(id);
    const pass = (): void => {
      enter(own);
    };
    this.queue({ handles: [handle], enter: pass });
  }

  /** Lets in whoever there is room for, in order. */
  letIn(): void {
    if (this.waiting === 0) return;
    for (let next = this.line[this.head]; next !== undefined; next = this.line[this.head]) {
      if (!this.hasRoom(next.handles.length)) break;
      this.head += 1;
      this.waiting -= next.handles.length;
      this.letPass(next, () => '');
    }
    if (2 * this.head >= this.line.length) this.replaceLine(this.line.slice(this.head));
  }

  /** Takes back a task that waits to be let in, and whoever would come in with it; `false` when it does not wait. */
  cancel(task: Handle<unknown> | string, reason: string | undefined): boolean {
    const line = this.line.slice(this.head);
    const applicant = line.find(({ handles }) => handles.some((each) => each === task || each.id === task));
    if (applicant === undefined) return false;
    this.replaceLine(line.filter((each) => each !== applicant));
    this.waiting -= applicant.handles.length;
    for (const handle of applicant.handles) handle.turnAway(new CancelledError({ taskId: handle.id, reason }));
    return true;
  }

  /** Nobody comes in any more. */
  close(): void {
    const line = this.line.slice(this.head);
    this.replaceLine([]);
    this.waiting = 0;
    for (const handle of line.flatMap(({ handles }) => handles)) {
      handle.turnAway(new ClosedError({ taskId: handle.id }));
    }
  }

  /** Why a task that waits to be let in does not run. */
  explain(id: string): Explanation | undefined {
    const waiting = this.line.slice(this.head);
    const at = waiting.flatMap(({ handles }) => handles).findIndex((handle) => handle.id === id);
    if (at < 0) return undefined;
    const { pressure, unstarted: pending } = this.core.state;
    return { task: id, kind: 'outside', position: at + 1, of: this.waiting, pending, maxPending: pressure.maxPending };
  }

  private replaceLine(line: Applicant[]): void {
    this.line = line;
    this.head = 0;
  }

  private queue(applicant: Applicant): void {
    const { length } = applicant.handles;
    const { pressure, unstarted: pending } = this.core.state;
    if (this.waiting + length <= this.maxWaiting) {
      this.line.push(applicant);
      this.waiting += length;
      return;
    }
    const error = new SaturatedError({
      pending,
      maxPending: pressure.maxPending,
      adding: length,
      waiting: this.waiting,
    });
    for (const handle of applicant.handles) handle.turnAway(error);
  }

  private letPass(applicant: Applicant, idOf: () => string): void {
    try {
      applicant.enter();
      for (const handle of applicant.handles) handle.comeIn();
    } catch (error) {
      if (!(error instanceof SchedulerError)) throw error;
      for (const handle of applicant.handles) {
        if (!handle.isOutside) handle.stayOutside(idOf());
        handle.turnAway(error);
      }
    }
  }

  private mustWait(count: number): boolean {
    return this.core.state.pressure.whenFull === 'wait' && (this.waiting > 0 || !this.hasRoom(count));
  }

  private hasRoom(count: number): boolean {
    const { pressure, unstarted } = this.core.state;
    return unstarted + count <= pressure.maxPending;
  }

  private nextName(): string {
    do this.named += 1;
    while (this.core.state.table.byId(`added-${this.named}`) !== undefined);
    return `added-${this.named}`;
  }
}

/** How many tasks may wait to be let in: as many as may be pending, unless said otherwise. */
export function maxWaitingOf(maxWaiting: unknown, maxPending: number): number {
  if (maxWaiting === undefined) return maxPending;
  if (maxWaiting === Infinity || (Number.isSafeInteger(maxWaiting) && (maxWaiting as number) >= 0)) {
    return maxWaiting as number;
  }
  return refuseConfig('maxWaiting', maxWaiting, 'a whole number of at least 0, or Infinity');
}
