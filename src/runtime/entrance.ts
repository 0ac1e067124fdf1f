import type { Core, DependencyInput, Explanation, Origin } from '../core/index.js';
import { CancelledError, ClosedError, SaturatedError, refuseConfig, type TaskSpec } from '../model/index.js';
import type { Handle } from './handle.js';

/** A task that asks to be let in. */
export interface Application {
  readonly handle: Handle<unknown>;
  readonly spec: TaskSpec;
  /** The tasks to come after; a number is a position among those that come in together. */
  readonly after: readonly DependencyInput[];
}

/** What the entrance needs of its scheduler. */
export interface EntranceHost {
  readonly core: Core;
  /** With a store: whether anybody may come in now. */
  readonly keeping: { readonly letsIn: boolean; begun(): void } | undefined;
  /** Takes them in, all or none; turned away, their handles say so. */
  letIn(applications: readonly Application[], origin?: Origin): void;
  turnAway(applications: readonly Application[], error: Error): void;
}

/**
 * Where tasks come in when there is a bound on how many may be pending. With `wait` they stand in line: the first is let
 * in as soon as there is room for all it brings, and nobody overtakes.
 */
export class Entrance {
  /** Each comes in whole or not at all. */
  private line: (readonly Application[])[] = [];
  /** Those before it are in: cutting them off each time would cost as much as there are behind. */
  private head = 0;
  /** Tasks in the line. */
  private waiting = 0;

  constructor(
    private readonly host: EntranceHost,
    private readonly maxWaiting: number,
  ) {}

  /** How many tasks wait to be let in. */
  get size(): number {
    return this.waiting;
  }

  /** Whether there is nothing to wait for here: nobody does, and no bound. */
  get isFree(): boolean {
    return this.waiting === 0 && this.isOpen && this.host.core.state.pressure.maxPending === Infinity;
  }

  private get isOpen(): boolean {
    return this.host.keeping?.letsIn !== false;
  }

  /** Lets tasks in, lets them wait, or turns them away: then their handles say so, and nothing is thrown. */
  apply(applications: readonly Application[]): void {
    if (this.mustWait(applications.length)) this.queue(applications);
    else this.host.letIn(applications);
  }

  /** Lets in whoever there is room for, in order. */
  letIn(): void {
    if (this.waiting === 0) return;
    for (let next = this.line[this.head]; next !== undefined; next = this.line[this.head]) {
      if (!this.isOpen || (this.waitsForRoom && !this.hasRoom(next.length))) break;
      this.take(next, 'outside');
    }
    this.cutOff();
  }

  /**
   * Lets in a task above the bound, as a child would be, and whoever stands before it: a running task waits for it, and may
   * be what fills the room.
   */
  letInAbove(task: Handle<unknown>): void {
    const last = this.line.findIndex((each, at) => at >= this.head && each.some(({ handle }) => handle === task));
    for (let next = this.line[this.head]; this.head <= last && next !== undefined; next = this.line[this.head]) {
      if (!this.isOpen) break;
      this.take(next, 'child');
    }
    this.cutOff();
  }

  private take(first: readonly Application[], origin: Origin): void {
    this.head += 1;
    this.waiting -= first.length;
    this.host.letIn(first, origin);
  }

  private cutOff(): void {
    if (2 * this.head >= this.line.length) this.replaceLine(this.line.slice(this.head));
  }

  /** Takes back a task that waits to be let in, and whoever would come in with it; `false` when it does not wait. */
  cancel(task: Handle<unknown> | string, reason: string | undefined): boolean {
    const line = this.line.slice(this.head);
    const meant = line.find((each) => each.some(({ handle }) => handle === task || handle.id === task));
    if (meant === undefined) return false;
    this.replaceLine(line.filter((each) => each !== meant));
    this.waiting -= meant.length;
    for (const each of meant) {
      this.host.turnAway([each], new CancelledError({ taskId: each.handle.id, reason }));
    }
    return true;
  }

  /** Takes back all that wait to be let in, and says how many that were. */
  cancelAll(reason: string): number {
    const line = this.takeLine();
    for (const each of line) this.host.turnAway([each], new CancelledError({ taskId: each.handle.id, reason }));
    return line.length;
  }

  /** Nobody comes in any more. */
  close(): void {
    for (const each of this.takeLine()) this.host.turnAway([each], new ClosedError({ taskId: each.handle.id }));
  }

  /** Nobody comes in any more, for this reason. */
  fail(error: Error): void {
    this.host.turnAway(this.takeLine(), error);
  }

  private takeLine(): readonly Application[] {
    const line = this.line.slice(this.head).flat();
    this.replaceLine([]);
    this.waiting = 0;
    return line;
  }

  /** Why a task that waits to be let in does not run. */
  explain(id: string): Explanation | undefined {
    const waiting = this.line.slice(this.head).flat();
    const at = waiting.findIndex(({ handle }) => handle.id === id);
    if (at < 0) return undefined;
    const { pressure, unstarted: pending } = this.host.core.state;
    return { task: id, kind: 'outside', position: at + 1, of: this.waiting, pending, maxPending: pressure.maxPending };
  }

  private replaceLine(line: (readonly Application[])[]): void {
    this.line = line;
    this.head = 0;
  }

  private queue(applications: readonly Application[]): void {
    const { length: adding } = applications;
    const { pressure, unstarted: pending } = this.host.core.state;
    const { maxPending } = pressure;
    const { waiting } = this;
    if (adding > maxPending || waiting + adding > this.maxWaiting) {
      this.host.turnAway(applications, new SaturatedError({ pending, maxPending, adding, waiting }));
      return;
    }
    this.host.keeping?.begun();
    this.line.push(applications);
    this.waiting += adding;
    for (const { handle, spec } of applications) handle.stayOutside(spec.id);
  }

  private mustWait(count: number): boolean {
    return this.waiting > 0 || !this.isOpen || (this.waitsForRoom && !this.hasRoom(count));
  }

  private get waitsForRoom(): boolean {
    return this.host.core.state.pressure.whenFull === 'wait';
  }

  private hasRoom(count: number): boolean {
    const { pressure, unstarted } = this.host.core.state;
    return unstarted + count <= pressure.maxPending;
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
