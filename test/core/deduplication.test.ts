import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Core, type CoreSnapshot } from '../../src/core/index.js';
import { SchedulerError, parseTaskOptions, type Task } from '../../src/model/index.js';
import { sim, type Sim } from '../../src/testing/index.js';

const PERIOD_MS = 100;

/** What is known of a task by somebody who writes everything down. */
interface Noted {
  readonly sequence: number;
  readonly id: string;
  readonly throttledBy: string | undefined;
  after: { on: Noted; readonly onFailure: 'run' | 'skip'; passed: boolean }[];
  work: number;
  eta: number;
  state: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled' | 'skipped';
}

interface ById {
  readonly kind: 'byId';
  readonly id: string;
  readonly ifExists: 'keep' | 'replace' | undefined;
  readonly after: readonly string[];
  readonly onFailure: 'run' | 'skip';
}

interface ByKey {
  readonly kind: 'byKey';
  readonly key: string;
  readonly pace: 'debounce' | 'throttle' | undefined;
}

const isEnded = ({ state }: Noted): boolean => state !== 'pending' && state !== 'running';

/** All tasks in a list, the latest of each id and key by name, and nothing cleverer than that. */
class Notebook {
  readonly all: Noted[] = [];
  readonly byId = new Map<string, Noted>();
  private readonly byKey = new Map<string, Noted>();
  private readonly starts = new Map<string, number>();

  /** The code of its refusal, the task it shares, or the new one. */
  submitById({ id, ifExists, after, onFailure }: ById, work: number, sequence: number): string | Noted {
    const known = this.byId.get(id);
    if (known !== undefined && ifExists === undefined) return 'DUPLICATE_TASK';
    if (known !== undefined && ifExists === 'keep') return known;
    if (after.includes(id)) return 'CYCLE';
    const dependencies = after.map((name) => this.byId.get(name) as Noted);
    if (known !== undefined && dependencies.some((each) => this.comesAfter(each, known))) return 'CYCLE';
    const links = dependencies.map((on) => ({ on, onFailure, passed: isEnded(on) && on.state !== 'completed' }));
    const noted = this.note({ sequence, id, throttledBy: undefined, after: links, work, eta: 0, state: 'pending' });
    if (known !== undefined) {
      for (const { link } of this.linksTo(known)) link.on = noted;
      if (!isEnded(known)) known.state = 'cancelled';
    }
    if (onFailure === 'skip' && links.some(({ passed }) => passed)) this.end(noted, 'skipped');
    return noted;
  }

  submitByKey({ key, pace }: ByKey, work: number, sequence: number, now: number): Noted {
    const known = this.byKey.get(key);
    const shares = known !== undefined && (pace === undefined ? !isEnded(known) : known.state === 'pending');
    const quietUntil = now + PERIOD_MS;
    if (shares) {
      if (pace !== undefined) known.work = work;
      if (pace === 'debounce') known.eta = Math.max(known.eta, quietUntil);
      return known;
    }
    const again = (this.starts.get(key) ?? -Infinity) + PERIOD_MS;
    const eta = pace === undefined ? 0 : pace === 'debounce' ? quietUntil : again;
    const throttledBy = pace === 'throttle' ? key : undefined;
    const noted = this.note({ sequence, id: `task-${sequence}`, throttledBy, after: [], work, eta, state: 'pending' });
    this.byKey.set(key, noted);
    return noted;
  }

  start(noted: Noted, now: number): void {
    noted.state = 'running';
    if (noted.throttledBy !== undefined) this.starts.set(noted.throttledBy, now);
  }

  end(noted: Noted, how: 'completed' | 'failed' | 'cancelled' | 'skipped'): void {
    noted.state = how;
    if (how === 'completed') return;
    for (const { dependant, link } of this.linksTo(noted)) {
      if (link.onFailure === 'skip') this.end(dependant, 'skipped');
      else link.passed = true;
    }
  }

  /** The state that the core is to give it. */
  stateOf({ state, eta, after }: Noted, now: number): string {
    if (state !== 'pending') return state;
    if (after.some(({ on, passed }) => !passed && on.state !== 'completed')) return 'waiting';
    return eta > now ? 'delayed' : 'ready';
  }

  private note(noted: Noted): Noted {
    this.all.push(noted);
    this.byId.set(noted.id, noted);
    return noted;
  }

  /** Whoever has not begun and comes after the task. */
  private linksTo(noted: Noted): { dependant: Noted; link: Noted['after'][number] }[] {
    const pending = this.all.filter(({ state }) => state === 'pending');
    return pending.flatMap((dependant) =>
      dependant.after.filter(({ on }) => on === noted).map((link) => ({ dependant, link })),
    );
  }

