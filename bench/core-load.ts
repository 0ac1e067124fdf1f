import type { Core, WorkerSpec } from '../src/core/index.js';
import type { TaskSpec } from '../src/model/index.js';
import { loadCore } from './ours.js';
import { randomIntegers } from './random.js';

/** What the ready tasks of a loaded core are like. */
export interface Load {
  readonly strategy: string;
  readonly ready: number;
  readonly channels: number;
  /** Tasks on top that wait for a resource nobody gives back. */
  readonly blocked: number;
}

export const now = { wall: 1_900_000_000_000, mono: 0 };

const everything: WorkerSpec = {
  id: 'bench',
  slots: Infinity,
  capabilities: new Map(),
  strategy: undefined,
  filter: undefined,
  leaseMs: Infinity,
  retries: 0,
};

/** A core with ten levels of ready tasks over some channels, and a worker that takes whatever there is. */
export async function loadedCore(load: Load) {
  const { Core: CoreClass, parseTaskOptions } = await loadCore();
  const core: Core = new CoreClass({ origin: now, retain: { count: 0, ageMs: 0 } });
  core.handle({ kind: 'setStrategy', now, strategy: load.strategy as 'fifo' });
  const worker = core.attach(now, everything);
  if (load.blocked > 0) block(core, load.blocked, parseTaskOptions);
  const levels = randomIntegers(load.ready, 10);
  const channels = randomIntegers(load.ready, load.channels, 3);
  const specs = new Map<number, TaskSpec>();
  const specFor = (level: number, channel: number): TaskSpec => {
    const key = level * load.channels + channel;
    let spec = specs.get(key);
    if (spec === undefined) {
      spec = parseTaskOptions({ priority: level, channel: `channel-${channel}` }, '');
      specs.set(key, spec);
    }
    return spec;
  };
  const add = (i: number) => core.submit(now, specFor(levels[i]!, channels[i]!), undefined);
  for (let i = 0; i < load.ready; i++) add(i);
  return { core, worker, add };
}

function block(core: Core, blocked: number, parse: (options: object, type: string) => TaskSpec): void {
  core.handle({ kind: 'setCapacity', now, resource: 'gpu', units: 1 });
  const spec = parse({ needs: { gpu: 1 }, priority: -1 }, '');
  core.submit(now, spec, undefined);
  core.claim(now, core.state.workers.get('bench')!);
  for (let i = 0; i < blocked; i++) core.submit(now, spec, undefined);
}
