import { SchedulerError, type Handle, type Handler, type TaskContext } from '../../src/index.js';
import { Chance } from '../../src/testing/simulation/chance.js';
import { Planned, type Told } from './observed.js';
import type { World } from './world.js';

/** One execution of a handler. */
interface Life {
  readonly world: World;
  readonly task: TaskContext;
  readonly told: Told;
  readonly chance: Chance;
  /** Whether whoever runs it may lose it. */
  readonly leased: boolean;
}

const circular: Error & { cause?: unknown } = new Error('circular');
circular.cause = circular;
const HOSTILE: readonly unknown[] = [
  undefined,
  null,
  0,
  'a text',
  Object.freeze(new Error('frozen')),
  circular,
  {
    get message(): string {
      throw new Error('no message for you');
    },
  },
];

/** Resolves when the signal aborts, or when everything is let go of. */
function given({ world, task }: Life): Promise<void> {
  return Promise.race([
    world.letGo,
    new Promise<void>((resolve) => {
      task.signal.addEventListener('abort', () => {
        resolve();
      });
      if (task.signal.aborted) resolve();
    }),
  ]);
}

/** What a handler does until it ends; each tidies up after itself in {@link handler}. */
const LIVES: readonly ((life: Life) => Promise<unknown>)[] = [
  (life) => life.world.sleep(life.chance.roll(30)),
  (life) => life.world.sleep(life.chance.roll(300)),
  async (life) => {
    await life.world.sleep(life.chance.roll(20));
    throw new Planned('rejects');
  },
  async ({ chance }) => {
    await Promise.resolve();
    throw chance.pick(HOSTILE);
  },
  async (life) => {
    await given(life);
    life.task.signal.throwIfAborted();
  },
  // One that ignores its signal, and settles late or not before it is let go.
  ({ world, chance }) => (chance.oneIn(2) ? world.letGo : world.sleep(100 + chance.roll(400))),
  async (life) => {
    await given(life);
    return 'settles late';
  },
  async (life) => {
    const { world, chance, task } = life;
    for (let i = 0; i < 3; i += 1) {
      task.progress(i / 3);
      const last = task.resumed as { readonly step: number } | undefined;
      quietly(world, () => {
        task.checkpoint({ step: (last?.step ?? 0) + 1 });
        task.heartbeat();
      });
      task.logger.info({ i }, 'goes on');
      await world.sleep(chance.roll(10));
    }
    task.signal.throwIfAborted();
  },
  async (life) => {
    const { world, chance } = life;
    const children = [0, 1].map(() => addChild(life, chance.roll(LIVES.length * 2)));
    for (const child of children) if (child !== undefined && chance.oneIn(2)) await waitFor(life, child);
    await world.sleep(chance.roll(10));
  },
  async (life) => {
    const other = life.chance.pick(life.world.handles);
    if (other !== undefined) await waitFor(life, other);
    return 'waited';
  },
  async (life) => {
    // What a user may do at any time, from inside a handler.
    life.world.doAnything(new Chance(life.chance.roll(1_000)));
    await life.world.sleep(life.chance.roll(10));
  },
  async ({ world, task, chance }) => {
    quietly(world, () => {
      task.report('api', chance.oneIn(2) ? { cost: 1 + chance.roll(2) } : { retryAfter: chance.roll(50) });
    });
    await world.sleep(chance.roll(10));
  },
  async ({ world, task }) => {
    task.signal.addEventListener('abort', () => {
      world.doAnything(new Chance(world.steps));
    });
    await world.sleep(50);
    task.signal.throwIfAborted();
  },
];

/** A handler that does one of all that handlers do, by its seed, and tells the world when it holds what. */
export function handler(world: World, told: Told, seed: number): Handler<unknown> {
  return (task) => {
    const leased = world.isLeased(task);
    const life = { world, task, told, leased, chance: new Chance(seed + 7_919 * task.attempt) };
    const kind = life.chance.roll(LIVES.length + 4);
    world.observed.begin(task, told, leased);
    world.observed.note(`handler ${kind}`);
    const live = LIVES[kind];
    if (live !== undefined) {
      return live(life).finally(() => {
        world.observed.end(task);
      });
    }
    if (kind === LIVES.length) return steps(life);
    world.observed.end(task);
    if (kind === LIVES.length + 1) throw new Planned('throws at once');
    return kind === LIVES.length + 2 ? twice : seed;
  };
}

/** It settles twice, of which the first time counts. */
const twice: PromiseLike<unknown> = {
  then(resolve) {
    void resolve?.('first');
    void resolve?.('second');
    throw new Planned('third');
  },
};

async function* steps({ world, task, told, chance, leased }: Life): AsyncGenerator<number, string> {
  try {
    for (let i = 0; i < 4; i += 1) {
      await world.sleep(chance.roll(40));
      world.observed.end(task);
      yield i;
      if (!task.signal.aborted) world.observed.again(task, told, leased);
    }
    return 'all steps';
  } finally {
    world.observed.end(task);
  }
}

function addChild({ world, task, chance }: Life, seed: number): Handle<unknown> | undefined {
  if (world.isFull) return undefined;
  const told: Told = { channel: 'default', type: '', gpu: 0, tokens: 0, after: new Set() };
  return quietly(world, () => {
    const child = task.add(handler(world, told, seed), { detached: chance.oneIn(4), timeout: 400 });
    world.keep(child, 'child');
    return child;
  });
}

async function waitFor({ world, task, told, leased }: Life, other: Handle<unknown>): Promise<void> {
  world.observed.end(task);
  const waited = task.waitFor(other);
  world.observed.track(`${task.id}#${task.attempt} waits for ${other.id}`, waited);
  try {
    await waited;
  } finally {
    // Given up while it waited, it has nothing any more.
    if (!task.signal.aborted) world.observed.again(task, told, leased);
  }
}

/** What is refused with an error of its own is as good as done. */
export function quietly<Value>(world: World, act: () => Value): Value | undefined {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof SchedulerError))
      world.observed.problem(`a call throws ${String(error)}\n${(error as Error).stack ?? ''}`);
    return undefined;
  }
}
