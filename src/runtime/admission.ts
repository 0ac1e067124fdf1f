import type { Core, CoreLoad } from '../core/index.js';
import { parsePositiveDuration, refuseConfig, type Moment, type StrategyAnswer } from '../model/index.js';
import type { LoopDelay } from './loop-delay.js';

/** How busy a scheduler is. */
export interface Load extends CoreLoad {
  /** Tasks that wait to be let in. */
  readonly waiting: number;
  /** Whether `maxPending` was reached, and `lowWater` not since. */
  readonly saturated: boolean;
  /** The mean delay of the event loop since it was last asked for; 0 at first, as it is measured from then on. */
  readonly eventLoopDelayMs: number;
}

/** The load as it is now; the limits in it are put together only if somebody looks, so it is added to, not copied. */
export function loadNow(core: Core, now: Moment, waiting: number, loopDelay: LoopDelay): Load {
  const { saturated } = core.state.pressure;
  return Object.assign(core.load(now), { waiting, saturated, eventLoopDelayMs: loopDelay.read(now.mono) });
}

/** Who asks whether something may start. */
export interface AdmissionHost {
  readonly core: Core;
  load(): Load;
}

/** Whether anything more may start, as the user decides by the load. */
export class Admission {
  /** Monotonic time at which the user is asked again; `Infinity` unless starts are held back. */
  askAgainAt = Infinity;

  private constructor(
    private readonly admit: (load: Load) => unknown,
    private readonly everyMs: number,
    private readonly host: AdmissionHost,
  ) {}

  /** From what a user says; `undefined` when everything may start. */
  static of(admit: unknown, every: unknown, host: AdmissionHost): Admission | undefined {
    const everyMs = every === undefined ? 100 : parsePositiveDuration(every, 'admitEvery', refuseConfig);
    if (admit === undefined) return undefined;
    if (typeof admit !== 'function') return refuseConfig('admit', admit, 'a function of the load');
    return new Admission(admit as (load: Load) => unknown, everyMs, host);
  }

  /** Asks the user. One who throws, or says neither yes nor no, must not stop everything: it counts as a yes. */
  allows(mono: number): boolean {
    const allowed = this.answer();
    this.askAgainAt = allowed ? Infinity : mono + this.everyMs;
    return allowed;
  }

  private answer(): boolean {
    try {
      const gave = this.admit(this.host.load());
      if (typeof gave === 'boolean') return gave;
      this.report({ gave });
    } catch (threw) {
      this.report({ threw });
    }
    return true;
  }

  private report(answer: StrategyAnswer): void {
    this.host.core.state.faults.of(this.admit)({ by: 'admit' }, answer);
  }
}
