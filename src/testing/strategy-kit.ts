import { inspect, isDeepStrictEqual } from 'node:util';
import { Core, type CoreSnapshot, type Strategy } from '../core/index.js';
import { SeededRandom } from '../model/index.js';
import { STRATEGY_NAMES, candidateOf, type Candidate, type ChoiceContext } from '../ready/index.js';
import type { ConformanceCheck } from './conformance.js';
import { SIM_START, Sim, type SimTaskOptions } from './sim.js';

/** What is checked of a strategy. */
export type StrategyCheckName =
  | 'says its name and what decides'
  | 'ranks every task with a number'
  | 'ranks a task the same each time'
  | 'changes nothing that it is shown'
  | 'chooses one of those it is shown'
  | 'chooses the same by the same chance'
  | 'lets every task go once, in its order'
  | 'goes on after a restart as it would have';

/** The strategy to check. */
export interface StrategySubject {
  /** A new one, for each check. */
  make(): Strategy;
  /** Tasks that say something to it, such as types it has an opinion of; they are tried beside those of the kit. */
  readonly tasks?: readonly Partial<Candidate>[] | undefined;
  /** What does not apply to it, with the reason. */
  readonly skip?: Partial<Readonly<Record<StrategyCheckName, string>>> | undefined;
}

/**
 * What every strategy of one's own must keep to, as checks for any test runner.
 *
 * @example
 * ```ts
 * for (const { name, skipped, run } of strategyChecks({ make: () => shortestFirst })) {
 *   test(name, { skip: skipped !== undefined }, run);
 * }
 * ```
 */
export function strategyChecks(subject: StrategySubject): ConformanceCheck[] {
  return (Object.entries(CHECKS) as [StrategyCheckName, Body][]).map(([name, body]) => ({
    name,
    skipped: subject.skip?.[name] ?? (CHOICES.has(name) ? withoutChoice(subject) : undefined),
    run: async () => {
      await body(new Trial(subject));
    },
  }));
}

type Body = (trial: Trial) => void | Promise<void>;

const CHOICES: ReadonlySet<StrategyCheckName> = new Set([
  'chooses one of those it is shown',
  'chooses the same by the same chance',
]);

function withoutChoice(subject: StrategySubject): string | undefined {
  return subject.make().choose === undefined ? 'it has no choose' : undefined;
}

