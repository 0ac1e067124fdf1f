import { CancelledError, type Handle, type Scheduler } from '../src/index.js';

/** What must come of a task. */
type End = 'completed' | 'failed' | 'cancelled';

const CONCURRENCY = 64;
const GPUS = 8;
const CHANNELS = 5_003;

/** Tasks of five kinds, and what must be true of them while they run and once they have ended. */
export class SoakWork {
  /** So many tasks are added at a time. */
  static readonly groupSize = 5;
  static readonly limits = { concurrency: CONCURRENCY, resources: { gpu: GPUS } };

  readonly ended: Record<End, number> = { completed: 0, failed: 0, cancelled: 0 };
  /** How often something was looked at that must hold. */
  checks = 0;
  readonly broken: string[] = [];
  private running = 0;
  private onGpu = 0;

  defineFor(scheduler: Scheduler): void {
    scheduler.define('first', (input: number) => this.run(() => input));
    scheduler.define('then', (input: number, task) =>
      this.run(async () => {
        this.onGpu += 1;
        this.check(this.onGpu <= GPUS, `${String(this.onGpu)} tasks hold a GPU`);
        this.check(task.dependencies[0] === input, `${task.id} ran with ${String(task.dependencies[0])}`);
        await Promise.resolve();
        this.onGpu -= 1;
        return input;
      }),
    );
    scheduler.define('flaky', (input: number, task) => {
      return this.run(() => {
        this.check(task.attempt <= 3, `${task.id} is tried ${String(task.attempt)} times`);
        if (task.attempt < 3) throw new Error('fails twice');
        return input;
      });
    });
    scheduler.define('hopeless', () => this.run(() => Promise.reject(new Error('fails'))));
    scheduler.define('late', (_input: number, task) => {
      this.check(false, `${task.id} was cancelled and runs`);
    });
  }

  /** A group of tasks; the answer comes when all have ended as they must. */
  async add(scheduler: Scheduler, i: number): Promise<void> {
    const channel = `channel ${String(i % CHANNELS)}`;
    const first = scheduler.add('first', i, { id: `first ${String(i)}`, channel, priority: i % 7 });
    const late = scheduler.add('late', i, { delay: '1h' });
    const ends = [
      this.ends(first, 'completed', i),
      this.ends(scheduler.add('then', i, { after: [first], needs: { gpu: 1 } }), 'completed', i),
      this.ends(scheduler.add('flaky', i, { retry: 3, timeout: '10m', metadata: { i } }), 'completed', i),
      this.ends(scheduler.add('hopeless', i, { retry: 2, channel }), 'failed'),
      this.ends(late, 'cancelled'),
    ];
    late.cancel();
    await Promise.all(ends);
  }

  check(holds: boolean, otherwise: string): void {
    this.checks += 1;
    if (!holds && this.broken.length < 20) this.broken.push(otherwise);
  }

  private async run<R>(what: () => R | Promise<R>): Promise<R> {
    this.running += 1;
    this.check(this.running <= CONCURRENCY, `${String(this.running)} tasks run`);
    try {
      return await what();
    } finally {
      this.running -= 1;
    }
  }

  private async ends(handle: Handle<unknown>, expected: End, value?: unknown): Promise<void> {
    let end: End = 'completed';
    let result: unknown;
    try {
      result = await handle.result;
    } catch (error) {
      end = error instanceof CancelledError ? 'cancelled' : 'failed';
    }
    this.ended[end] += 1;
    this.check(end === expected && result === value, `${handle.id} ${end} with ${String(result)}`);
  }
}
