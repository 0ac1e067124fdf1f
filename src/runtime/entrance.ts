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

/** What is known of a task by now: while it waited it may have been named, or made more urgent or less. */
export function specNow({ handle, spec }: Application): TaskSpec {
  const { named: id = spec.id, level = spec.level } = handle.outside ?? NOWHERE;
  return id === spec.id && level === spec.level ? spec : Object.freeze({ ...spec, id, level });
}

/** What is known of one that never waited outside. */
const NOWHERE = { named: undefined, level: undefined };

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
  /** Each comes in whole or not at all. Those that do not stand any more are cut off now and then. */
  private line: (readonly Application[])[] = [];
  /** Nobody before it stands any more. */
  private head = 0;
  /** How many in the line do not stand any more: cutting them off each time would cost as much as there are. */
  private gone = 0;
  /** With whom each comes in that waits: taking one back must not cost as much as there are, either. */
  private readonly standing = new Map<Handle<unknown>, readonly Application[]>();

  constructor(
    private readonly host: EntranceHost,
    private readonly maxWaiting: number,
  ) {}

  /** How many tasks wait to be let in. */
  get size(): number {
    return this.standing.size;
  }

  /** Whether there is nothing to wait for here: nobody does, and no bound. */
  get isFree(): boolean {
    return this.size === 0 && this.isOpen && this.host.core.state.pressure.maxPending === Infinity;
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
    if (this.size === 0) return;
    for (let next = this.first; next !== undefined; next = this.first) {
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
    const last = this.standing.get(task);
    if (last === undefined) return;
    for (let next = this.first; next !== undefined && this.isOpen; next = this.first) {
      this.take(next, 'child');
      if (next === last) break;
    }
    this.cutOff();
  }

  /** Takes back a task that waits to be let in, and whoever would come in with it; `false` when it does not wait. */
  cancel(task: Handle<unknown> | string, reason: string | undefined): boolean {
    const handle = typeof task === 'string' ? this.named(task)?.handle : task;
    const meant = handle === undefined ? undefined : this.standing.get(handle);
    return meant !== undefined && this.takeBack([meant], reason) > 0;
  }

  /** Takes back those that wait and are meant, and whoever would come in with them; says how many that were. */
  cancelThose(isMeant: (application: Application) => boolean, reason: string | undefined): number {
    // All are asked about before anything changes: who is meant, the user says, and may do more than that.
    const meant = this.groups.filter((group) => group.some(isMeant));
    return this.takeBack(meant.filter(this.stands), reason);
  }

  /** Takes back all that wait to be let in, and says how many that were. */
  cancelAll(reason: string): number {
    return this.takeBack(this.groups, reason);
  }

  /** Nobody comes in any more. */
  close(): void {
    for (const each of this.takeLine()) this.host.turnAway([each], new ClosedError({ taskId: each.handle.id }));
  }

  /** Nobody comes in any more, for this reason. */
  fail(error: Error): void {
    this.host.turnAway(this.takeLine(), error);
  }

  /** The one that waits and has this id; looking for it names nobody. */
  named(id: string): Application | undefined {
    return this.size === 0 ? undefined : this.all.find(({ handle }) => handle.nameOutside === id);
  }

  /** Why a task that waits to be let in does not run. */
  explain(id: string): Explanation | undefined {
    const { all } = this;
    const at = all.findIndex(({ handle }) => handle.nameOutside === id);
    if (at < 0) return undefined;
    const { pressure, unstarted: pending } = this.host.core.state;
    return { task: id, kind: 'outside', position: at + 1, of: all.length, pending, maxPending: pressure.maxPending };
  }

  /** All that wait, in their order. */
  private get all(): readonly Application[] {
    return this.groups.flat();
  }

  private get groups(): (readonly Application[])[] {
    return this.line.slice(this.head).filter(this.stands);
  }

  /** Who comes in next. */
  private get first(): readonly Application[] | undefined {
    const { line } = this;
    for (; this.head < line.length; this.head += 1) {
      const next = line[this.head] as readonly Application[];
      if (this.stands(next)) return next;
    }
    return undefined;
  }

  private readonly stands = (group: readonly Application[]): boolean => {
    return this.standing.has((group[0] as Application).handle);
  };

  private take(group: readonly Application[], origin: Origin): void {
    this.leave(group);
    this.host.letIn(group, origin);
  }

  private leave(group: readonly Application[]): void {
    for (const { handle } of group) this.standing.delete(handle);
    this.gone += 1;
  }

  private takeBack(groups: readonly (readonly Application[])[], reason: string | undefined): number {
    let count = 0;
    for (const group of groups) {
      this.leave(group);
      count += group.length;
      for (const each of group) this.host.turnAway([each], new CancelledError({ taskId: each.handle.id, reason }));
    }
    this.cutOff();
    return count;
  }

  private cutOff(): void {
    if (2 * this.gone < this.line.length) return;
    this.line = this.groups;
    this.head = 0;
    this.gone = 0;
  }

  private takeLine(): readonly Application[] {
    const { groups } = this;
    for (const group of groups) this.leave(group);
    this.cutOff();
    return groups.flat();
  }

  private queue(applications: readonly Application[]): void {
    const { length: adding } = applications;
    const { pressure, unstarted: pending } = this.host.core.state;
    const { maxPending } = pressure;
    const { size: waiting } = this;
    if (adding > maxPending || waiting + adding > this.maxWaiting) {
      this.host.turnAway(applications, new SaturatedError({ pending, maxPending, adding, waiting }));
      return;
    }
    this.host.keeping?.begun();
    this.line.push(applications);
    for (const { handle, spec } of applications) {
      this.standing.set(handle, applications);
      handle.stayOutside(spec.id);
    }
  }

  private mustWait(count: number): boolean {
    return this.size > 0 || !this.isOpen || (this.waitsForRoom && !this.hasRoom(count));
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
