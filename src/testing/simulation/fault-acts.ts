import { DeposedError, StoreError } from '../../model/index.js';
import { FileStore } from '../../stores/file/file-store.js';
import type { Chance } from './chance.js';
import { quietly, type Behaviour } from './handlers.js';
import { DIRECTORY, type Master } from './master.js';
import type { Surroundings } from './surroundings.js';

/** The processes of a simulation. */
export interface Masters extends Surroundings {
  current: Master;
  readonly former: Master[];
  fullUntil: number;
  start(): Master;
}

type FaultAct = (world: Masters, chance: Chance) => void | Promise<void>;

const HOUR_MS = 3_600_000;

function takeOver(world: Masters): void {
  const { current } = world;
  if (!current.isReady) return;
  world.evidence.note('takeover');
  current.stop();
  world.former.push(current);
  world.start();
}

/** Somebody uses one that was taken over from and does not know yet: whatever that one acknowledges must count. */
function useDeposed(world: Masters, chance: Chance): void {
  const deposed = world.former.find(({ isStopped, isAlive }) => isAlive && !isStopped);
  if (deposed === undefined) return;
  const input: Behaviour = { seed: chance.roll(1e9) };
  quietly(world, () => {
    deposed.testimony.added(deposed.scheduler.add('work', input, { id: world.nextId() }));
  });
}

/** A second process where one is known to be at work: it is refused. */
async function rival({ disk, current, climate, evidence }: Masters): Promise<void> {
  if (!current.isReady) return;
  const process = disk.start();
  const store = new FileStore(DIRECTORY, { files: process, durability: climate.durability });
  const refusal: unknown = await store.open().then(
    () => undefined,
    (error: unknown) => error,
  );
  const isBusy = refusal instanceof StoreError && refusal.kind === 'busy';
  evidence.holds('G5', isBusy, () => `a second process opens the store of one at work: ${String(refusal)}`);
  process.kill();
}

/** Somebody writes who has an old idea of what is there: nothing of it may count. */
function staleAppend({ current, ledger, evidence }: Masters, chance: Chance): void {
  if (!current.isReady) return;
  const before = ledger.bodies.length - 1 - chance.roll(3);
  const [sequence, epoch] = chance.oneIn(2) ? [before, current.epoch] : [ledger.bodies.length, current.epoch - 1];
  const done = current.store.append(Math.max(0, sequence), epoch, '[1]').then(
    () => undefined,
    (error: unknown) => error,
  );
  void done.then((refusal) => {
    const isRefused = refusal instanceof DeposedError || refusal instanceof StoreError;
    if (current.isAlive) evidence.holds('G5', isRefused, () => `an append to ${sequence} in epoch ${epoch} is kept`);
  });
}

/** What goes wrong around a scheduler, and what whoever looks after it does, by name. */
export const FAULT_ACTS = {
  wait: ({ clock }, chance) => clock.advance(chance.roll(200)),
  restart: ({ current }, chance) => {
    if (current.isReady) current.close(chance.roll(60));
  },
  jump: ({ clock, current }, chance) => {
    clock.jump((chance.roll(3) - 1) * chance.pick([1_000, HOUR_MS, 24 * HOUR_MS]));
    // Nobody is told that the clock was set: it is seen when something happens.
    if (current.isReady) current.inner.dispatchSoon();
  },
  block: ({ clock }, chance) => {
    clock.block(chance.roll(300));
  },
  fillDisk: (world, chance) => {
    world.fullUntil = world.clock.now().mono + chance.roll(2_000);
  },
  losePower: (world) => {
    world.evidence.note('crash: power');
    for (const master of [world.current, ...world.former]) master.end();
    world.disk.losePower();
  },
  kill: ({ current, evidence }) => {
    if (current.isAlive) evidence.note('crash: kill');
    current.end();
  },
  dieSoon: ({ current }, chance) => {
    current.diesIn = 1 + chance.roll(40);
  },
  takeOver,
  wakeUp: ({ former }) => {
    former.find(({ isStopped }) => isStopped)?.wake();
  },
  useDeposed,
  rival,
  staleAppend,
} as const satisfies Record<string, FaultAct>;
