import type { AddAllEntry } from '../../runtime/add-all.js';
import type { Handle } from '../../runtime/handle.js';
import type { Chance } from './chance.js';
import type { Behaviour } from './handlers.js';
import { TYPES, type Master } from './master.js';
import { CHANNELS, POLICIES, STRATEGIES, drawOptions } from './options.js';
import type { Surroundings } from './surroundings.js';

/** Something that the users of a scheduler do. */
export type Act = (world: Surroundings, master: Master, chance: Chance) => void | Promise<void>;

/** So many of the latest tasks are spoken of again. */
const MOST_SPOKEN_OF = 40;
const MOST_SERIES = 3;

function behave(chance: Chance): Behaviour {
  return { seed: chance.roll(1e9) };
}

/** The ids of some of the tasks that there are, the latest. */
function spokenOf({ witness }: Surroundings): string[] {
  return [...witness.tasks.keys()].slice(-MOST_SPOKEN_OF);
}

function keep(master: Master, handle: Handle<unknown>): void {
  master.handles.push(handle);
  if (master.handles.length > MOST_SPOKEN_OF) master.handles.shift();
  master.testimony.added(handle);
}

function add(world: Surroundings, master: Master, chance: Chance): void {
  if (world.isFull) return;
  const options = drawOptions(chance, world.clock.now().wall, spokenOf(world));
  // Some are left to be named by the scheduler.
  const id = chance.oneIn(6) ? undefined : world.nextId();
  keep(master, master.scheduler.add(chance.pick(TYPES), behave(chance), { ...options, id }));
}

/** Several that differ in nothing but their channels, so that an order has something to choose from. */
function addAlike(world: Surroundings, master: Master, chance: Chance): void {
  // Each type at a level of its own, so that nothing else is in their way.
  const [kind, count] = [chance.roll(2), 3 + chance.roll(10)];
  const among = chance.oneIn(2) ? CHANNELS : ([chance.pick(CHANNELS)] as const);
  for (let made = 0; made < count && !world.isFull; made += 1) {
    const options = { id: world.nextId(), priority: 4 + kind, channel: chance.pick(among), retry: 1 + chance.roll(2) };
    keep(master, master.scheduler.add(TYPES[kind === 0 ? 0 : 1], behave(chance), options));
  }
}

/** One that needs all there is of a resource, and several that need little and would always come first. */
function addHungry(world: Surroundings, master: Master, chance: Chance): void {
  const hungry = { id: world.nextId(), needs: { memory: world.limits.memory } };
  keep(master, master.scheduler.add('work', behave(chance), hungry));
  for (let made = 0; made < 6 && !world.isFull; made += 1) {
    const options = { id: world.nextId(), needs: { memory: 1 + chance.roll(2) }, priority: chance.roll(4) };
    keep(master, master.scheduler.add('work', behave(chance), options));
  }
}

function addAll(world: Surroundings, master: Master, chance: Chance): void {
  if (world.isFull) return;
  const ids = [0, 1, 2].map(() => world.nextId());
  const entries = ids.map((id, at): AddAllEntry => {
    const options = drawOptions(chance, world.clock.now().wall, []);
    // Now and then a circle, which is refused whole.
    const before = ids[chance.oneIn(12) ? (at + 1) % 3 : at - 1];
    const after = before === undefined ? [] : [before];
    return { ...options, name: chance.pick(TYPES), input: behave(chance), id, after };
  });
  for (const handle of master.scheduler.addAll(entries)) keep(master, handle);
}

function cancel(world: Surroundings, { scheduler }: Master, chance: Chance): void {
  const id = chance.pick(spokenOf(world));
  if (id === undefined) return;
  if (chance.oneIn(6)) scheduler.cancel(({ channel, priority }) => channel === 'a' && priority > 2);
  else scheduler.cancel(id, { cascade: chance.oneIn(3), reason: 'no longer wanted' });
}

function reprioritize(world: Surroundings, { scheduler }: Master, chance: Chance): void {
  const id = chance.pick(spokenOf(world));
  if (id !== undefined) scheduler.setPriority(id, chance.roll(4));
}