  private comesAfter(noted: Noted, other: Noted): boolean {
    if (noted.state !== 'pending') return false;
    return noted.after.some(({ on }) => on === other || this.comesAfter(on, other));
  }
}

const ids = fc.constantFrom('a', 'b', 'c', 'd');
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('byId' as const),
      id: ids,
      ifExists: fc.constantFrom('replace' as const, 'keep' as const, undefined),
      after: fc.uniqueArray(ids, { maxLength: 2 }),
      onFailure: fc.constantFrom('run' as const, 'skip' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('byKey' as const),
      key: fc.constantFrom('k', 'l'),
      pace: fc.constantFrom('debounce' as const, 'throttle' as const, undefined),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('claim' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      which: fc.nat(9),
      how: fc.constantFrom('completed' as const, 'completed' as const, 'failed' as const, 'cancelled' as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1, 30, 50, 99, 100) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** The core and the notebook, which are told the same. */
class Both {
  readonly s: Sim = sim();
  private readonly book = new Notebook();
  private calls = 0;

  constructor() {
    this.s.worker('puller', { retries: 0 });
  }

  take(said: Step): void {
    const { s, book } = this;
    switch (said.kind) {
      case 'byId':
      case 'byKey':
        this.submit(said);
        return;
      case 'claim': {
        const ready = book.all.filter((each) => book.stateOf(each, s.now.wall) === 'ready');
        const claimed = s.claim(1).map((id) => book.byId.get(id) as Noted);
        expect(claimed).toHaveLength(Math.min(1, ready.length));
        for (const noted of claimed) {
          expect(ready).toContain(noted);
          book.start(noted, s.now.wall);
        }
        return;
      }
      case 'end':
        this.end(said);
        return;
      case 'wait':
        s.advance(said.ms);
        return;
      case 'restart':
        s.core = Core.restore(JSON.parse(JSON.stringify(s.core.snapshot())) as CoreSnapshot);
    }
  }

  private submit(said: ById | ByKey): void {
    const { s, book } = this;
    const { next } = s.core.state.table;
    this.calls += 1;
    const known = said.kind === 'byId' ? { ...said, after: this.knownOf(said) } : said;
    const expected =
      known.kind === 'byId'
        ? book.submitById(known, this.calls, next)
        : book.submitByKey(known, this.calls, next, s.now.wall);
    const got = this.submitted(known);
    if (typeof expected === 'string' || typeof got === 'string') expect(got).toBe(expected);
    else expect([got.sequence, got.id]).toEqual([expected.sequence, expected.id]);
  }

  private submitted(said: ById | ByKey): Task | string {
    const { s } = this;
    const options =
      said.kind === 'byId'
        ? { id: said.id, ifExists: said.ifExists, onDependencyFailure: said.onFailure }
        : { key: said.key, ...(said.pace === undefined ? {} : { [said.pace]: PERIOD_MS }) };
    try {
      return s.core.submit(s.now, parseTaskOptions(options, ''), this.calls, said.kind === 'byId' ? said.after : []);
    } catch (error) {
      if (error instanceof SchedulerError) return error.code;
      throw error;
    }
  }

  /** Without those that were never added, as they are refused for that alone. */
  private knownOf({ id, after }: ById): string[] {
    return after.filter((each) => each === id || this.book.byId.has(each));
  }

  private end({ which, how }: Extract<Step, { kind: 'end' }>): void {
    const { s, book } = this;
    const open = [...book.byId.values()].filter(
      ({ state }) => state === 'running' || (how === 'cancelled' && state === 'pending'),
    );
    const noted = open[which % Math.max(1, open.length)];
    if (noted === undefined) return;
    if (how === 'completed') s.complete(noted.id);
    else if (how === 'failed') s.fail(noted.id);
    else s.cancel(noted.id);
    book.end(noted, how);
  }

  /** Each task that has its id still is as it should be, and is to do what the last call has brought that counts. */
  compare(): void {
    const { s, book } = this;
    s.core.check();
    for (const [id, noted] of book.byId) {
      const { sequence, payload, state } = s.task(id);
      const expected = [noted.sequence, noted.work, book.stateOf(noted, s.now.wall)];
      expect([sequence, payload, state], id).toEqual(expected);
    }
  }
}

test('F4.2 F4.4 what a call comes to, who gives way, whom others come after then, and when: as somebody notes who only has lists', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 60, size: 'max' }), (steps) => {
      const both = new Both();
      for (const said of steps) {
        both.take(said);
        both.compare();
      }
    }),
    { numRuns: 150 },
  );
});
