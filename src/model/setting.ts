import type { RateLimit } from './rate.js';

/** A strategy as plain data can name it; functions are given back by name. */
export interface StrategyRecord {
  readonly strategy: string;
  /** Whether it is the user's own, such as weighted random with other weights. */
  readonly custom: boolean;
}

/** A setting that can be changed while tasks wait. */
export type Setting =
  | ({ readonly name: 'strategy' } & StrategyRecord)
  | {
      readonly name: 'aging';
      readonly everyMs: number | null;
      readonly maxBoost: number | null;
      readonly maxWaitMs: number | null;
    }
  | { readonly name: 'capacity'; readonly resource: string; readonly units: number | null }
  | {
      readonly name: 'limit';
      readonly scope: 'global' | 'type' | 'channel';
      readonly key: string;
      readonly limit: number | null;
    }
  | {
      readonly name: 'rate';
      readonly scope: 'resource' | 'type';
      readonly key: string;
      /** `null` when there is none any more. */
      readonly rate: RateLimit | null;
    }
  | { readonly name: 'weight'; readonly channel: string; readonly weight: number }
  | { readonly name: 'charge'; readonly charge: 'turns' | 'time' }
  | {
      readonly name: 'pressure';
      readonly maxPending: number | null;
      readonly whenFull: 'wait' | 'reject' | 'drop-oldest' | 'drop-lowest';
      readonly lowWater: number | null;
    }
  /** The channels that take tasks; `null` for all. Those that were closed are open again. */
  | { readonly name: 'channels'; readonly only: readonly string[] | null };
