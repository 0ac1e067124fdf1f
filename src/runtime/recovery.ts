import { setImmediate } from 'node:timers/promises';
import type { Core, CoreSnapshot, RestoreOptions } from '../core/index.js';
import { CorruptJournalError, type Fact } from '../model/index.js';
import type { Loaded, Store } from '../ports/store.js';
import { MIGRATIONS, SnapshotMigration, checkVersion, migrate, type Entry } from './migrations.js';
import type { Revival } from './revival.js';
import { Assembly } from './parts.js';
import { SnapshotReader } from './snapshot-text.js';

/** Settings that a core is made with and nothing changes later: a scheduler with others notes that in the journal. */
const FIXED = [
  'retain',
  'maxLosses',
  'maxCatchUp',
  'serviceMs',
  'maxBypasses',
  'workersMayCome',
  'sliceMs',
  'preemption',
] as const;

/** The settings of a core that only its making sets. */
export type FixedSettings = Pick<CoreSnapshot['settings'], (typeof FIXED)[number]>;

/** What the runtime notes in a journal beside the facts. */
export type Note =
  /** The first entry of a journal: the core as it was before anything had happened. */
  | { readonly kind: 'begun'; readonly snapshot: CoreSnapshot }
  | { readonly kind: 'settings'; readonly settings: FixedSettings };

/** The fixed ones of the settings. */
export function fixedSettings(settings: CoreSnapshot['settings']): FixedSettings {
  return Object.fromEntries(FIXED.map((name) => [name, settings[name]])) as unknown as FixedSettings;
}

/** So many facts are applied before others get a turn. */
const FACTS_PER_TURN = 5_000;

/** Brings a core to where a store says that one stood: a snapshot, and what has happened after it. */
export class Recovery {
  private readonly snapshot: SnapshotReader;
  private readonly snapshotMigration: SnapshotMigration;
  private readonly assembly = new Assembly();
  /** Whether the core has been set to a state that was kept. */
  private isRestored = false;
  private applied = 0;

  constructor(
    private readonly store: Store,
    private readonly core: Core,
    private readonly revival: Revival,
    private readonly options: RestoreOptions,
    private readonly migrations = MIGRATIONS,
  ) {
    this.snapshotMigration = new SnapshotMigration(migrations);
    this.snapshot = new SnapshotReader(store.name, (list, entry) => {
      revival.entry(list, entry);
    });
  }

  /** `false` when there was nothing: the core is as it was. */
  async run(): Promise<boolean> {
    for await (const loaded of this.store.load()) await this.take(loaded);
    this.restoreSnapshot();
    this.revival.connect();
    return this.isRestored;
  }

  private async take(loaded: Loaded): Promise<void> {
    if (loaded.kind === 'snapshot') {
      for (const part of loaded.parts) this.snapshot.add(this.snapshotMigration.part(part));
      await setImmediate();
      return;
    }
    this.restoreSnapshot();
    for (const [at, body] of loaded.bodies.entries()) {
      const record = loaded.first + at;
      const missing = (): Error => this.corrupt(record, 'a part of what belongs together is missing before it');
      for (const entry of this.assembly.add(this.entries(body, record), missing)) {
        this.apply(entry, record);
        this.applied += 1;
        if (this.applied % FACTS_PER_TURN === 0) await setImmediate();
      }
    }
  }

  private restoreSnapshot(): void {
    const { snapshot } = this.snapshot;
    if (this.isRestored || snapshot === undefined) return;
    this.restore(snapshot);
  }

  private restore(snapshot: CoreSnapshot): void {
    this.core.reset(this.revival.snapshot(snapshot), this.options);
    this.isRestored = true;
  }

  private entries(body: string, record: number): readonly Entry[] {
    let parsed: unknown;
    try {
      parsed = JSON.parse(body);
    } catch {
      throw this.corrupt(record, 'it is no JSON');
    }
    const [first, ...entries] = Array.isArray(parsed) ? (parsed as unknown[]) : [];
    const version = checkVersion('journal', first, () => this.corrupt(record, 'it begins with no version'));
    return migrate(entries as Entry[], version, this.migrations);
  }

  private apply(entry: Entry, record: number): void {
    const note = entry as unknown as Note | Fact;
    if (note.kind === 'begun') {
      this.restore(note.snapshot);
      return;
    }
    if (!this.isRestored) throw this.corrupt(record, 'nothing says how it begins');
    if (note.kind === 'settings') {
      const now = this.core.snapshot();
      this.core.reset({ ...now, settings: { ...now.settings, ...note.settings } }, this.options);
      return;
    }
    try {
      this.core.apply(this.revival.fact(note));
    } catch (error) {
      const reason = `what happened next (${note.kind}) could not have happened then`;
      throw Object.assign(this.corrupt(record, reason), { cause: error });
    }
  }

  private corrupt(record: number, reason: string): CorruptJournalError {
    return new CorruptJournalError({ source: `${this.store.name}, journal`, position: record, reason });
  }
}
