import {
  checkCount,
  holdingAttempts,
  type Assignment,
  type Balance,
  type StrategyChoice,
  type Takes,
  type Worker,
} from '../core/index.js';
import { StaleLeaseError, refuseConfig, type Attempt } from '../model/index.js';
import { abortable, type WaitOptions } from './abortable.js';
import { Claim, type ClaimHost } from './claim.js';
import { PullingWorker, type WorkerHost } from './pulling-worker.js';
import { promised } from './promised.js';
import type { RunningTask } from './running-task.js';
import { parseWorkerOptions, type WorkerOptions } from './worker-options.js';

/** What pulling needs of its scheduler. */
export interface PullingHost extends ClaimHost {
  contextOf(attempt: Attempt): RunningTask;
  /** Whether anything more may start by the load. */
  mayStart(): boolean;
}

/** Somebody who waits for a task. */
interface Waiting {
  readonly worker: PullingWorker;
  readonly resolve: (claim: Claim | undefined) => void;
  readonly reject: (error: Error) => void;
  hasLeft: boolean;
}

/** The workers that claim for themselves, and those of them that wait for a task, the longest first. */
export class Pulling implements WorkerHost {
  private readonly open = new Map<PullingWorker, Worker>();
  private waiting: Waiting[] = [];
  private made = 0;
  /** Whether the scheduler closes. */
  private isOver = false;

  constructor(private readonly host: PullingHost) {}

  /** Whether anybody waits for a task. */
  get isAwaited(): boolean {
    return this.waiting.length > 0;
  }

  /** Lets a worker in. */
  add(options: WorkerOptions | undefined): PullingWorker {
    const { core } = this.host;
    const spec = parseWorkerOptions(options, () => this.nextId());
    if (core.state.workers.has(spec.id)) refuseConfig('id', spec.id, 'an id that no other worker has');
    const worker = new PullingWorker(this, spec.id);
    this.open.set(worker, core.attach(this.host.now(), spec));
    this.host.changed();
    return worker;
  }

  /** Something may have become eligible: whoever has waited for longest is served first. */
  serve(): void {
    const { core } = this.host;
    if (this.waiting.length === 0 || core.state.index.size === 0) return;
    const served = new Set<Waiting>();
    const unserved = new Set<PullingWorker>();
    for (const waiting of this.waiting) {
      const { worker } = waiting;
      // Others' claims only leave less, so that who got nothing need not ask again.
      const [claim] = unserved.has(worker) ? [] : this.grant(worker, 1);
      if (claim === undefined) unserved.add(worker);
      else {
        served.add(waiting);
        this.hand(waiting, claim);
      }
    }
    if (served.size > 0) this.waiting = this.waiting.filter((waiting) => !served.has(waiting));
  }

  /** Gives somebody the claim, with a store when that is kept. */
  private hand(waiting: Waiting, claim: Claim): void {
    const { keeping } = this.host;
    if (keeping === undefined) {
      waiting.resolve(claim);
      return;
    }
    keeping.afterwards((failure) => {
      if (failure !== undefined) waiting.reject(failure);
      // Nobody is there any more to take it.
      else if (waiting.hasLeft) claim.release().catch(() => undefined);
      else waiting.resolve(claim);
    });
  }

  /** Does what hands something out, and gives it: with a store once everything is back, and when it is kept. */
  soon<Value>(work: () => Value): Promise<Value> {
    const { keeping } = this.host;
    if (keeping === undefined) return promised(work);
    return keeping.start().then(() => keeping.kept(work()));
  }

  /** Nothing goes on any more. */
  fail(error: Error): void {
    for (const { reject } of this.waiting.splice(0)) reject(error);
  }

  /** The workers as they are, for a core that does not know them; gives their ids. */
  attachAll(): readonly string[] {
    const { core } = this.host;
    for (const [worker, { spec }] of this.open) this.open.set(worker, core.attach(this.host.now(), spec));
    return [...this.open.keys()].map(({ id }) => id);
  }

  /** Attempts whose waits are over go on, at others too: their workers have them already, and need not claim them. */
  goOn(others: readonly Worker[]): void {
    const { core } = this.host;
    for (const worker of [...others, ...this.open.values()]) {
      while (core.goOn(this.host.now(), worker) !== undefined);
    }
  }

  /** Whom a worker would take now; one that does not wait for a task may be busy until what it runs has ended. */
  takenBy(workerId: string): Takes {
    if (this.waiting.some(({ worker }) => worker.id === workerId)) return 'anybody';
    return [...this.open.keys()].some(({ id }) => id === workerId) ? 'returning' : 'anybody';
  }

