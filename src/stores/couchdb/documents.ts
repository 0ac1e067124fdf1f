/*
 * What is kept in the database, each in a document of its own. Numbers in ids have as many digits as the largest one can
 * have, so that their order is that of the ids.
 */

/** Every document of a journal has this in its id: another journal in a database that was made anew cannot be mistaken for it. */
type Instance = string;

/** Whose journal it is, and what of it still counts. Changed only with its revision, so only by whoever read it last. */
export interface Head {
  readonly format: number;
  readonly instance: Instance;
  readonly epoch: number;
  /** Which write this was, to know it again when its answer was lost. */
  readonly write: string;
  /** The slot at which a load begins: what comes before it is in the snapshot. It stays when the journal is compacted. */
  readonly from: { readonly slot: number; readonly sequence: number };
  readonly snapshot: { readonly save: string; readonly sequence: number; readonly parts: number } | null;
}

/** What is in a slot of the journal: a record, or the mark of an owner who began there. */
export interface Slot {
  readonly epoch: number;
  /** Of the record, or of the one before the mark. */
  readonly sequence: number;
  readonly write: string;
  /** `null` for a mark. */
  readonly body: string | null;
}

export interface Part {
  readonly text: string;
}

/** Any document as it comes from the server. */
export type Found<Document> = Document & {
  readonly _id: string;
  readonly _rev: string;
  /** Other revisions of it, which a cluster that was cut in two has let through. */
  readonly _conflicts?: readonly string[];
};

export const FORMAT = 1;
export const HEAD_ID = 'head';

const DIGITS = 16;

const padded = (number: number): string => String(number).padStart(DIGITS, '0');

export function slotId(instance: Instance, slot: number): string {
  return `log-${instance}-${padded(slot)}`;
}

export function slotOf(id: string): number {
  return Number(id.slice(-DIGITS));
}

/** The name of a snapshot; later ones come after earlier ones. */
export function saveName(epoch: number, save: number): string {
  return `${padded(epoch)}-${padded(save)}`;
}

export function partId(instance: Instance, save: string, part: number): string {
  return `part-${instance}-${save}-${padded(part)}`;
}

/** How often a document has been changed, its making and taking away included: 1 for one that was made and left alone. */
export function generation(revision: string): number {
  return Number(revision.slice(0, revision.indexOf('-')));
}

export function isHead(document: unknown): document is Found<Head> {
  const { format, instance, epoch, from } = document as Partial<Head>;
  return (
    typeof format === 'number' && typeof instance === 'string' && Number.isSafeInteger(epoch) && from !== undefined
  );
}

export function isSlot(document: unknown): document is Found<Slot> {
  const { epoch, sequence, body } = document as Partial<Slot>;
  return Number.isSafeInteger(epoch) && Number.isSafeInteger(sequence) && (typeof body === 'string' || body === null);
}
