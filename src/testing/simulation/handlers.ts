import { SchedulerError } from '../../model/index.js';
import type { Handle, TaskContext } from '../../runtime/handle.js';
import { Chance } from './chance.js';
import type { ProcessClock } from './process-clock.js';
import type { Surroundings } from './surroundings.js';

/** The input of every task: what it does follows from this and the number of the attempt. */
export interface Behaviour {
  readonly seed: number;
}

/** The process that a handler runs in. */
interface Place {
  readonly clock: ProcessClock;
  readonly testimony: { added(handle: Handle<unknown>): void };
}

/** One execution of a handler. */
interface Life {
  readonly world: Surroundings;
  readonly place: Place;
  readonly task: TaskContext;
  readonly chance: Chance;
}

type Live = (life: Life) => unknown;
type Deed = readonly [name: string, live: Live];

/** What handlers do that are as they should be. */
const GOOD: readonly [Deed, ...Deed[]] = [
  ['returns at once', () => 'done'],
  ['takes a moment', (life) => sleep(life, life.chance.roll(30))],
  ['takes a while', (life) => sleep(life, life.chance.roll(300))],
  ['stops when told', (life) => untilAborted(life)],
  ['checkpoints', (life) => checkpoints(life)],
  ['adds a child', (life) => addChild(life)],
];

/** What they had better not do. */
const BAD: readonly [Deed, ...Deed[]] = [
  ['throws at once', () => fail('thrown')],
  ['rejects', (life) => sleep(life, life.chance.roll(20)).then(() => fail('rejected'))],
  ['throws nothing', () => throwNothing()],
  ['never settles', ({ world }) => world.letGo],
  ['ignores its abort', (life) => sleep(life, 100 + life.chance.roll(500))],
  ['settles late', (life) => untilAborted(life).catch(() => sleep(life, life.chance.roll(200)))],
];

/** Does what the input says, and tells the world what that is. */
export function behaviour(world: Surroundings, place: Place, { seed }: Behaviour, task: TaskContext): unknown {
  if (world.isHealing) return 'healed';
  const chance = new Chance(seed + task.attempt / 1_000);
  const { handlers } = world.climate.faults;
  const isBad = handlers > 0 && chance.oneIn(9 - 2 * handlers);
  const [name, live] = chance.pick(isBad ? BAD : GOOD);
  if (isBad) world.evidence.note(`handler ${name}`);
  return live({ world, place, task, chance });
}

/** Resolves after so much time of its process, or when whatever hangs is let go of. */
function sleep({ world, place }: Life, ms: number): Promise<void> {
  return Promise.race([place.clock.sleep(ms), world.letGo]);
}

/** Rejects when its signal aborts; most are told at some time, the others are let go of in the end. */
function untilAborted({ world, task: { signal } }: Life): Promise<void> {
  const aborted = new Promise<void>((_, reject) => {
    const end = (): void => {
      reject(withoutStack(signal.reason as Error));
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  });
  return Promise.race([aborted, world.letGo]);
}

async function checkpoints(life: Life): Promise<unknown> {
  const { task, chance } = life;
  const last = (task.resumed as { readonly step: number } | undefined)?.step ?? 0;
  for (let step = last + 1; step < last + 3; step += 1) {
    quietly(life.world, () => {
      task.checkpoint({ step });
      task.heartbeat();
      task.progress(step);
    });
    await sleep(life, chance.roll(15));
  }
  if (task.signal.aborted) throw withoutStack(task.signal.reason as Error);
  return last;
}

async function addChild(life: Life): Promise<void> {
  const { world, place, task, chance } = life;
  if (!world.isFull) {
    quietly(world, () => {
      const input: Behaviour = { seed: chance.roll(1e9) };
      const child = task.add('work', input, { id: world.nextId(), detached: chance.oneIn(4), timeout: 400 });
      place.testimony.added(child);
    });
  }
  await sleep(life, chance.roll(10));
}

/** As a user might who knows no better. */
function throwNothing(): never {
  const nothing = undefined as unknown as Error;
  throw nothing;
}

function fail(what: string): never {
  throw withoutStack(new Error(`${what} on purpose`));
}

/** What failed attempts leave behind is kept, and where the event loop stood then is not the same every time. */
export function withoutStack(error: Error): Error {
  error.stack = String(error);
  return error;
}

/** What is refused with an error of its own is as good as done. */
export function quietly<Value>(world: Surroundings, act: () => Value): Value | undefined {
  try {
    return act();
  } catch (error) {
    const what = (): string => `a call throws ${error instanceof Error ? String(error.stack) : String(error)}`;
    world.evidence.holds('G9', error instanceof SchedulerError, what);
    return undefined;
  }
}