const CHECKS: Readonly<Record<StrategyCheckName, Body>> = {
  'says its name and what decides': ({ strategy }) => {
    const { name } = strategy;
    demand(typeof name === 'string' && name !== '', `its name is ${inspect(name)}, expected a text that is not empty`);
    demand(!(STRATEGY_NAMES as readonly string[]).includes(name), `"${name}" is the name of a built-in strategy`);
    const said: unknown = strategy.describe();
    const isLine = typeof said === 'string' && said.trim() !== '' && !/[\r\n]/.test(said);
    demand(isLine, `describe() gives ${inspect(said)}, expected one line of text`);
    demand(strategy.describe() === said, 'describe() gives another text when asked again');
  },
  'ranks every task with a number': (trial) => {
    for (const task of trial.tasks) trial.rank(task);
  },
  'ranks a task the same each time': async (trial) => {
    const { tasks } = trial;
    const first = tasks.map((task) => trial.rank(task));
    // A clock that is read in between shows.
    await new Promise((resolve) => setTimeout(resolve, 5));
    const again = tasks.toReversed().map((task) => trial.rank(structuredClone(task)));
    for (const [at, rank] of again.toReversed().entries()) {
      const claim = `it ranks ${inspect(tasks[at])} as ${inspect(first[at])}, and then as ${inspect(rank)}`;
      demand(Object.is(rank, first[at]), `${claim}; the rank must depend on the task alone`);
    }
  },
  'changes nothing that it is shown': (trial) => {
    for (const task of trial.tasks) {
      const shown = structuredClone(task);
      trial.rank(shown);
      demand(isDeepStrictEqual(shown, task), `rank has made ${inspect(shown)} of ${inspect(task)}`);
    }
    for (const heads of trial.heads()) {
      const shown = [...heads];
      const before = structuredClone(shown);
      trial.strategy.choose?.(shown, chance(1));
      demand(isDeepStrictEqual(shown, before), `choose has made ${inspect(shown)} of ${inspect(before)}`);
    }
  },
  'chooses one of those it is shown': (trial) => {
    for (const heads of trial.heads()) {
      for (const context of [chance(1), chance(2), always(0), always(1 - Number.EPSILON)]) trial.choose(heads, context);
    }
  },
  'chooses the same by the same chance': async (trial) => {
    const offered = [...trial.heads()];
    const drawn = offered.map((heads) => trial.choose(heads, chance(7)));
    await new Promise((resolve) => setTimeout(resolve, 5));
    for (const [at, heads] of offered.entries()) {
      const again = trial.choose(heads, chance(7));
      const claim = `of the same tasks it chooses ${inspect(drawn[at]?.id)} and then ${inspect(again.id)}`;
      demand(again === drawn[at], `${claim}; only the tasks, the time it is given and random() may decide`);
    }
  },
  'lets every task go once, in its order': (trial) => {
    const sim = trial.simulate();
    const ranked = trial.simulated(sim).map((task) => ({ task, rank: trial.rank(task) }));
    const order = sim.drain(WORKER);
    const compare = (x: number, y: number): number => (x < y ? -1 : x > y ? 1 : 0);
    ranked.sort((x, y) => compare(x.rank, y.rank) || x.task.sequence - y.task.sequence);
    const ids = ranked.map(({ task }) => task.id);
    demand(isDeepStrictEqual(order.toSorted(), ids.toSorted()), `of ${ids.join()} it let go ${order.join()}`);
    if (trial.strategy.choose !== undefined) return;
    demand(isDeepStrictEqual(order, ids), `it let go ${order.join()}, expected by its ranks: ${ids.join()}`);
  },
  'goes on after a restart as it would have': (trial) => {
    const sim = trial.simulate();
    for (let left = trial.tasks.length / 2; left > 0; left -= 1)
      for (const id of sim.claim(1, WORKER)) sim.complete(id);
    const snapshot = JSON.parse(JSON.stringify(sim.core.snapshot())) as CoreSnapshot;
    const expected = sim.drain(WORKER);
    const restarted = new Sim({ check: false });
    restarted.core = Core.restore(snapshot, { strategies: [trial.make()] });
    const order = restarted.drain(WORKER);
    const claim = `after a restart it lets go ${order.join()}, expected ${expected.join()}`;
    demand(isDeepStrictEqual(order, expected), `${claim}; what it remembers is not kept`);
  },
};

const WORKER = 'checker';

/** Where a strategy is tried. */
class Trial {
  readonly strategy: Strategy;
  readonly tasks: readonly Candidate[];

  constructor(private readonly subject: StrategySubject) {
    this.strategy = subject.make();
    this.tasks = sample(subject.tasks ?? []);
  }

  make(): Strategy {
    return this.subject.make();
  }

  /** The rank of a task, which must be one. */
  rank(task: Candidate): number {
    const rank: unknown = this.strategy.rank(task);
    const isRank = typeof rank === 'number' && !Number.isNaN(rank);
    demand(isRank, `it ranks ${inspect(task)} as ${inspect(rank)}, expected a number`);
    return rank as number;
  }

  /** Which of the tasks it chooses, which must be one of them. */
  choose(heads: readonly Candidate[], context: ChoiceContext): Candidate {
    const chosen: unknown = this.strategy.choose?.([...heads], context);
    const found = heads.find((head) => head === chosen);
    if (found !== undefined) return found;
    throw failure(
      `of ${inspect(heads.map(({ id }) => id))} it chooses ${inspect(chosen)}, expected one of them itself`,
    );
  }

