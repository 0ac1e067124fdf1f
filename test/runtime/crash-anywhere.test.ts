import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Core, type CoreSnapshot } from '../../src/core/index.js';
import { Scheduler, type Handle } from '../../src/index.js';
import type { Fact } from '../../src/model/index.js';
import { VirtualClock } from '../../src/testing/index.js';
import { ControlledStore } from './controlled-store.js';

/** What a process does in a turn. */
type Step =
  | { readonly kind: 'add'; readonly after: number; readonly delay: number; readonly fails: boolean }
  | { readonly kind: 'cancel'; readonly which: number }
  | { readonly kind: 'write'; readonly count: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'crash'; readonly unanswered: 'kept' | 'lost' };

const someStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      after: fc.nat(20),
      delay: fc.nat(300),
      fails: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which: fc.nat(20) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('write' as const), count: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(200) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('crash' as const),
      unanswered: fc.constantFrom('kept' as const, 'lost' as const),
    }),
  },
);

/** One process after another on one store, and all that was seen of them from outside. */
class Story {
  store: ControlledStore;
  readonly clock = new VirtualClock();
  scheduler: Scheduler;
  added = 0;
  /** Ids that were acknowledged. */
  readonly accepted = new Set<string>();
  /** The final states that were told, by id. */
  readonly told = new Map<string, Set<string>>();
  readonly started: string[] = [];
  readonly after = new Map<string, string>();

  /** Where a record may have few bytes, most turns are cut into several. */
  constructor(maxRecordBytes?: number) {
    this.store = new ControlledStore();
    this.store.maxRecordBytes = maxRecordBytes;
    this.scheduler = this.begin();
  }

  begin(): Scheduler {
    const scheduler = new Scheduler({
      store: this.store,
      clock: this.clock,
      concurrency: 2,
      snapshotEvery: { facts: 25 },
      retain: { count: 10_000 },
    });
    scheduler.define('work', (input: { fails: boolean }, task) => {
      const first = this.after.get(task.id);
      // An order that was violated shows here: what it comes after was told to have ended, or is kept to have.
      if (first !== undefined) expect(scheduler.get(first)?.state).toMatch(/completed|failed|cancelled/);
      const { epoch, attempt } = task.token;
      this.started.push(`${task.id} ${epoch} ${attempt}`);
      if (input.fails && attempt === 1) throw new Error('no');
      return task.id;
    });
    for (const state of ['completed', 'failed', 'cancelled'] as const) {
      scheduler.on(state, ({ taskId }) => {
        const states = this.told.get(taskId) ?? new Set();
        this.told.set(taskId, states.add(state));
      });
    }
    return scheduler;
  }

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case 'add':
        this.add(step);
        return;
      case 'cancel':
        this.cancel(`t${step.which}`);
        return;
      case 'write':
        for (let count = 0; count <= step.count; count += 1) {
          this.store.letGo();
          await this.clock.settle();
        }
        return;
      case 'wait':
        await this.clock.advance(step.ms);
        return;
      case 'crash':
        await this.crash(step.unanswered);
    }
  }

  async crash(unanswered: 'kept' | 'lost'): Promise<void> {
    await this.clock.settle();
    this.store = await this.store.crash(unanswered);
    this.scheduler = this.begin();
    await this.scheduler.start();
    this.store.holds = true;
    for (const id of this.accepted) expect(this.scheduler.get(id), `${id} is there`).toBeDefined();
    for (const [id, states] of this.told) expect([...states], id).toEqual([this.scheduler.get(id)?.state]);
  }

  private add({ after, delay, fails }: Extract<Step, { kind: 'add' }>): void {
    this.added += 1;
    const id = `t${this.added}`;
    const first = `t${after}`;
    const depends = this.scheduler.get(first) !== undefined;
    if (depends) this.after.set(id, first);
    const handle = this.scheduler.add(
      'work',
      { fails },
      { id, delay, retry: 2, ...(depends ? { after: [{ task: first, onFailure: 'run' }] } : {}) },
    );
    void handle.accepted.then(
      () => this.accepted.add(id),
      () => undefined,
    );
    this.ignore(handle);
  }

  private cancel(id: string): void {
    const task = this.scheduler.get(id);
    if (task !== undefined && /waiting|delayed|ready|running/.test(task.state)) this.scheduler.cancel(id);
  }

  private ignore(handle: Handle<unknown>): void {
    handle.result.catch(() => undefined);
  }
}

/** Demands that nothing acknowledged is lost, and that each task ends once. */
async function survivesAnything(maxRecordBytes?: number): Promise<void> {
  let [crashes, starts] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.array(someStep, { minLength: 10, maxLength: 60 }), async (steps) => {
      const story = new Story(maxRecordBytes);
      await story.scheduler.start();
      story.store.holds = true;
      for (const step of steps) {
        await story.take(step);
        if (step.kind === 'crash') crashes += 1;
      }
      await story.crash('lost');
      story.store.holds = false;
      story.store.letGo();
      await story.clock.advance('1h');
      for (const id of story.accepted) {
        expect(story.scheduler.get(id)?.state, id).toMatch(/completed|failed|cancelled/);
      }
      for (const states of story.told.values()) expect(states.size).toBe(1);
      // A token names one attempt for ever.
      expect(new Set(story.started).size).toBe(story.started.length);
      starts += story.started.length;
      await story.scheduler.close();
    }),
    { numRuns: 60 },
  );
  expect(crashes).toBeGreaterThan(100);
  expect(starts).toBeGreaterThan(300);
}

test('G1 G2 G3 G6 whatever happens and wherever it crashes: nothing acknowledged is lost, and each task ends once', async () => {
  await survivesAnything();
}, 60_000);

test('G1 G2 G3 G6 the same where turns are cut into several records, and it crashes between them', async () => {
  await survivesAnything(1_000);
}, 60_000);

interface Begun {
  readonly kind: 'begun';
  readonly snapshot: CoreSnapshot;
}

test('G8 the whole journal makes the state that was left, twice over, as snapshot and tail do', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someStep, { minLength: 10, maxLength: 40 }), async (steps) => {
      const story = new Story();
      await story.scheduler.start();
      for (const step of steps) if (step.kind !== 'crash') await story.take(step);
      await story.clock.settle();
      const entries = story.store.bodies.flatMap((body) => (JSON.parse(body) as unknown[]).slice(1));
      const [begun, ...facts] = entries as [Begun, ...Fact[]];
      const whole = Core.restore(begun.snapshot);
      for (const fact of facts) whole.apply(fact);
      const twice = Core.restore(JSON.parse(JSON.stringify(whole.snapshot())) as CoreSnapshot);
      expect(twice.snapshot()).toEqual(whole.snapshot());
      whole.check();
      // What snapshot and tail make is what the next process shows before it goes on.
      const before = new Map([...whole.state.table.all()].map((task) => [task.id, task.state]));
      const left = new Map([...before.keys()].map((id) => [id, story.scheduler.get(id)?.state]));
      expect(left).toEqual(before);
      const next = await story.store.crash('lost');
      const loaded = new Scheduler({ store: next, clock: story.clock, concurrency: 0 });
      await loaded.start();
      for (const [id, state] of before) {
        if (state !== 'running')
          expect(loaded.get(id)?.state, id).toBe(state === 'delayed' ? loaded.get(id)?.state : state);
      }
      await loaded.close();
    }),
    { numRuns: 30 },
  );
}, 60_000);
