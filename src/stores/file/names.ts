/** What the name of a file in the directory of a store says. None of it comes from a user. */
export type FileName =
  /** Who has the right to write. */
  | { readonly kind: 'owner'; readonly epoch: number }
  /** A segment of the journal, the n-th of its epoch. */
  | { readonly kind: 'journal'; readonly epoch: number; readonly index: number }
  | { readonly kind: 'snapshot'; readonly sequence: number; readonly epoch: number }
  /** One that was not finished, by whoever had that epoch. */
  | { readonly kind: 'unfinished'; readonly epoch: number };

export const ownerName = (epoch: number): string => `owner-${padded(epoch, 6)}`;
export const journalName = (epoch: number, index: number): string => `journal-${padded(epoch, 6)}-${padded(index, 6)}`;
export const snapshotName = (sequence: number, epoch: number): string =>
  `snapshot-${padded(sequence, 12)}-${padded(epoch, 6)}`;
/** What a file is called until it is complete. */
export const unfinishedName = (name: string, epoch: number): string => `${name}.${padded(epoch, 6)}.new`;

const OWNER = /^owner-(\d{6,})$/;
const JOURNAL = /^journal-(\d{6,})-(\d{6,})$/;
const SNAPSHOT = /^snapshot-(\d{12,})-(\d{6,})$/;
const UNFINISHED = /^(?:owner|journal|snapshot)-[\d-]+\.(\d{6,})\.new$/;

/** What a name says; undefined for one that is no affair of the store. */
export function parseName(name: string): FileName | undefined {
  const [, ownerEpoch] = OWNER.exec(name) ?? [];
  if (ownerEpoch !== undefined) return { kind: 'owner', epoch: Number(ownerEpoch) };
  const [, epoch, index] = JOURNAL.exec(name) ?? [];
  if (epoch !== undefined) return { kind: 'journal', epoch: Number(epoch), index: Number(index) };
  const [, sequence, madeIn] = SNAPSHOT.exec(name) ?? [];
  if (sequence !== undefined) return { kind: 'snapshot', sequence: Number(sequence), epoch: Number(madeIn) };
  const [, unfinishedIn] = UNFINISHED.exec(name) ?? [];
  return unfinishedIn === undefined ? undefined : { kind: 'unfinished', epoch: Number(unfinishedIn) };
}

/** The largest epoch that anybody had of whom there is a trace; 0 when there is none. */
export function latestEpoch(names: readonly FileName[]): number {
  return names.reduce((latest, { epoch }) => Math.max(latest, epoch), 0);
}

// So that a listing by name is in order.
function padded(value: number, digits: number): string {
  return String(value).padStart(digits, '0');
}
