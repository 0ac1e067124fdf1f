import type { SimulatedDisk } from '../simulated-disk.js';
import type { VirtualClock } from '../virtual-clock.js';
import type { Climate } from './climate.js';
import type { Evidence } from './evidence.js';
import type { Ledger } from './ledger.js';
import type { Witness } from './witness.js';

/** What there is at first, for every scheduler that starts on an empty disk or again. */
export interface SimulatedLimits {
  global: number;
  gpu: number;
  memory: number;
  perType: number;
  perChannel: number;
}

/** What all processes of a simulation share. */
export interface Surroundings {
  readonly climate: Climate;
  readonly clock: VirtualClock;
  readonly disk: SimulatedDisk;
  readonly evidence: Evidence;
  readonly witness: Witness;
  readonly ledger: Ledger;
  readonly limits: SimulatedLimits;
  /** Whether nothing goes wrong any more. */
  readonly isHealing: boolean;
  readonly isDiskFull: boolean;
  /** Whether there are enough tasks. */
  readonly isFull: boolean;
  /** Resolves when whatever hangs is let go of. */
  readonly letGo: Promise<void>;
  /** An id that no task had before. */
  nextId(): string;
}
