import { DuplicateTaskError, generatedId, type Task } from '../../model/index.js';
import type { State } from '../state.js';
import type { Submission } from './take-in.js';

/** A submission that becomes a task of its own. */
export interface Newcomer {
  readonly position: number;
  readonly sequence: number;
  readonly submission: Submission;
}

/** What each submission comes to: a task that is there already, or a newcomer's position, be it its own or an earlier one's. */
export type Meeting = Task | number;

/** Which of the submissions that come in together become tasks, in whose place, and which share one. */
export class Meetings {
  readonly all: Meeting[] = [];
  readonly newcomers: Newcomer[] = [];
  /** The newcomers that take the place of tasks. */
  readonly replaced = new Map<Task, number>();
  /** Submissions that bring other work to a task that has not begun, by their positions. */
  readonly renewals: number[] = [];
  private readonly byId = new Map<string, number>();
  private readonly byKey = new Map<string, number>();

  constructor(
    private readonly state: State,
    private readonly submissions: readonly Submission[],
  ) {
    for (let position = 0; position < submissions.length; position += 1) this.meet(position);
  }

  /** What becomes of the one with this id; `undefined` when none of them has it. */
  byName(id: string): Meeting | undefined {
    const position = this.byId.get(id);
    return position === undefined ? undefined : this.all[position];
  }

  /** How an error calls it. */
  nameOf(meeting: Meeting): string {
    if (typeof meeting !== 'number') return meeting.id;
    const newcomer = this.newcomers.find(({ position }) => position === meeting);
    return newcomer?.submission.spec.id ?? generatedId(newcomer?.sequence ?? this.state.table.next);
  }

  private meet(position: number): void {
    const submission = this.submissions[position] as Submission;
    const { spec } = submission;
    const sequence = this.state.table.next + this.newcomers.length;
    const id = spec.id ?? generatedId(sequence);
    const named = spec.id === undefined ? undefined : this.sharedById(id, spec.rare?.ifExists);
    const shared = named ?? this.sharedByKey(submission, position);
    if (!this.byId.has(id)) this.byId.set(id, position);
    this.all.push(shared ?? position);
    if (shared !== undefined) return;
    this.newcomers.push({ position, sequence, submission });
    const known = spec.id === undefined ? undefined : this.state.table.byId(spec.id);
    if (known !== undefined) this.replaced.set(known, position);
    if (spec.rare?.key !== undefined) this.byKey.set(keyOf(submission), position);
  }

  private sharedById(id: string, ifExists: 'keep' | 'replace' | undefined): Meeting | undefined {
    const together = this.byName(id);
    const known = this.state.table.byId(id);
    if (together === undefined && known === undefined) return undefined;
    if (ifExists === 'keep') return together ?? known;
    // Of two that come in together, neither is there before the other.
    if (ifExists === undefined || together !== undefined) throw new DuplicateTaskError({ taskId: id });
    return undefined;
  }

  private sharedByKey(submission: Submission, position: number): Meeting | undefined {
    const { spec } = submission;
    const { key, debounceMs, throttleMs } = spec.rare ?? {};
    if (key === undefined) return undefined;
    const together = this.byKey.get(keyOf(submission));
    const known = this.state.keys.taskFor(spec);
    const isPaced = debounceMs !== undefined || throttleMs !== undefined;
    // What has begun may have missed what this call is about, which with a pace is to be done still.
    const shared = together ?? (isPaced && known !== undefined && known.attempts > 0 ? undefined : known);
    if (shared !== undefined && isPaced) this.renewals.push(position);
    return shared;
  }
}

function keyOf({ spec }: Submission): string {
  return `${spec.type}\n${String(spec.rare?.key)}`;
}
