import type { ReadyIndex, View } from '../ready/index.js';

/** The order that says who ranks best: the scheduler's own, or where chance decides the order of arrival. */
export class RankedView {
  private byArrival: View | undefined = undefined;

  constructor(private readonly indexOf: () => ReadyIndex) {}

  /** Made at the first need, and not kept for longer than chance decides. */
  at(mono: number): View {
    const index = this.indexOf();
    if (!index.main.isRanked) {
      this.byArrival ??= index.open('fifo', undefined);
      index.prepare(mono);
      return this.byArrival;
    }
    if (this.byArrival !== undefined) index.close(this.byArrival);
    this.byArrival = undefined;
    return index.main;
  }
}
