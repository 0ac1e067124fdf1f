import type { Belonging, Core, DependencyInput, Origin } from '../core/index.js';
import { ClosedError, SchedulerError, type Moment, type Task, type TaskSpec } from '../model/index.js';
import { forgottenIn } from './after.js';
import { checkDependencies, checkShared } from './durable.js';
import { Entrance, maxWaitingOf, specNow, type Application, type EntranceHost } from './entrance.js';
import type { Events } from './events.js';
import type { Handle, HandleHost } from './handle.js';
import type { Keeping } from './keeping.js';
import type { Payload } from './payload.js';
import { handleFor, handleIn } from './recovered-task.js';

const NO_GAPS: readonly number[] = [];
const NOBODY: ReadonlySet<string | undefined> = new Set();

/** What arrivals need of their scheduler. */
export interface ArrivalsHost extends HandleHost {
  readonly core: Core;
  readonly events: Events;
  readonly isClosing: boolean;
  readonly keeping: Keeping | undefined;
  now(): Moment;
  /** Something may be able to start now. */
  dispatchSoon(): void;
}

/** How tasks get into the core: at once, or through the entrance where there is a bound; or how they are turned away. */
export class Arrivals implements EntranceHost {
  /** Only where there is a bound, or a store, for which one may have to wait: otherwise everybody comes in. */
  readonly entrance: Entrance | undefined;
  private names = 0;

  constructor(
    private readonly host: ArrivalsHost,
    maxWaiting: unknown,
  ) {
    const { maxPending } = host.core.state.pressure;
    const most = maxWaitingOf(maxWaiting, maxPending);
    const isOpen = maxPending === Infinity && host.keeping === undefined;
    this.entrance = isOpen ? undefined : new Entrance(this, most);
  }

  get core(): Core {
    return this.host.core;
  }

  get keeping(): Keeping | undefined {
    return this.host.keeping;
  }

  /** Takes a task in, lets it wait to be let in, or turns it away: what depends on the state is never thrown. */
  take(handle: Handle<unknown>, spec: TaskSpec, after: readonly DependencyInput[], belonging?: Belonging): void {
    const { host } = this;
    // A child of a running task does not stand in line: whoever waits for it might be in its way.
    const isBarred = belonging === undefined ? this.entrance?.isFree === false : host.keeping?.failure !== undefined;
    if (host.isClosing || isBarred) {
      this.takeAll([{ handle, spec, after }]);
      return;
    }
    try {
      if (after.length > 0) this.noteGaps(handle, after);
      this.checkKept(spec, after);
      const task = host.core.submit(host.now(), spec, handle, after, belonging);
      this.passOn();
      this.letCome(handle, task);
      host.dispatchSoon();
    } catch (error) {
      if (spec.id === undefined && error instanceof SchedulerError)
        this.take(handle, this.named(spec), after, belonging);
      else this.turnAway([{ handle, spec, after }], error);
    }
  }

  /**
   * What has no id is refused by a number that the next task will have. It is asked for once more by a name that nobody else
   * gets, so that error, event and handle all tell the same.
   */
  private named(spec: TaskSpec): TaskSpec {
    return Object.freeze({ ...spec, id: this.nextName() });
  }

  /** Names those that have no id, for the same reason; `false` when all have one. */
  private nameAll(applications: readonly Application[]): boolean {
    const unnamed = applications.filter(({ handle, spec }) => (spec.id ?? handle.nameOutside) === undefined);
    for (const { handle } of unnamed) handle.stayOutside(undefined).takeName();
    return unnamed.length > 0;
  }

  /** The same for several, which come in together or not at all. */
  takeAll(applications: readonly Application[]): void {
    const failure = this.host.keeping?.failure;
    if (failure !== undefined) this.turnAway(applications, failure);
    else if (this.host.isClosing) this.turnAway(applications, new ClosedError({}));
    else if (this.entrance === undefined) this.letIn(applications);
    else this.entrance.apply(applications);
  }

  letIn(applications: readonly Application[], origin?: Origin): void {
    const { host } = this;
    try {
      const submissions = applications.map((each) => ({
        spec: specNow(each),
        payload: each.handle,
        after: each.after,
      }));
      const together = new Set(submissions.map(({ spec }) => spec.id));
      for (const { handle, after } of applications) this.noteGaps(handle, after, together);
      for (const { spec, after } of submissions) this.checkKept(spec, after, submissions);
      const tasks = host.core.submitAll(host.now(), submissions, origin);
      this.passOn();
      for (const [position, { handle }] of applications.entries()) this.letCome(handle, tasks[position] as Task);
      host.dispatchSoon();
    } catch (error) {
      if (error instanceof SchedulerError && this.nameAll(applications)) this.letIn(applications, origin);
      else this.turnAway(applications, error);
    }
  }

