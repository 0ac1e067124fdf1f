import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { CoreSnapshot } from '../../core/index.js';
import type { Fact } from '../../model/index.js';
import type { Note } from '../../runtime/recovery.js';
import type { Evidence } from './evidence.js';
import { Replay, entriesOf } from './replay.js';
import type { Witness } from './witness.js';

/** What a store has given to whoever opened it. */
export interface Found {
  /** Of the last record. */
  readonly sequence: number;
  readonly snapshot: CoreSnapshot | undefined;
  /** The records after the snapshot, by number. */
  readonly tail: ReadonlyMap<number, string>;
}

/** The journal as it must be: every record that was acknowledged, and of the others those that a later owner has found. */
export class Ledger {
  readonly bodies: string[] = [];
  /** What was given to the store under a number, and has not been acknowledged. */
  private readonly offered = new Map<number, Set<string>>();
  /** What the whole journal makes, record by record. */
  private readonly whole = new Replay();
  private readonly hash = createHash('sha256');
  facts = 0;
  recoveries = 0;

  constructor(
    private readonly evidence: Evidence,
    private readonly witness: Witness,
  ) {}

  /** A record is about to be written. */
  offer(sequence: number, body: string): void {
    const offered = this.offered.get(sequence) ?? new Set();
    this.offered.set(sequence, offered.add(body));
  }

  /** A store has acknowledged a record. */
  kept(sequence: number, body: string): void {
    const { evidence, bodies } = this;
    if (sequence === bodies.length + 1) {
      this.add(body);
      return;
    }
    const isSame = bodies[sequence - 1] === body;
    evidence.holds('G5', isSame, () => `record ${sequence} is acknowledged, and the journal has another one there`);
  }

  /** Who has been failed once by the disk is never acknowledged anything again. */
  goesOn(hasFailed: boolean): void {
    this.evidence.holds('G13', !hasFailed, () => 'a record is acknowledged after another one has failed');
  }

  /** Somebody has opened the store: what counts from now on is what they have found. */
  recovered(found: Found): void {
    const { evidence, bodies } = this;
    this.recoveries += 1;
    for (const [sequence, body] of found.tail) {
      if (sequence <= bodies.length) {
        evidence.holds('G1', bodies[sequence - 1] === body, () => `record ${sequence} is not what was acknowledged`);
        continue;
      }
      const wasOffered = this.offered.get(sequence)?.has(body) === true;
      evidence.holds('G1', wasOffered, () => `record ${sequence} was never written`);
      this.add(body);
    }
    const { sequence } = found;
    const what = (): string => `${bodies.length} records were acknowledged or found before, and ${sequence} are left`;
    evidence.holds('G1', sequence === bodies.length, what);
    this.offered.clear();
    this.compare(found);
  }

  /** Names everything that has happened, to the last byte. */
  digest(): string {
    return this.hash.copy().digest('hex');
  }

  /** What the journal says of a task. */
  storyOf(id: string): readonly string[] {
    return this.bodies.flatMap(entriesOf).flatMap((entry) => (isAbout(entry, id) ? [JSON.stringify(entry)] : []));
  }

  /** The latest facts. */
  latest(count: number): readonly string[] {
    return this.bodies
      .slice(-count)
      .flatMap(entriesOf)
      .slice(-count)
      .map((entry) => JSON.stringify(entry));
  }

  private add(body: string): void {
    this.bodies.push(body);
    this.hash.update(body).update('\n');
    for (const entry of entriesOf(body)) {
      this.facts += 1;
      this.witness.take(entry);
      this.whole.take(entry);
    }
  }

  /** Snapshot and tail make the same state as the whole journal, over and over, and one in which everything fits together. */
  private compare({ snapshot, tail }: Found): void {
    const state = this.whole.state();
    for (const which of ['snapshot and tail make', 'a second replay makes']) {
      const replay = new Replay(snapshot);
      for (const body of tail.values()) for (const entry of entriesOf(body)) replay.take(entry);
      const isSame = isDeepStrictEqual(replay.state(), state);
      const where = (): string => firstDifference(replay.state(), state);
      this.evidence.holds('G8', isSame, () => `${which} another state than the whole journal: ${where()}`);
      replay.core?.check();
    }
  }
}

function isAbout(entry: Fact | Note, id: string): boolean {
  const { task, by, dependency, awaited } = entry as Partial<Record<'task' | 'by' | 'dependency' | 'awaited', unknown>>;
  return [task, by, dependency, awaited].includes(id);
}

/** Where two states part, for whoever reads of it. */
function firstDifference(one: unknown, other: unknown, path = 'state'): string {
  if (isDeepStrictEqual(one, other)) return '';
  const isPlain = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
  if (!isPlain(one) || !isPlain(other)) return `${path} is ${JSON.stringify(one)}, and ${JSON.stringify(other)}`;
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  const name = [...names].find((each) => !isDeepStrictEqual(one[each], other[each])) ?? '';
  return firstDifference(one[name], other[name], `${path}.${name}`);
}
