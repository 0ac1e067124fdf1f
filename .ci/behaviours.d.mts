/** One row of a behaviour table, as written: `status` should be done or open, and `cells` 3. */
interface Behaviour {
  readonly id: string;
  readonly behaviour: string;
  readonly status: string;
  readonly line: number;
  readonly cells: number;
}

interface Title {
  readonly title: string;
  /** False for a test that is skipped, to do, or expected to fail. */
  readonly shown: boolean;
}

export function readBehaviours(markdown: string): Behaviour[];
export function readTitles(source: string): Title[];
export function findProblems(
  rows: readonly Behaviour[],
  tests: readonly (Title & { readonly file: string })[],
): string[];
export {};
