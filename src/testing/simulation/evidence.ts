/** What a simulation holds a scheduler to, by the names that docs/promises.md explains. */
export type PromiseName =
  'G1' | 'G2' | 'G3' | 'G4' | 'G5' | 'G6' | 'G7' | 'G8' | 'G9' | 'G10' | 'G12' | 'G13' | 'order';

/** A promise that was not kept. */
export interface Violation {
  readonly promise: PromiseName;
  readonly what: string;
  /** The task concerned, where it is one. */
  readonly task: string | undefined;
}

/** What was looked at, what was found, and what happened on the way. */
export class Evidence {
  readonly violations: Violation[] = [];
  /** How often each promise was looked at. */
  readonly evaluated = new Map<PromiseName, number>();
  /** How often each thing happened, such as an act, or a fault of some kind. */
  readonly seen = new Map<string, number>();

  /** Looks at one instance of a promise. */
  holds(promise: PromiseName, isKept: boolean, what: () => string, task?: string): void {
    this.evaluated.set(promise, (this.evaluated.get(promise) ?? 0) + 1);
    if (!isKept) this.violations.push({ promise, what: what(), task });
  }

  note(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }
}
