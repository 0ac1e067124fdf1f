import { claimsByChannel, type Core } from '../core/index.js';
import { invariant, type Attempt, type Fact, type Moment, type Task } from '../model/index.js';
import type { AttemptEvent, SchedulerEvents, TaskEvent, UncompletedEvent } from '../ports/events.js';
import type { Clock } from './clock.js';
import { failureOf } from './failure.js';
import { valueOf } from './kept.js';

/** How often the distribution of claims is told at the most. */
const CLAIMS_EVERY_MS = 10_000;

/** Where the events go. */
interface Audience {
  isHeard(name: keyof SchedulerEvents): boolean;
  tell<Name extends keyof SchedulerEvents>(name: Name, event: SchedulerEvents[Name]): void;
}

/** The attempt that ended last: what its task comes to is told in the facts right after. */
interface End {
  readonly task: string;
  readonly workerId: string;
  readonly durationMs: number | undefined;
}

/**
 * Makes events of facts. It reads them in the middle of a command, when the task still is what the fact says; whether
 * everything has come to rest is looked at in between commands.
 */
export class Reporter {
  /** When the attempts of these tasks began, monotonic. */
  private readonly started = new Map<string, number>();
  private end: End | undefined = undefined;
  private wasEmpty = true;
  private wasIdle = true;
  private hasClaims = false;
  private claimsToldAt = -Infinity;

  constructor(
    private readonly core: Core,
    private readonly clock: Clock,
    private readonly audience: Audience,
  ) {}

  /** Somebody listens from now on. */
  begin(): void {
    const { state } = this.core;
    this.wasEmpty = state.unstarted === 0;
    this.wasIdle = state.pending === 0;
    this.started.clear();
    this.end = undefined;
  }

  read(fact: Fact): void {
    switch (fact.kind) {
      case 'attempt.started':
        this.started.set(fact.task, fact.mono);
        this.hasClaims = true;
        this.tell('started', fact, attemptOf);
        return;
      case 'attempt.ended':
        this.attemptEnded(fact);
        return;
      case 'deadline.missed':
        this.tell('deadlineMissed', fact, (about, task) => ({ ...about, deadline: task.deadline }));
        return;
      case 'task.preempted':
        this.tell('preempted', fact, (about) => ({ ...attemptOf(about), by: fact.by }));
        return;
      case 'task.starved':
        this.tell('starved', fact, (about) => ({ ...about, waitedMs: fact.waitedMs }));
        return;
      case 'pending.saturated':
      case 'pending.relieved':
        this.audience.tell(fact.kind === 'pending.saturated' ? 'saturated' : 'relieved', {
          pending: fact.pending,
          maxPending: fact.maxPending ?? Infinity,
          at: fact.wall,
        });
        return;
      case 'series.overran': {
        const { series: seriesId, from, until, wall: at } = fact;
        this.audience.tell('overran', { seriesId, from, until: until ?? undefined, at });
        return;
      }
      case 'task.revived':
        this.hasWork();
        return;
      case 'task.submitted':
        this.hasWork();
        this.tell('added', fact, (about) => ({ ...about, after: fact.after.map((each) => each.task) }));
        return;
      case 'task.delayed':
        this.end = undefined;
        return;
      case 'task.ready':
        this.end = undefined;
        this.tell('ready', fact, (about) => about);
        return;
      case 'task.retryScheduled': {
        const { error, spent: because, untilMono } = fact;
        const delayMs = untilMono - fact.mono;
        this.tell('retrying', fact, (about) => ({ ...attemptOf(about), error, delayMs, because }));
        return;
      }
      default:
        this.readFinal(fact);
    }
  }

  /** What ends in the very turn in which it came still makes for a rest. */
  private hasWork(): void {
    this.wasEmpty = false;
    this.wasIdle = false;
  }

