import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Core } from '../../src/core/index.js';
import { SeededRandom, type Fact } from '../../src/model/index.js';
import { SchedulerError, Scheduler, type EventName, type TaskContext } from '../../src/index.js';
import type { Events } from '../../src/runtime/events.js';
import { VirtualClock } from '../../src/testing/index.js';

const NAMES = [
  ...(['added', 'ready', 'started', 'completed', 'failed', 'retrying', 'cancelled', 'skipped', 'expired'] as const),
  ...([
    'refused',
    'preempted',
    'progress',
    'lost',
    'deadlineMissed',
    'saturated',
    'relieved',
    'claims',
    'empty',
    'idle',
    'error',
  ] as const),
];

/** What an event is made from, for those that are about one task. */
const SOURCES: Partial<Record<Fact['kind'], EventName>> = {
  'task.submitted': 'added',
  'task.ready': 'ready',
  'attempt.started': 'started',
  'task.completed': 'completed',
  'task.failed': 'failed',
  'task.retryScheduled': 'retrying',
  'task.skipped': 'skipped',
  'deadline.missed': 'deadlineMissed',
  'task.preempted': 'preempted',
};

function sourceOf(fact: Fact): string[] {
  if (!('task' in fact)) return [];
  if (fact.kind === 'task.cancelled')
    return [`${fact.error.code === 'EXPIRED' ? 'expired' : 'cancelled'} ${fact.task}`];
  if (fact.kind === 'attempt.ended') return fact.how === 'lost' ? [`lost ${fact.task}`] : [];
  const name = SOURCES[fact.kind];
  return name === undefined ? [] : [`${name} ${fact.task}`];
}

/** A scheduler, its core, and a source of chance from which listeners act until it is used up. */
class Stress {
  readonly clock = new VirtualClock();
  readonly scheduler: Scheduler;
  readonly engine: { readonly core: Core; readonly events: Events };
  readonly told: string[] = [];
  readonly facts: string[] = [];
  private readonly random: SeededRandom;
  private rolls = 0;
  private made = 0;

  constructor(seed: number) {
    this.random = new SeededRandom(seed);
    const limits = this.roll(3) === 0 ? { maxPending: 8, whenFull: 'drop-lowest' as const } : {};
    this.scheduler = new Scheduler({
      clock: this.clock,
      concurrency: 1 + this.roll(3),
      retain: { count: 5 },
      preemption: { minRun: 0, grace: 5 },
      ...limits,
    });
    this.engine = (this.scheduler as unknown as { engine: Stress['engine'] }).engine;
    this.engine.events.on('fact', (fact) => this.facts.push(...sourceOf(fact)));
    for (const name of NAMES) this.scheduler.on(name, (event) => this.listen(name, event));
  }

  private roll(sides: number): number {
    this.rolls += 1;
    return Math.floor(this.random.next() * sides);
  }

  private get isUsedUp(): boolean {
    return this.rolls > 500;
  }

  private listen(name: EventName, event: object): unknown {
    // What is refused, and how far handlers have come, is no fact.
    const isFact = name !== 'refused' && name !== 'progress';
    if ('taskId' in event && isFact) this.told.push(`${name} ${String(event.taskId)}`);
    this.engine.core.check();
    if (this.isUsedUp || this.roll(3) > 0) return undefined;
    this.act();
    if (this.roll(8) === 0) throw new Error('a listener throws');
    return this.roll(8) === 0 ? Promise.reject(new Error('a listener rejects')) : undefined;
  }

  /** Something that a user may do at any time, which may be refused. */
  act(): void {
    try {
      this.actUnlessRefused();
    } catch (error) {
      if (!(error instanceof SchedulerError)) throw error;
    }
  }

  private actUnlessRefused(): void {
    const { scheduler } = this;
    const some = `t${String(this.roll(Math.max(1, this.made)))}`;
    switch (this.roll(7)) {
      case 0:
        scheduler.cancel(some);
        return;
      case 1:
        scheduler.pauseChannel('x');
        return;
      case 2:
        scheduler.resumeChannel('x');
        return;
      default:
        this.add(some);
    }
  }

  private add(some: string): void {
    const { wall } = this.clock.now();
    this.scheduler
      .add((task) => this.run(task), {
        id: `t${String((this.made += 1))}`,
        channel: this.roll(2) === 0 ? 'x' : 'y',
        priority: this.roll(4),
        preemptible: this.roll(2) === 0,
        retry: { attempts: 1 + this.roll(3), base: this.roll(50), jitter: false },
        ...(this.roll(3) === 0 && some !== 't0' ? { after: [some], onDependencyFailure: 'skip' } : {}),
        ...(this.roll(4) === 0 ? { delay: this.roll(40), expires: wall + 30 } : {}),
        ...(this.roll(4) === 0 ? { deadline: wall + this.roll(60), timeout: 20 } : {}),
      })
      .catch(() => undefined);
  }

  /** Some listen to their signal, and some do not. */
  private async run(task: TaskContext): Promise<void> {
    const waitMs = this.roll(30);
    task.progress(waitMs / 30);
    if (waitMs > 10) {
      await new Promise<void>((resolve, reject) => {
        this.clock.setTimer(resolve, waitMs);
        task.signal.addEventListener('abort', () => {
          if (waitMs > 15) reject(task.signal.reason as Error);
        });
      });
    }
    if (waitMs % 3 === 0) throw new Error('a task fails');
  }
}

test('row 34 whatever listeners do from inside events, nothing breaks, and events come in the order of facts', async () => {
  const told = new Set<string>();
  const property = fc.asyncProperty(fc.integer(), async (seed) => {
    const stress = new Stress(seed);
    for (let i = 0; i < 12; i += 1) {
      stress.act();
      await stress.clock.advance(10);
      stress.engine.core.check();
    }
    // A listener may have paused the channel again.
    while (stress.engine.core.state.pending > 0) {
      stress.scheduler.resumeChannel('x');
      await stress.clock.advance('10m');
    }
    stress.engine.core.check();
    expect(stress.told).toEqual(stress.facts);
    for (const each of stress.told) told.add(each.replace(/ .*/, ''));
    await stress.scheduler.close();
  });
  await fc.assert(property, { numRuns: 25 });
  expect([...told].sort()).toEqual([
    ...['added', 'cancelled', 'completed', 'deadlineMissed', 'expired', 'failed', 'preempted', 'ready'],
    ...['retrying', 'skipped', 'started'],
  ]);
}, 60_000);

test('while nobody listens, the core makes no facts', async () => {
  const scheduler = new Scheduler();
  const { core } = (scheduler as unknown as { engine: { core: Core } }).engine;
  expect(core.state.emit).toBeUndefined();
  const listener = (): unknown => undefined;
  scheduler.on('added', listener).on('idle', listener);
  expect(core.state.emit).toBeDefined();
  scheduler.off('added', listener);
  expect(core.state.emit).toBeDefined();
  scheduler.off('idle', listener).once('completed', listener);
  await scheduler.add(() => 1);
  expect(core.state.emit).toBeUndefined();
});