  claim(worker: PullingWorker, count: number): Claim[] {
    this.host.breath.spend();
    // Nobody overtakes those who wait.
    this.serve();
    const claims = this.grant(worker, count);
    this.host.changed();
    return claims;
  }

  /** Distributes up to so many tasks over the workers; whoever waits for a task is served before. */
  assign(count: number, balance: Balance): Claim[] {
    checkCount(count);
    const { host } = this;
    host.breath.spend();
    this.serve();
    const step = { count: 1, balance, workers: this.planned() };
    const claims: Claim[] = [];
    // One by one, as the load is looked at before each.
    while (claims.length < count && host.mayStart()) {
      const [attempt] = host.core.plan(host.now(), step);
      if (attempt === undefined) break;
      claims.push(new Claim(host, attempt, host.contextOf(attempt)));
    }
    host.changed();
    return claims;
  }

  /** What {@link assign} would give to whom. */
  foresee(count: number, balance: Balance): Assignment[] {
    return this.host.core.foresee(this.host.now(), { count, balance, workers: this.planned() });
  }

  private planned(): string[] {
    return [...this.open.values()].filter(({ spec }) => spec.filter === undefined).map(({ id }) => id);
  }

  wait(worker: PullingWorker, options: WaitOptions | undefined): Promise<Claim | undefined> {
    this.host.keeping?.begun();
    return abortable(options, (resolve, reject) => {
      const waiting: Waiting = { worker, resolve, reject, hasLeft: false };
      // Whoever takes one task after the other leaves everything else in the process its turn.
      const mustWait = this.isClosed(worker) || this.host.breath.isOut;
      const [claim] = mustWait ? [] : this.claim(worker, 1);
      if (claim !== undefined) this.hand(waiting, claim);
      else if (this.isClosed(worker)) resolve(undefined);
      else this.waiting.push(waiting);
      return () => {
        waiting.hasLeft = true;
        this.waiting = this.waiting.filter((each) => each !== waiting);
      };
    });
  }

  setStrategy(worker: PullingWorker, strategy: StrategyChoice): void {
    const { spec } = this.open.get(worker) as Worker;
    this.open.set(worker, this.host.core.attach(this.host.now(), { ...spec, strategy }));
    this.host.changed();
  }

  isClosed(worker: PullingWorker): boolean {
    return this.isOver || !this.open.has(worker);
  }

  leave(worker: PullingWorker): void {
    if (!this.open.delete(worker)) return;
    this.dismiss((waiting) => waiting.worker === worker);
    const { core } = this.host;
    for (const attempt of holdingAttempts(core.state)) if (attempt.workerId === worker.id) this.giveBack(attempt);
    core.handle({ kind: 'detachWorker', now: this.host.now(), worker: worker.id });
    this.host.changed();
  }

  /** The scheduler closes: nobody gets anything any more. */
  close(): void {
    this.isOver = true;
    this.dismiss(() => true);
  }

  /** Takes back what workers still hold: nobody waits for it any more. */
  releaseAll(): void {
    const workers = new Set([...this.open.keys()].map(({ id }) => id));
    for (const attempt of holdingAttempts(this.host.core.state)) {
      if (workers.has(attempt.workerId)) this.giveBack(attempt);
    }
  }

  private grant(worker: PullingWorker, count: number): Claim[] {
    const { core } = this.host;
    const known = this.open.get(worker) as Worker;
    const now = this.host.now();
    const claims: Claim[] = [];
    while (claims.length < count && this.host.mayStart()) {
      const attempt = core.claim(now, known);
      if (attempt === undefined) break;
      // One that goes on after a wait is in the hands of its worker already.
      if (attempt.resumptions > 0) continue;
      claims.push(new Claim(this.host, attempt, this.host.contextOf(attempt)));
    }
    return claims;
  }

  private giveBack(attempt: Attempt): void {
    try {
      this.host.core.settle(this.host.now(), attempt, { kind: 'aborted' });
    } catch (error) {
      // One whose task was cancelled only gives back what it held.
      if (!(error instanceof StaleLeaseError)) throw error;
    }
    this.host.changed(attempt, 'others');
  }

  private dismiss(isMeant: (waiting: Waiting) => boolean): void {
    const dismissed = this.waiting.filter(isMeant);
    this.waiting = this.waiting.filter((waiting) => !isMeant(waiting));
    for (const { resolve } of dismissed) resolve(undefined);
  }

  private nextId(): string {
    const { workers } = this.host.core.state;
    do this.made += 1;
    while (workers.has(`worker-${this.made}`));
    return `worker-${this.made}`;
  }
}
