import type { Claim } from '../../runtime/claim.js';
import type { PullingWorker } from '../../runtime/pulling-worker.js';
import type { Act } from './acts.js';
import type { Chance } from './chance.js';
import { withoutStack } from './handlers.js';
import type { Master } from './master.js';
import { CAPABILITY, STRATEGIES } from './options.js';

const MOST_WORKERS = 4;
const MOST_CLAIMS = 30;
/** Of which the latest are settled more often: most of the others have ended. */
const LATEST_CLAIMS = 4;

/** A claim is in the hands of its worker. */
function hold(master: Master, claim: Claim | undefined): void {
  if (claim === undefined) return;
  master.testimony.began(claim.task.id, claim.token);
  master.claims.push(claim);
  if (master.claims.length > MOST_CLAIMS) master.claims.shift();
}

function attach(master: Master, chance: Chance): void {
  if (master.workers.length >= MOST_WORKERS) return;
  const worker = master.scheduler.worker({
    lease: 40 + chance.roll(200),
    capabilities: CAPABILITY,
    ...chance.some(2, {
      slots: 1 + chance.roll(3),
      strategy: chance.pick(STRATEGIES),
      retries: chance.roll(3),
    }),
  });
  master.workers.push(worker);
  // Some ask by themselves, some only when they are told to.
  if (chance.oneIn(3)) void pull(master, worker).catch(() => undefined);
}

async function pull(master: Master, worker: PullingWorker): Promise<void> {
  for await (const claim of worker) {
    if (!master.isAlive) return;
    // Whoever runs a claim begins it by its handler.
    await claim.run().catch(() => undefined);
  }
}

function claim(master: Master, chance: Chance): void {
  if (master.workers.length < 2) attach(master, chance);
  const worker = chance.pick(master.workers);
  if (worker === undefined) return;
  const claims = chance.oneIn(3) ? worker.claimBatch(1 + chance.roll(3)) : worker.claim().then((one) => [one]);
  const got = claims.then((all: readonly (Claim | undefined)[]) => {
    if (master.isAlive) for (const each of all) hold(master, each);
  });
  master.testimony.expectSettled(`a claim of ${worker.id}`, got);
}

function settle(master: Master, chance: Chance, held = chance.pick(master.claims.slice(-LATEST_CLAIMS))): void {
  if (held === undefined) {
    claim(master, chance);
    return;
  }
  const { testimony } = master;
  switch (chance.roll(6)) {
    case 0:
      testimony.settled(held, 'fail', held.fail(withoutStack(new Error('failed on purpose'))));
      return;
    case 1:
      testimony.settled(held, 'release', held.release());
      return;
    case 2:
      testimony.expectSettled('an extension', held.extend(50));
      return;
    default:
      testimony.settled(held, 'complete', held.complete('done'));
  }
}

function leave(master: Master, chance: Chance): void {
  const worker = chance.pick(master.workers);
  if (worker === undefined) return;
  if (chance.oneIn(3)) {
    worker.setStrategy(chance.pick(STRATEGIES));
    return;
  }
  master.workers.splice(master.workers.indexOf(worker), 1);
  master.testimony.expectSettled(`the end of ${worker.id}`, worker.close());
}

/** What workers do that claim for themselves, by name. */
export const WORKER_ACTS = {
  attach: (_world, master, chance) => {
    attach(master, chance);
  },
  claim: (_world, master, chance) => {
    claim(master, chance);
  },
  settle: (_world, master, chance) => {
    settle(master, chance);
  },
  leave: (_world, master, chance) => {
    leave(master, chance);
  },
  /** Nobody gives a sign of life for longer than a lease. */
  lapse: (world) => world.clock.advance(250),
  settleLate: (_world, master, chance) => {
    settle(master, chance, master.claims[0]);
  },
  settleTwice: (_world, master, chance) => {
    const held = chance.pick(master.claims);
    settle(master, chance, held);
    settle(master, chance, held);
  },
} as const satisfies Record<string, Act>;
