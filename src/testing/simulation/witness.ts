import type { Fact } from '../../model/index.js';
import type { Note } from '../../runtime/recovery.js';
import type { Evidence } from './evidence.js';
import { OrderOracle } from './order-oracle.js';
import { TurnOracle } from './turn-oracle.js';
import { WitnessedBonds } from './witnessed-bonds.js';
import { WitnessedLimits } from './witnessed-limits.js';
import { hasEnded, witnessed, type WitnessedAttempt, type WitnessedTask } from './witnessed-task.js';

type Of<Kind extends Fact['kind']> = Extract<Fact, { kind: Kind }>;
type TaskFact = Extract<Fact, { readonly task: string }>;

/**
 * Reads the journal as it grows, knows nothing of the core, and looks at each fact whether it may follow those before: a model
 * so simple that it is slow.
 */
export class Witness {
  readonly tasks = new Map<string, WitnessedTask>();
  /** Every attempt that was ever granted, by its token, and how it ended. */
  readonly granted = new Map<string, string | undefined>();
  private readonly abandoned = new Map<string, WitnessedAttempt>();
  private readonly pausedChannels = new Set<string>();
  readonly bonds: WitnessedBonds;
  readonly limits: WitnessedLimits;
  private readonly order: OrderOracle;
  private readonly turns: TurnOracle;
  private epoch = 0;

  constructor(private readonly evidence: Evidence) {
    this.limits = new WitnessedLimits(evidence);
    this.bonds = new WitnessedBonds(this.tasks);
    const { tasks, bonds, limits, pausedChannels } = this;
    this.order = new OrderOracle(evidence, tasks, bonds, limits, pausedChannels);
    this.turns = new TurnOracle(evidence, tasks, bonds, limits, pausedChannels);
  }

  take(entry: Fact | Note): void {
    switch (entry.kind) {
      case 'begun':
        this.limits.begin(entry.snapshot);
        this.order.begin(entry.snapshot);
        this.epoch = entry.snapshot.epoch;
        return;
      case 'settings':
        return;
      case 'recovered':
        this.evidence.holds('G3', entry.epoch > this.epoch, () => `epoch ${entry.epoch} follows ${this.epoch}`);
        this.epoch = entry.epoch;
        this.turns.reset();
        return;
      case 'configured':
        this.limits.configured(entry.setting);
        this.order.configured(entry.setting);
        this.turns.reset();
        return;
      case 'worker.attached':
        this.limits.workers.set(entry.worker.id, entry.worker);
        this.turns.reset();
        return;
      case 'worker.detached':
        this.limits.workers.delete(entry.worker);
        this.turns.reset();
        return;
      case 'channel.paused':
        this.pausedChannels.add(entry.channel);
        return;
      case 'channel.resumed':
        this.pausedChannels.delete(entry.channel);
        return;
      case 'task.submitted':
        this.submitted(entry);
        return;
      default:
        if ('task' in entry) this.ofTask(entry);
        if (this.order.letsTakeTurns) this.turns.follow();
    }
  }

  /** The task is in the journal. */
  knows(id: string): boolean {
    return this.tasks.has(id);
  }

  private submitted(fact: Of<'task.submitted'>): void {
    // An id may be used again once its task is forgotten.
    this.expect('G2', this.tasks.get(fact.task)?.isForgotten !== false, 'comes in twice', fact);
    const task = witnessed(fact);
    this.tasks.set(task.id, task);
    for (const { task: id, onFailure } of fact.after) this.bonds.add(task, id, onFailure);
  }

  private ofTask(fact: TaskFact): void {
    const task = this.tasks.get(fact.task);
    if (task === undefined) {
      this.expect('G2', false, `has ${fact.kind}, and never came in`, fact);
      return;
    }
    switch (fact.kind) {
      case 'attempt.started':
        this.started(task, fact);
        return;
      case 'attempt.ended':
        this.ended(task, fact);
        return;
      case 'attempt.settledLate':
        this.settledLate(task, fact);
        return;
      case 'task.completed':
      case 'task.failed':
      case 'task.cancelled':
      case 'task.skipped':
        this.finished(task, fact);
        return;
      case 'dependency.added':
        this.bonds.add(task, fact.dependency, fact.onFailure);
        if (this.bonds.holdsUp(task) && (task.state === 'ready' || task.state === 'delayed')) task.state = 'waiting';
        return;
      case 'dependency.removed':
        this.bonds.remove(task, fact.dependency);
        return;
      default:
        this.steered(task, fact);
    }
  }

