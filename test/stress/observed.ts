import { SchedulerError, type Handle, type TaskContext } from '../../src/index.js';
import { isFinal } from '../../src/model/index.js';

/** A failure that a handler was told to have. */
export class Planned extends Error {}

/** What the handlers of a task know beside what they are given. */
export interface Told {
  readonly channel: string;
  readonly type: string;
  readonly gpu: number;
  readonly tokens: number;
  /** Those that must have completed. */
  readonly after: Set<Handle<unknown>>;
}

/** What is allowed at this moment. */
export interface Limits {
  global: number;
  gpu: number;
  perType: number;
  perChannel: number;
}

/** Begins the labels of promises that wait for handlers, which may ignore whatever they are told. */
export const HANDLERS = 'handler of ';

/** The rate at which tasks may start that cost tokens. */
export const RATE = { rate: 20, per: 1_000, burst: 5 };

interface Counted {
  readonly told: Told;
  readonly since: number;
  /** Whoever ran it may have lost it before it hears so. */
  readonly leased: boolean;
}

/** What can be seen from inside the handlers, and from those who wait for promises. */
export class Observed {
  readonly limits: Limits;
  /** Moment at which a limit was lowered last. */
  loweredAt = -Infinity;
  readonly problems: string[] = [];
  readonly seen = new Map<string, number>();
  private readonly open = new Map<object, string>();
  private readonly counted = new Map<string, Counted>();
  private readonly latest = new Map<string, readonly [sequence: number, attempt: number]>();
  private readonly tokens: { readonly at: number; readonly cost: number }[] = [];

  constructor(
    limits: Limits,
    private readonly now: () => number,
  ) {
    this.limits = { ...limits };
  }

  /** Counts that this has come to pass, so that a run that shows nothing is noticed. */
  note(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }

  problem(what: string): void {
    this.problems.push(what);
  }

  /** The promise is to settle before all is over, and if it rejects then with an error that says what it is. */
  track(label: string, promise: PromiseLike<unknown>): void {
    const key = {};
    this.open.set(key, label);
    promise.then(
      () => {
        this.open.delete(key);
      },
      (error: unknown) => {
        this.open.delete(key);
        this.note(error instanceof SchedulerError ? error.code : 'rejected');
        if (!isTold(error))
          this.problem(`${label} rejects with ${String(error)}\n${(error as Error | undefined)?.stack ?? ''}`);
      },
    );
  }

  /** What is awaited and has not settled; what goes on for as long as a handler does goes by another mark. */
  unsettled(): string[] {
    return [...this.open.values()].filter((label) => !label.startsWith(HANDLERS));
  }

  /** The same, and what goes on for as long as a handler does. */
  unsettledWithHandlers(): string[] {
    return [...this.open.values()];
  }

  /** An attempt has begun. */
  begin(task: TaskContext, told: Told, leased: boolean): void {
    const key = keyOf(task);
    if (this.counted.has(key)) return;
    const { sequence = 0, attempt } = task.token;
    const [lastSequence, lastAttempt] = this.latest.get(task.id) ?? [-1, 0];
    const isLater = sequence > lastSequence || (sequence === lastSequence && attempt > lastAttempt);
    if (!isLater) this.problem(`${task.id}#${attempt} begins after #${lastAttempt}`);
    this.latest.set(task.id, [sequence, attempt]);
    for (const each of told.after) {
      if (each.state !== 'completed') this.problem(`${task.id} begins although ${each.id} is ${each.state}`);
    }
    this.counted.set(key, { told, since: this.now(), leased });
    if (leased) {
      // Lost, it has nothing any more.
      task.signal.addEventListener('abort', () => {
        this.counted.delete(key);
      });
    }
    if (!leased) this.checkLimits(`${key} begins`, (each) => !each.leased);
    if (told.tokens > 0) this.spend(told.tokens, key);
  }

  /** An attempt that waited goes on. */
  again(task: TaskContext, told: Told, leased: boolean): void {
    this.counted.set(keyOf(task), { told, since: this.now(), leased });
  }

  end(task: TaskContext): void {
    this.counted.delete(keyOf(task));
  }

  /** At rest, when everybody has heard what became of him. */
  checkAtRest(): void {
    const isNew = [...this.counted.values()].every(({ since }) => since > this.loweredAt);
    if (isNew) this.checkLimits('at rest', () => true);
  }

  private checkLimits(when: string, isMeant: (each: Counted) => boolean): void {
    const sums = { global: 0, gpu: 0 };
    const perType = new Map<string, number>();
    const perChannel = new Map<string, number>();
    for (const each of this.counted.values()) {
      if (!isMeant(each)) continue;
      const { gpu, type, channel } = each.told;
      sums.global += 1;
      sums.gpu += gpu;
      perType.set(type, (perType.get(type) ?? 0) + 1);
      perChannel.set(channel, (perChannel.get(channel) ?? 0) + 1);
    }
    const { limits } = this;
    if (sums.global > limits.global) this.problem(`${when}: ${sums.global} run, ${limits.global} may`);
    if (sums.gpu > limits.gpu) this.problem(`${when}: ${sums.gpu} of gpu, ${limits.gpu} may be`);
    if ((perType.get('render') ?? 0) > limits.perType) this.problem(`${when}: too many of a type`);
    for (const [name, count] of perChannel) {
      if (count > limits.perChannel) this.problem(`${when}: ${count} run in ${name}, ${limits.perChannel} may`);
    }
  }

  /** No stretch of time has more tokens than the burst and what has come meanwhile. */
  private spend(cost: number, key: string): void {
    const now = this.now();
    this.tokens.push({ at: now, cost });
    let sum = 0;
    for (const each of [...this.tokens].reverse()) {
      sum += each.cost;
      const most = RATE.burst + ((now - each.at) * RATE.rate) / RATE.per;
      if (sum > most + 1e-6) {
        this.problem(`${key}: ${sum} tokens in ${now - each.at} ms`);
        return;
      }
    }
  }
}

function keyOf({ token }: TaskContext): string {
  return `${String(token.sequence)}#${String(token.attempt)}`;
}

/** Whether the error says what it is: ours by its code, a handler's by being told to happen. */
function isTold(error: unknown): boolean {
  if (error instanceof SchedulerError || error instanceof Planned) return true;
  // Whatever else a handler throws comes as an error that tells of it.
  return error instanceof Error && error.constructor === Error;
}

/** Whether all of these have ended. */
export function haveEnded(handles: readonly Handle<unknown>[]): boolean {
  return handles.every(({ state }) => isFinal(state));
}
