import { UnknownDependencyError, type FencingToken } from '../../model/index.js';
import type { Claim } from '../../runtime/claim.js';
import type { Handle } from '../../runtime/handle.js';
import type { Scheduler } from '../../runtime/scheduler.js';
import type { Evidence } from './evidence.js';
import { tokenOf, type Witness } from './witness.js';

const ENDINGS = ['completed', 'failed', 'cancelled', 'skipped', 'expired'] as const;

/** How an attempt may have ended when its claim was settled in that way. */
const SETTLED_AS = {
  complete: ['succeeded'],
  fail: ['failed', 'preempted'],
  release: ['released', 'preempted'],
} as const;

/** What the users of one process see of it. Whatever they are told must be in the journal by then; a dead process tells nothing. */
export class Testimony {
  /** What is to settle, by what it is. */
  private readonly open = new Map<object, string>();
  private readonly begun = new Set<string>();

  constructor(
    private readonly master: { readonly isAlive: boolean },
    private readonly evidence: Evidence,
    private readonly witness: Witness,
  ) {}

  listen(scheduler: Scheduler): void {
    for (const name of ENDINGS) {
      scheduler.on(name, ({ taskId }) => {
        this.toldOf(taskId, name === 'expired' ? 'cancelled' : name, 'an event');
      });
    }
  }

  /** Somebody has added a task, and waits for what comes of it. */
  added(handle: Handle<unknown>): void {
    const accepted = (): void => {
      const { id } = handle;
      this.evidence.holds('G1', this.witness.knows(id), () => `"${id}" is acknowledged, and not in the journal`, id);
    };
    this.expectSettled(`"${handle.id}" is accepted`, handle.accepted, accepted, (error) => {
      if (!(error instanceof UnknownDependencyError)) return;
      // Whoever has ended is remembered for longer than any simulation takes.
      const { dependencyId: id } = error;
      this.evidence.holds('G6', !this.witness.knows(id), () => `"${id}" is not known any more`, id);
    });
    this.expectSettled(`the result of "${handle.id}"`, handle.result, () => {
      this.toldOf(handle.id, 'completed', 'its handle');
    });
  }

  /** A handler runs, or a worker was handed a claim. */
  began(id: string, { epoch, attempt }: FencingToken): void {
    if (!this.master.isAlive) return;
    const token = tokenOf(id, epoch, attempt);
    const { evidence, witness } = this;
    evidence.holds('G3', witness.granted.has(token), () => `${token} runs, and the journal has no such attempt`, id);
    evidence.holds('G3', !this.begun.has(token), () => `${token} begins twice`, id);
    this.begun.add(token);
  }

  /** A claim is being settled: where that resolves, the attempt has ended by it and by nothing else. */
  settled(claim: Claim, how: keyof typeof SETTLED_AS, promise: Promise<void>): void {
    const { task, token } = claim;
    const name = tokenOf(task.id, token.epoch, token.attempt);
    this.expectSettled(`${how} of ${name}`, promise, () => {
      const end = this.witness.granted.get(name);
      const isIt = SETTLED_AS[how].some((each) => each === end);
      this.evidence.holds('G4', isIt, () => `${how} of ${name} is acknowledged, which is ${String(end)}`, task.id);
    });
  }

  /** The promise is to settle; what follows from its fulfilment is looked at. */
  expectSettled(
    what: string,
    promise: PromiseLike<unknown>,
    fulfilled: () => void = ignore,
    rejected: (error: unknown) => void = ignore,
  ): void {
    const key = {};
    this.open.set(key, what);
    promise.then(
      () => {
        this.open.delete(key);
        if (this.master.isAlive) fulfilled();
      },
      (error: unknown) => {
        this.open.delete(key);
        if (this.master.isAlive) rejected(error);
      },
    );
  }

  /** What has not settled. */
  unsettled(): string[] {
    return [...this.open.values()];
  }

  private toldOf(id: string, state: string, by: string): void {
    if (!this.master.isAlive) return;
    const known = this.witness.tasks.get(id);
    // One that has failed may have been run again by hand since.
    const isSo = known?.state === state || (state === 'failed' && known?.wasRevived === true);
    this.evidence.holds('G2', isSo, () => `${by} tells that "${id}" is ${state}: it is ${String(known?.state)}`, id);
  }
}

function ignore(): void {
  // Nothing follows from it.
}
