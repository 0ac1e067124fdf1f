import { setImmediate } from 'node:timers/promises';
import type { Core, CoreSnapshot, RestoreOptions } from '../core/index.js';
import { CorruptJournalError, UnsupportedVersionError, type Fact } from '../model/index.js';
import { show } from '../model/show.js';
import type { Loaded, Store } from '../ports/store.js';
import { misfitOf } from './fact-shapes.js';
import { MIGRATIONS, SnapshotMigration, checkVersion, migrate, type Entry } from './migrations.js';
import { connectSeries, type Revival } from './revival.js';
import { Assembly } from './parts.js';
import { isObject, misfitIn } from './shape.js';
import { FIXED_SETTINGS, misfitOfHead } from './snapshot-shapes.js';
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
  /** The number of the last record that the core has heard of; `undefined` before anything came. */
  private reached: number | undefined = undefined;

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

  /** Up to the record of which the store has said that it is the last; `false` when there was nothing: the core is as it was. */
  async run(last?: number): Promise<boolean> {
    for await (const loaded of this.store.load()) await this.take(loaded);
    this.restoreSnapshot();
    const { reached = 0, isRestored } = this;
    if (last !== undefined && reached !== last) {
      throw this.corrupt(reached + 1, `record ${last} is the last one, and what was loaded ends at ${reached}`);
    }
    if (reached > 0 && !isRestored) throw this.corrupt(1, 'nothing says how it begins');
    connectSeries(this.core);
    return isRestored;
  }

  private async take(loaded: Loaded): Promise<void> {
    if (loaded.kind === 'snapshot') {
      for (const part of loaded.parts) this.snapshot.add(part, this.snapshotMigration);
      this.reached = loaded.sequence;
      await setImmediate();
      return;
    }
    this.restoreSnapshot();
    for (const [at, body] of loaded.bodies.entries()) {
      const record = loaded.first + at;
      this.follow(record);
      const missing = (): Error => this.corrupt(record, 'a part of what belongs together is missing before it');
      for (const entry of this.assembly.add(this.entries(body, record), missing)) {
        this.apply(entry, record);
        this.applied += 1;
        if (this.applied % FACTS_PER_TURN === 0) await setImmediate();
      }
    }
  }

  /** What comes after a gap may still be possible, and is not what was. */
  private follow(record: number): void {
    const next = (this.reached ?? 0) + 1;
    if (record !== next) throw this.corrupt(record, `record ${next} was to come, not record ${record}`);
    this.reached = record;
  }

  private restoreSnapshot(): void {
    const { snapshot } = this.snapshot;
    if (this.isRestored || snapshot === undefined) return;
    try {
      this.restore(snapshot);
    } catch (error) {
      throw known(error) ?? this.snapshot.corrupt('what it tells could not have been', error);
    }
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
    if (!entries.every(isObject)) throw this.corrupt(record, 'one of its entries is no object');
    return migrate(entries as Entry[], version, this.migrations);
  }

  private apply(entry: Entry, record: number): void {
    const note = entry as unknown as Note | Fact;
    try {
      this.applyNote(note, record);
    } catch (error) {
      const reason = `what happened next (${show(note.kind)}) could not have happened then`;
      throw known(error) ?? this.corrupt(record, reason, error);
    }
  }

  private applyNote(note: Note | Fact, record: number): void {
    if (note.kind === 'begun') {
      if (this.isRestored) throw this.corrupt(record, 'it has begun before');
      const misfit = misfitOfHead(note.snapshot);
      if (misfit !== undefined) throw this.corrupt(record, misfit);
      this.restore(note.snapshot);
      return;
    }
    if (!this.isRestored) throw this.corrupt(record, 'nothing says how it begins');
    if (note.kind === 'settings') {
      const misfit = misfitIn(note.settings, FIXED_SETTINGS);
      if (misfit !== undefined) throw this.corrupt(record, `its setting ${misfit} is not what can stand there`);
      const now = this.core.snapshot();
      this.core.reset({ ...now, settings: { ...now.settings, ...note.settings } }, this.options);
      return;
    }
    const misfit = misfitOf(note);
    if (misfit !== undefined) throw this.corrupt(record, `of what happened next (${show(note.kind)}), ${misfit}`);
    this.core.apply(this.revival.fact(note));
  }

  private corrupt(record: number, reason: string, cause?: unknown): CorruptJournalError {
    const error = new CorruptJournalError({ source: `${this.store.name}, journal`, position: record, reason });
    return cause === undefined ? error : Object.assign(error, { cause });
  }
}

/** What says all there is to say already. */
function known(error: unknown): Error | undefined {
  return error instanceof CorruptJournalError || error instanceof UnsupportedVersionError ? error : undefined;
}