  /** Before anything starts: whoever waits for a call whose work is not done any more waits for the one in its place. */
  private passOn(): void {
    const { renewed } = this.host.core.outbox;
    if (renewed.length === 0) return;
    for (const { before, after } of renewed.splice(0)) {
      const [done, brought] = [before as Payload, after as Handle<unknown>];
      // It comes after the same tasks as the call before.
      if (done.gaps !== brought.gaps) brought.gaps = done.gaps ?? NO_GAPS;
      handleIn(done)?.follow(brought);
    }
  }

  /** The task is in; one that was there already is shared with whoever has added it. */
  private letCome(handle: Handle<unknown>, task: Task): void {
    handle.comeIn(task, this.host.keeping?.acceptance);
    if (task.payload !== handle) handle.follow(handleFor(task, this.host));
  }

  /** What is refused because of the state: its handle tells. */
  turnAway(applications: readonly Application[], error: unknown): void {
    if (!(error instanceof SchedulerError)) throw error;
    for (const { handle, spec } of applications) {
      handle.turnAway(error, spec.id);
      this.tellRefused(handle.id, spec, error);
    }
  }

  private tellRefused(taskId: string, { channel, level: priority, rare }: TaskSpec, error: Error): void {
    const { events } = this.host;
    if (!events.isHeard('refused')) return;
    const at = this.host.now().wall;
    const about = { taskId, attempt: undefined, channel, priority, workerId: undefined, at, error };
    const metadata = rare?.metadata;
    events.tell('refused', metadata === undefined ? about : { ...about, metadata });
  }

  /** Takes back a task that waits to be let in; whoever stands behind it may have room then. */
  cancel(task: Handle<unknown> | string, reason: string | undefined): boolean {
    this.host.dispatchSoon();
    return this.entrance?.cancel(task, reason) === true;
  }

  /** An id for a task that is not in. Before a store has told what it holds, it must be one that no process before has given. */
  nextName(): string {
    const { core, keeping } = this.host;
    const prefix = keeping === undefined || keeping.isOpen ? 'added' : `added-${this.host.now().wall.toString(36)}`;
    let name: string;
    do name = `${prefix}-${(this.names += 1)}`;
    while (core.state.table.byId(name) !== undefined);
    return name;
  }

  private checkKept(
    spec: TaskSpec,
    after: readonly DependencyInput[],
    together: readonly { readonly spec: TaskSpec }[] = [],
  ): void {
    const { keeping, core } = this.host;
    if (keeping === undefined) return;
    if (spec.rare !== undefined) checkShared(spec, this.sharedBy(spec, together));
    if (after.length === 0) return;
    checkDependencies(spec, after, (ref) => {
      if (typeof ref === 'number') return together[ref]?.spec;
      if (typeof ref !== 'string') return ref.spec;
      return together.find(({ spec }) => spec.id === ref)?.spec ?? core.state.table.byId(ref)?.spec;
    });
  }

  /** What the task is like that the call is to share with others, where there is one already. */
  private sharedBy(spec: TaskSpec, together: readonly { readonly spec: TaskSpec }[]): TaskSpec | undefined {
    const { id, type, rare } = spec;
    const { table, keys } = this.host.core.state;
    const key = rare?.key;
    const others = together.map((each) => each.spec);
    if (key !== undefined) {
      return keys.taskFor(spec)?.spec ?? others.find((other) => other.rare?.key === key && other.type === type);
    }
    if (id === undefined || rare?.ifExists !== 'keep') return undefined;
    return table.byId(id)?.spec ?? others.find((other) => other.id === id);
  }

  private noteGaps(
    handle: Handle<unknown>,
    after: readonly DependencyInput[],
    together: ReadonlySet<string | undefined> = NOBODY,
  ): void {
    const { table } = this.host.core.state;
    const gaps = forgottenIn(after, (id) => table.byId(id) !== undefined || together.has(id));
    if (gaps.length > 0) handle.gaps = gaps;
  }
}
