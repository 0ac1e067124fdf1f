import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';

/** How often the event loop's delay is sampled, which every sample includes. */
const RESOLUTION_MS = 10;
/** How long it is still measured after somebody has asked. */
const UNASKED_MS = 10_000;

/** How late the event loop is; measured only while somebody asks for it. */
export class LoopDelay {
  private monitor: IntervalHistogram | undefined = undefined;
  private askedAt = 0;

  get isMeasuring(): boolean {
    return this.monitor !== undefined;
  }

  /** The mean delay since it was last asked for, in milliseconds; 0 at first, as it is measured from then on. */
  read(mono: number): number {
    this.askedAt = mono;
    if (this.monitor === undefined) {
      this.monitor = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
      this.monitor.enable();
      return 0;
    }
    const { mean } = this.monitor;
    // Without a sample the mean is no number.
    if (Number.isNaN(mean)) return 0;
    this.monitor.reset();
    return Math.max(0, mean / 1e6 - RESOLUTION_MS);
  }

  /** Stops measuring if nobody has asked for a while. */
  rest(mono: number): void {
    if (this.monitor === undefined || mono - this.askedAt < UNASKED_MS) return;
    this.stop();
  }

  stop(): void {
    this.monitor?.disable();
    this.monitor = undefined;
  }
}
