import { Chance } from './chance.js';
import type { Climate, FaultClass } from './climate.js';

/** What somebody does in a step, and what goes wrong in one. */
export type ActName =
  | 'add'
  | 'addAlike'
  | 'addHungry'
  | 'addAll'
  | 'cancel'
  | 'reprioritize'
  | 'link'
  | 'unlink'
  | 'retry'
  | 'pauseChannel'
  | 'resumeChannel'
  | 'setStrategy'
  | 'setLimits'
  | 'setCapacity'
  | 'setConcurrency'
  | 'pause'
  | 'resume'
  | 'repeat'
  | 'endSeries'
  | 'attach'
  | 'claim'
  | 'settle'
  | 'wait'
  | 'restart'
  // What goes wrong.
  | 'leave'
  | 'lapse'
  | 'settleLate'
  | 'settleTwice'
  | 'jump'
  | 'block'
  | 'fillDisk'
  | 'losePower'
  | 'kill'
  | 'dieSoon'
  | 'takeOver'
  | 'wakeUp'
  | 'useDeposed'
  | 'rival'
  | 'staleAppend';

/** One thing that somebody does or that goes wrong, with a seed of its own, and how much time passes afterwards. */
export interface Step {
  readonly act: ActName;
  readonly seed: number;
  readonly thenMs: number;
}

/** How often each is done; those of a class of faults so many times its strength. */
const WEIGHTS: Readonly<Record<ActName, number>> = {
  add: 22,
  addAlike: 8,
  addHungry: 3,
  addAll: 4,
  cancel: 4,
  reprioritize: 4,
  link: 3,
  unlink: 2,
  retry: 2,
  pauseChannel: 2,
  resumeChannel: 4,
  setStrategy: 1,
  setLimits: 2,
  setCapacity: 2,
  setConcurrency: 1,
  pause: 1,
  resume: 3,
  repeat: 2,
  endSeries: 1,
  attach: 3,
  claim: 12,
  settle: 12,
  wait: 6,
  restart: 1,
  // What goes wrong.
  leave: 2,
  lapse: 2,
  settleLate: 3,
  settleTwice: 2,
  jump: 2,
  block: 2,
  fillDisk: 1,
  losePower: 1,
  kill: 2,
  dieSoon: 2,
  takeOver: 2,
  wakeUp: 3,
  useDeposed: 2,
  rival: 1,
  staleAppend: 2,
};

/** Which class of faults it belongs to. */
const CLASS_OF: Partial<Record<ActName, FaultClass>> = {
  leave: 'workers',
  lapse: 'workers',
  settleLate: 'workers',
  settleTwice: 'workers',
  jump: 'clock',
  block: 'clock',
  fillDisk: 'disk',
  losePower: 'power',
  kill: 'kills',
  dieSoon: 'kills',
  takeOver: 'takeovers',
  wakeUp: 'takeovers',
  useDeposed: 'takeovers',
  rival: 'takeovers',
  staleAppend: 'intruders',
};

const PAUSES_MS = [0, 0, 1, 5, 20, 20, 100, 500] as const;

/** The steps of a seed: the first so many are the same however many there are. */
export function stepsOf(climate: Climate, count: number): Step[] {
  const chance = new Chance(climate.seed + 0.5);
  const bag = (Object.entries(WEIGHTS) as [ActName, number][]).flatMap(([act, weight]) => {
    const fault = CLASS_OF[act];
    const times = fault === undefined ? 2 * weight : weight * climate.faults[fault];
    return Array.from({ length: times }, () => act);
  });
  return Array.from({ length: count }, () => ({
    act: bag[chance.roll(bag.length)] ?? 'wait',
    seed: chance.roll(1e9),
    thenMs: chance.pick(PAUSES_MS),
  }));
}