function link(world: Surroundings, { scheduler }: Master, chance: Chance): void {
  const [one, other] = [chance.pick(spokenOf(world)), chance.pick(spokenOf(world))];
  if (one === undefined || other === undefined) return;
  scheduler.addDependency(one, other, { onFailure: chance.pick(POLICIES) });
}

function unlink({ witness }: Surroundings, { scheduler }: Master, chance: Chance): void {
  const held = [...witness.tasks.values()].filter((task) => task.state === 'waiting' && task.after.size > 0);
  const task = chance.pick(held);
  const dependency = chance.pick([...(task?.after.keys() ?? [])]);
  if (task !== undefined && dependency !== undefined) scheduler.removeDependency(task.id, dependency);
}

function retry({ witness }: Surroundings, master: Master, chance: Chance): void {
  const failed = [...witness.tasks.values()].filter(({ state, isForgotten }) => state === 'failed' && !isForgotten);
  const id = chance.pick(failed)?.id;
  if (id !== undefined) master.scheduler.retry(id);
}

function setLimits({ limits }: Surroundings, { scheduler }: Master, chance: Chance): void {
  switch (chance.roll(3)) {
    case 0:
      scheduler.setLimit({ global: (limits.global = 1 + chance.roll(6)) });
      return;
    case 1:
      scheduler.setLimit({ perType: { render: (limits.perType = 1 + chance.roll(2)) } });
      return;
    default:
      scheduler.setLimit({ perChannel: { '*': (limits.perChannel = 1 + chance.roll(4)) } });
  }
}

function setCapacity({ limits }: Surroundings, { scheduler }: Master, chance: Chance): void {
  // What needs more than there is waits until there is more.
  if (chance.oneIn(2)) scheduler.setCapacity('gpu', (limits.gpu = 1 + chance.roll(3)));
  else scheduler.setCapacity('memory', (limits.memory = 3 + chance.roll(4)));
}

function repeat(world: Surroundings, { scheduler, inner }: Master, chance: Chance): void {
  if (inner.core.state.series.size >= MOST_SERIES) return;
  scheduler.repeat('work', behave(chance), {
    id: `s${chance.roll(MOST_SERIES)}`,
    every: 40 + chance.roll(300),
    from: chance.pick(['end', 'start', 'grid']),
    channel: 'b',
    timeout: 100,
    overlap: chance.pick(['skip', 'queue', 'allow']),
    catchUp: chance.pick(['once', 'all', 'none']),
    ...chance.some(3, { count: 1 + chance.roll(5), until: world.clock.now().wall + 1_000, retry: 2 }),
  });
}

function endSeries(_world: Surroundings, { inner }: Master, chance: Chance): void {
  const series = chance.pick([...inner.core.state.series.keys()]);
  if (series !== undefined) inner.tell({ kind: chance.pick(['cancelSeries', 'pauseSeries', 'resumeSeries']), series });
}

/** What the users of a scheduler do at any time, by name. */
export const ACTS = {
  add,
  addAlike,
  addHungry,
  addAll,
  cancel,
  reprioritize,
  link,
  unlink,
  retry,
  setLimits,
  setCapacity,
  repeat,
  endSeries,
  pauseChannel: (_world, { scheduler }, chance) => {
    scheduler.pauseChannel(chance.pick(CHANNELS));
  },
  resumeChannel: (_world, { scheduler }, chance) => {
    scheduler.resumeChannel(chance.pick(CHANNELS));
  },
  setStrategy: (_world, { scheduler }, chance) => {
    scheduler.setStrategy(chance.pick(STRATEGIES));
  },
  setConcurrency: (_world, { scheduler }, chance) => {
    scheduler.setConcurrency(chance.roll(5));
  },
  pause: (_world, { scheduler }) => {
    scheduler.pause();
  },
  resume: (_world, { scheduler }) => {
    scheduler.resume();
  },
} as const satisfies Record<string, Act>;
