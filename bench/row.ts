/** A row of the table: one piece of work, measured for us and for those who can do the same. */
export interface Row {
  readonly id: string;
  readonly group: Group;
  readonly work: string;
  readonly unit: string;
  readonly better: 'higher' | 'lower';
  /** The first one is ours; the others are compared with it unless they name another. */
  readonly candidates: readonly Candidate[];
  /** Runs once, in a process of its own that ends like a crash, and leaves in the row's folder what the samples begin with. */
  readonly prepare?: (folder: string) => Promise<void>;
}

export const groups = ['core', 'policies', 'api', 'stores'] as const;
export type Group = (typeof groups)[number];

export interface Candidate {
  readonly name: string;
  /** Runs once, in a process of its own, and returns the figure in the row's unit. The folder is the row's, and goes with it. */
  readonly measure: (folder: string) => number | Promise<number>;
  /** Which of our candidates this one is compared with. */
  readonly against?: string;
  readonly bars?: readonly Bar[];
  /** Too slow for a quick run: only with --full. */
  readonly slow?: { readonly samples: number };
  /** Starts the process with --expose-gc. */
  readonly memory?: true;
}

/** What has to hold for the row to count as reached; it is written at the candidate it speaks of. */
export type Bar =
  /** We are at least so many times as good as this candidate. */
  | { readonly kind: 'ahead'; readonly times: number }
  /** This candidate's own figure is at most so much. */
  | { readonly kind: 'at-most'; readonly figure: number }
  /** This candidate costs at most so many times what another does: growth with size. */
  | { readonly kind: 'growth'; readonly from: string; readonly times: number };

export const ahead = (times: number): Bar => ({ kind: 'ahead', times });
export const atMost = (figure: number): Bar => ({ kind: 'at-most', figure });
export const growth = (from: string, times: number): Bar => ({ kind: 'growth', from, times });