  /** What may be there to choose from: a single task up to all of them, also where they are alike. */
  *heads(): Iterable<readonly Candidate[]> {
    for (let count = 1; count <= this.tasks.length; count *= 2) yield this.tasks.slice(0, count);
    yield this.tasks;
    yield this.tasks
      .slice(0, 8)
      .map((task, at) => ({ ...(this.tasks[0] as Candidate), id: task.id, sequence: at + 1 }));
  }

  /** All tasks, ready in a simulation that goes by the strategy, with a worker that takes any of them. */
  simulate(): Sim {
    const sim = new Sim({ strategy: this.strategy, check: false });
    const wanted = this.tasks.flatMap(({ capabilities }) => capabilities);
    const offered = new Map(
      wanted.map(([name]) => [name, wanted.flatMap(([n, value]) => (n === name ? [value] : []))]),
    );
    sim.worker(WORKER, { capabilities: offered });
    for (const resource of new Set(this.tasks.flatMap(({ needs }) => needs.map((need) => need.resource)))) {
      sim.send({ kind: 'setCapacity', resource, units: Number.MAX_SAFE_INTEGER });
    }
    for (const task of this.tasks) sim.add(task.id, optionsOf(task));
    return sim;
  }

  /** What the strategy is shown of the tasks of a simulation. */
  simulated(sim: Sim): Candidate[] {
    return this.tasks.map(({ id }) => candidateOf(sim.task(id)));
  }
}

function optionsOf({ type, channel, level, deadline, estimateMs, needs, capabilities }: Candidate): SimTaskOptions {
  return {
    type,
    channel,
    priority: level,
    needs: Object.fromEntries(needs.map(({ resource, amount }) => [resource, amount])),
    capabilities: Object.fromEntries(capabilities),
    ...(deadline === Infinity ? {} : { deadline }),
    estimate: estimateMs,
  };
}

/** Names that are something else to whoever keeps what he knows in a plain object. */
const ODD_NAMES = ['__proto__', 'constructor', 'toString', 'a task that nobody knows'];

/** Tasks that differ in all that a strategy may look at, those given first. */
function sample(given: readonly Partial<Candidate>[]): Candidate[] {
  const random = new SeededRandom('strategy kit');
  const pick = <Value>(...values: readonly Value[]): Value =>
    values[Math.floor(random.next() * values.length)] as Value;
  const make = (own: Partial<Candidate>, at: number): Candidate => ({
    id: `checked-${at + 1}`,
    type: pick('', 'mail', 'render', ...ODD_NAMES),
    channel: pick('default', 'gold', 'acme', ...ODD_NAMES),
    level: pick(0, 1, 2, 2, 2, 3, 4, -1.5, 100),
    deadline: pick(Infinity, Infinity, SIM_START + 1_000, SIM_START + 60_000),
    estimateMs: pick(undefined, undefined, 1_000, 90_000),
    sequence: at + 1,
    attempts: pick(0, 0, 0, 1, 5),
    needs: pick([], [], [{ resource: 'gpu', amount: 1 }], [{ resource: 'gpu', amount: 3 }]),
    capabilities: pick([], [], [['os', 'linux'] as const]),
    ...own,
  });
  const odd = ODD_NAMES.map((id) => ({ id }));
  const unknown = Array.from({ length: 32 }, () => ({}));
  return [...given, ...odd, ...unknown].map(make);
}

/** What a choice may use: the same numbers for the same seed. */
function chance(seed: number): ChoiceContext {
  const random = new SeededRandom(seed);
  return { now: 1_000, random: () => random.next() };
}

/** A chance that always gives the same number. */
function always(number: number): ChoiceContext {
  return { now: 1_000, random: () => number };
}

function failure(otherwise: string): Error {
  return new Error(`The strategy does not conform: ${otherwise}.`);
}

function demand(holds: boolean, otherwise: string): void {
  if (!holds) throw failure(otherwise);
}