  private readFinal(fact: Fact): void {
    switch (fact.kind) {
      case 'task.completed':
        this.tell('completed', fact, (about) => ({
          ...attemptOf(about),
          result: valueOf(fact.value),
          durationMs: this.durationMs(fact),
        }));
        break;
      case 'task.failed':
        this.tell('failed', fact, (about, task) => this.uncompleted(about, task));
        break;
      case 'task.cancelled':
        this.tell(fact.error.code === 'EXPIRED' ? 'expired' : 'cancelled', fact, (about, task) =>
          this.uncompleted(about, task),
        );
        break;
      case 'task.skipped':
        this.tell('skipped', fact, (about) => ({ ...about, dependencyId: fact.dependency }));
        break;
      default:
        return;
    }
    this.end = undefined;
  }

  private attemptEnded(fact: Extract<Fact, { kind: 'attempt.ended' }>): void {
    const { task, workerId } = fact;
    const since = this.started.get(task);
    this.started.delete(task);
    this.end = { task, workerId, durationMs: since === undefined ? undefined : fact.mono - since };
    if (fact.how === 'lost') this.tell('lost', fact, attemptOf);
  }

  private uncompleted(about: TaskEvent, task: Task): UncompletedEvent {
    return { ...about, error: failureOf(task), durationMs: this.durationMs({ task: task.id }) };
  }

  private durationMs({ task }: { readonly task: string }): number | undefined {
    return this.end?.task === task ? this.end.durationMs : undefined;
  }

  private tell<Name extends keyof SchedulerEvents>(
    name: Name,
    fact: Moment & { readonly task: string },
    make: (about: TaskEvent, task: Task) => SchedulerEvents[Name],
  ): void {
    if (!this.audience.isHeard(name)) return;
    const task = this.core.state.table.byId(fact.task) as Task;
    this.audience.tell(name, make(this.about(task, fact.wall), task));
  }

  private about(task: Task, at: number): TaskEvent {
    const { id: taskId, attempts, attempt, spec, urgency: priority } = task;
    const workerId = attempt?.workerId ?? (this.end?.task === taskId ? this.end.workerId : undefined);
    const about = {
      taskId,
      attempt: attempts === 0 ? undefined : attempts,
      channel: spec.channel,
      priority,
      workerId,
      at,
    };
    const metadata = spec.rare?.metadata;
    return metadata === undefined ? about : { ...about, metadata };
  }

  /** A handler tells how far it has come, which is no fact: nothing is decided by it. */
  progressed({ task }: Attempt, progress: unknown): void {
    if (!this.audience.isHeard('progress')) return;
    this.audience.tell('progress', { ...attemptOf(this.about(task, this.clock.now().wall)), progress });
  }

  /** Everything has been told, and no command is under way: tells what has come to rest, once each time. */
  rest(): void {
    const { audience } = this;
    const { unstarted, pending, wall: at } = this.core.state;
    const becameIdle = pending === 0 && !this.wasIdle;
    this.tellClaims(becameIdle ? 0 : CLAIMS_EVERY_MS);
    if (unstarted === 0 && !this.wasEmpty) audience.tell('empty', { at });
    if (becameIdle) audience.tell('idle', { at });
    this.wasEmpty = unstarted === 0;
    this.wasIdle = pending === 0;
  }

  /** Tells how claims are distributed, unless that was told just now. */
  tellClaims(everyMs: number = CLAIMS_EVERY_MS): void {
    if (!this.hasClaims || !this.audience.isHeard('claims')) return;
    const { mono } = this.clock.now();
    if (mono - this.claimsToldAt < everyMs) return;
    this.claimsToldAt = mono;
    this.hasClaims = false;
    this.audience.tell('claims', { channels: claimsByChannel(this.core.state), at: this.core.state.wall });
  }
}

/** What is told of an attempt states which one it is, and who runs it. */
function attemptOf(about: TaskEvent): AttemptEvent {
  const { attempt, workerId } = about;
  invariant(attempt !== undefined && workerId !== undefined, 'An event about an attempt states none.');
  return { ...about, attempt, workerId };
}
