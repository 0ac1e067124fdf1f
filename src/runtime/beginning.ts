import { Core, settingsRecord } from '../core/index.js';
import type { Store } from '../ports/store.js';
import type { ContinuedClock } from './clock.js';
import type { Definitions } from './definition.js';
import type { Events } from './events.js';
import type { Payloads } from './kept.js';
import { Recovery, fixedSettings, type FixedSettings, type Note } from './recovery.js';
import { Revival, connectSeries, type RevivalHost } from './revival.js';
import type { SchedulerOptions } from './scheduler-options.js';
import type { SeriesHost } from './series-handle.js';

/** What a beginning needs of its scheduler. */
export interface BeginningHost {
  readonly core: Core;
  readonly events: Events;
  readonly definitions: Definitions;
  readonly seriesHost: SeriesHost;
  /** The core is another one than the workers and settings were made for. */
  settleIn(): void;
}

/** How a scheduler begins on a store: as a new one, or where another one stood. */
export class Beginning {
  private readonly strategies: RevivalHost['strategies'];
  private readonly wanted: FixedSettings;
  /** Whether there was another one. */
  hasHistory = false;

  constructor(
    private readonly store: Store,
    { strategy }: SchedulerOptions,
    private readonly payloads: Payloads,
    private readonly host: BeginningHost,
  ) {
    this.strategies = typeof strategy === 'object' ? [strategy] : [];
    this.wanted = fixedSettings(settingsRecord(host.core.state));
  }

  /**
   * Brings the core to where the store, which is open and has so many records, says. That takes a while, in which others may ask
   * for something: a core of which only half is back must neither decide anything nor be told that it is later than in its journal.
   */
  async load(last: number): Promise<void> {
    const { store, payloads, strategies } = this;
    const { definitions, seriesHost } = this.host;
    const core = new Core({ origin: this.host.core.state.origin });
    const revival = new Revival({ core, definitions, seriesHost, payloads, strategies });
    this.hasHistory = await new Recovery(store, core, revival, { strategies }).run(last);
    if (this.hasHistory) this.host.core.become(core);
  }

  /** Lets time and work go on from there; facts are read from now on, and told to the journal beside these notes. */
  goOn(clock: ContinuedClock, epoch: number, write: (note: Note) => void): void {
    const { core, events } = this.host;
    if (!this.hasHistory) {
      core.state.epoch = epoch;
      write({ kind: 'begun', snapshot: core.snapshot() });
      events.observe();
      return;
    }
    const { wall, mono } = core.state;
    // Time went on while nobody was here, as far as the wall clock tells; it may have been set back.
    clock.goOnFrom(mono + Math.max(0, clock.now().wall - wall));
    this.fix(write);
    events.observe();
    core.handle({ kind: 'recover', now: clock.now(), epoch });
    this.host.settleIn();
  }

  /** What only the making of a core sets is as the options say from now on. */
  private fix(write: (note: Note) => void): void {
    const { wanted, strategies } = this;
    const { core } = this.host;
    if (JSON.stringify(fixedSettings(settingsRecord(core.state))) === JSON.stringify(wanted)) return;
    const snapshot = core.snapshot();
    core.reset({ ...snapshot, settings: { ...snapshot.settings, ...wanted } }, { strategies });
    // The series are other records by that.
    connectSeries(core);
    write({ kind: 'settings', settings: wanted });
  }
}
