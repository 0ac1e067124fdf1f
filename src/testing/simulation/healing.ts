import { isFinal } from '../../model/index.js';
import type { Masters } from './fault-acts.js';
import type { Master } from './master.js';
import { CAPABILITY, CHANNELS } from './options.js';
import { checkAtRest } from './rest-checks.js';
import { hasEnded } from './witnessed-task.js';

/** So often somebody is started until it stays. */
const MOST_STARTS = 5;

interface Healed extends Masters {
  supervise(): Promise<void>;
  quiesce(): Promise<void>;
}

/** Everything is possible again: every task that was ever acknowledged must come to its one end, and nothing be held then. */
export async function heal(world: Healed): Promise<void> {
  const master = await opened(world);
  if (!master.isReady) return;
  const { inner } = master;
  allowAll(world, master);
  await world.clock.advance('1m');
  // The wall clock may have been set back, so that what is due tomorrow is far away.
  for (const wait of ['1h', '20d', '60d'] as const) if (inner.core.state.pending > 0) await world.clock.advance(wait);
  await world.quiesce();
  checkAtRest(world, master);
  checkFinished(world, master);
  await closeAndReopen(world, master);
}

/** A process that has everything back. */
async function opened(world: Healed): Promise<Master> {
  for (let start = 0; start < MOST_STARTS; start += 1) {
    await world.quiesce();
    await world.supervise();
    await world.quiesce();
    if (world.current.isReady) break;
    // One that closes does so first, and one that had no space tries again.
    await world.clock.advance('6s');
  }
  const { current } = world;
  const why = (): string =>
    `nothing goes wrong any more, and it does not open: ${String(current.inner.keeping?.failure)}`;
  world.evidence.holds('G2', current.isReady, why);
  return current;
}

function allowAll(world: Healed, { scheduler, inner }: Master): void {
  for (const series of [...inner.core.state.series.keys()]) inner.tell({ kind: 'cancelSeries', series });
  for (const channel of CHANNELS) scheduler.resumeChannel(channel);
  Object.assign(world.limits, { global: 30, gpu: 9, memory: 9, perType: 9, perChannel: 30 });
  scheduler.setLimit({ global: 30, perType: { render: 9 }, perChannel: { '*': 30 } });
  scheduler.setCapacity('gpu', 9);
  scheduler.setCapacity('memory', 9);
  scheduler.setConcurrency(20);
  scheduler.resume();
  void help(scheduler.worker({ id: 'helper', capabilities: CAPABILITY, lease: '10s' })).catch(() => undefined);
}

async function help(worker: ReturnType<Master['scheduler']['worker']>): Promise<void> {
  for await (const claim of worker) await claim.run().catch(() => undefined);
}

/** G2, G7: all is done, everybody knows, and nothing is held. */
function checkFinished({ evidence, witness }: Healed, { inner, testimony }: Master): void {
  for (const task of witness.tasks.values()) {
    evidence.holds('G2', hasEnded(task), () => `when all is healed, "${task.id}" is ${task.state}`, task.id);
  }
  const unfinished = [...inner.core.state.table.all()].find(({ state }) => !isFinal(state))?.id;
  evidence.holds('G2', unfinished === undefined, () => `when all is healed, "${unfinished}" is unfinished`, unfinished);
  const [unsettled] = testimony.unsettled();
  evidence.holds('G2', unsettled === undefined, () => `when all is healed, it never settles: ${String(unsettled)}`);
  const held = [...inner.core.state.resources.allPools()].find((pool) => Math.abs(pool.held) > 1e-6)?.name;
  evidence.holds('G7', held === undefined, () => `when all is healed, something is held of "${String(held)}"`);
  const [holding] = witness.limits.holding;
  const id = holding?.task.id;
  evidence.holds('G7', holding === undefined, () => `when all is healed, "${String(id)}" holds something`, id);
}

/** The last look: whoever comes next finds everything as it was left. */
async function closeAndReopen(world: Healed, master: Master): Promise<void> {
  master.close(10);
  await world.clock.advance('1m');
  await world.quiesce();
  world.evidence.holds('G2', !master.isAlive, () => 'when all is healed, it never closes');
  await opened(world);
}