  private steered(task: WitnessedTask, fact: TaskFact): void {
    switch (fact.kind) {
      case 'task.delayed':
        this.delayed(task, fact);
        return;
      case 'task.ready':
        this.becameReady(task, fact);
        return;
      case 'task.retryScheduled':
        task.notBefore = fact.untilMono;
        return;
      case 'task.revived':
        this.expect('G2', task.state === 'failed', `is run again while ${task.state}`, fact);
        Object.assign(task, { state: 'waiting', notBefore: -Infinity, wasRevived: true });
        this.bonds.drop(task);
        return;
      case 'task.forgotten':
        this.expect('G2', hasEnded(task), `is forgotten while ${task.state}`, fact);
        task.isForgotten = true;
        return;
      case 'priority.set':
        task.level = fact.level;
        return;
      case 'room.kept':
        task.room = fact.workerId === undefined ? 'reservation' : 'slot';
        return;
      case 'room.dropped':
        task.room = undefined;
        return;
      default:
    }
  }

  private delayed(task: WitnessedTask, fact: Of<'task.delayed'>): void {
    this.expect('G2', !hasEnded(task) && task.live === undefined, `is delayed while ${task.state}`, fact);
    const hasReason = task.eta > fact.wall || task.notBefore > fact.mono;
    this.expect('G9', hasReason, 'is delayed, and its time has come', fact);
    task.state = 'delayed';
  }

  private becameReady(task: WitnessedTask, fact: Of<'task.ready'>): void {
    const isIdle = !hasEnded(task) && task.live === undefined && task.state !== 'ready';
    this.expect('G3', isIdle, `becomes ready while ${task.state}`, fact);
    this.expect('G6', !this.bonds.holdsUp(task), 'is ready before what it comes after', fact);
    this.expect('G9', fact.wall >= task.eta, `is ready ${task.eta - fact.wall} ms before its time`, fact);
    this.expect('G9', fact.mono >= task.notBefore, `is ready ${task.notBefore - fact.mono} ms too early`, fact);
    // Passed once is passed for good.
    Object.assign(task, { state: 'ready', eta: -Infinity, notBefore: -Infinity });
  }

  private started(task: WitnessedTask, fact: Of<'attempt.started'>): void {
    const { attempt: number, epoch, workerId } = fact;
    this.expect('G3', task.state === 'ready' && task.live === undefined, `starts while ${task.state}`, fact);
    this.expect('G3', number > task.attempts, `starts #${number} after #${task.attempts}`, fact);
    this.expect('G3', epoch === this.epoch, `starts in epoch ${epoch}, it is ${this.epoch}`, fact);
    this.expect('G6', !this.bonds.holdsUp(task), 'starts before what it comes after', fact);
    this.expect('G6', !this.pausedChannels.has(task.channel), 'starts in a paused channel', fact);
    this.order.started(task, fact);
    if (this.order.isFair(task, fact)) this.turns.started(task);
    else this.turns.resetAt(task);
    Object.assign(task, { state: 'running', attempts: number, epoch, room: undefined });
    task.live = { task, number, workerId };
    this.granted.set(tokenOf(task.id, epoch, number), undefined);
    this.limits.began(task.live);
  }

  private ended(task: WitnessedTask, fact: Of<'attempt.ended'>): void {
    const { live } = task;
    this.expect('G3', live?.number === fact.attempt, `#${fact.attempt} ends, and does not run`, fact);
    if (live === undefined) return;
    this.granted.set(tokenOf(task.id, task.epoch, fact.attempt), fact.how);
    task.live = undefined;
    task.lastEnd = fact.how;
    task.state = 'waiting';
    // Nobody waits for it any more, but it goes on holding what it has.
    if (fact.how === 'abandoned') this.abandoned.set(`${task.sequence}#${fact.attempt}`, live);
    else this.limits.released(live);
  }

  private settledLate(task: WitnessedTask, { sequence, attempt }: Of<'attempt.settledLate'>): void {
    const key = `${sequence}#${attempt}`;
    const late = this.abandoned.get(key);
    this.abandoned.delete(key);
    this.evidence.holds('G7', late !== undefined, () => `"${task.id}" #${attempt} settles late, twice`, task.id);
    if (late !== undefined) this.limits.released(late);
  }

  private finished(task: WitnessedTask, fact: TaskFact): void {
    this.expect('G2', !hasEnded(task), `ends (${fact.kind}) after it has ${task.state}`, fact);
    this.expect('G3', task.live === undefined, `ends (${fact.kind}) while it runs`, fact);
    const isEarned = fact.kind !== 'task.completed' || task.lastEnd === 'succeeded';
    this.expect('G2', isEarned, `completes after an attempt that was ${String(task.lastEnd)}`, fact);
    task.state = fact.kind.slice('task.'.length) as WitnessedTask['state'];
    task.room = undefined;
    this.bonds.ended(task);
  }

  private expect(promise: 'G2' | 'G3' | 'G6' | 'G9', isKept: boolean, what: string, { task }: TaskFact): void {
    this.evidence.holds(promise, isKept, () => `"${task}" ${what}`, task);
  }
}

/** Names an attempt for ever. */
export function tokenOf(id: string, epoch: number, attempt: number): string {
  return `${id} ${epoch}/${attempt}`;
}
