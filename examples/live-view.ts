import { describeExplanation, type Scheduler } from '../src/index.js';
import { visible } from './visible.js';

/** Where a view is drawn: as much of a terminal as it needs. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
}

interface Row {
  state: 'waiting' | 'running' | 'completed' | 'failed' | 'cancelled' | 'skipped';
  attempt: number;
  progress?: unknown;
}

const MARKS = { waiting: '·', running: '▶', completed: '✓', failed: '✗', cancelled: '✗', skipped: '-' } as const;
const ORDER = ['running', 'waiting', 'failed', 'cancelled', 'skipped', 'completed'] as const;
/** As wide as a bar of progress is drawn. */
const BAR = 10;
/** Lines that are not tasks: the totals, and room for the line that the cursor stands in. */
const OTHER_LINES = 2;

/**
 * The tasks of a scheduler in a terminal, drawn anew in place: what runs, what waits and why, what has ended, and how
 * much of everything is in use. It follows events, so it shows what was added after it began to look.
 */
export class LiveView {
  private readonly tasks = new Map<string, Row>();
  private drawn = 0;

  constructor(
    private readonly scheduler: Scheduler,
    private readonly screen: Screen,
  ) {
    scheduler.on('added', ({ taskId }) => {
      this.tasks.set(taskId, { state: 'waiting', attempt: 0 });
    });
    scheduler.on('started', ({ taskId, attempt }) => {
      this.tasks.set(taskId, { state: 'running', attempt });
    });
    scheduler.on('progress', ({ taskId, attempt, progress }) => {
      this.tasks.set(taskId, { state: 'running', attempt, progress });
    });
    // Again, after an attempt that failed, was lost or made way.
    for (const again of ['ready', 'retrying'] as const) {
      scheduler.on(again, ({ taskId, attempt = 0 }) => {
        this.tasks.set(taskId, { state: 'waiting', attempt });
      });
    }
    for (const end of ['completed', 'failed', 'cancelled', 'expired', 'skipped'] as const) {
      scheduler.on(end, ({ taskId, attempt = 0 }) => {
        this.tasks.set(taskId, { state: end === 'expired' ? 'cancelled' : end, attempt });
      });
    }
  }

  /** What there is to see now, one string a line, none wider or more than fits. */
  frame(): string[] {
    const { columns, rows } = this.screen;
    const all = [...this.tasks].sort(([, a], [, b]) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
    const shown = all.slice(0, Math.max(1, rows - OTHER_LINES - 1));
    const width = Math.max(...shown.map(([id]) => id.length), 0);
    const lines = shown.map(([id, row]) => `${MARKS[row.state]} ${id.padEnd(width)}  ${this.about(id, row)}`);
    if (shown.length < all.length) lines.push(`  … and ${all.length - shown.length} more`);
    return [...lines, this.totals()].map((line) => visible(line).slice(0, columns - 1));
  }

  /** Draws it where it was drawn before. */
  draw(): void {
    const lines = this.frame();
    this.clear();
    this.screen.write(lines.map((line) => `${line}\n`).join(''));
    this.drawn = lines.length;
  }

  /** Takes it off the screen, so that something else can be written there. */
  clear(): void {
    if (this.drawn > 0) this.screen.write(`\u001b[${this.drawn}A\u001b[0J`);
    this.drawn = 0;
  }

  private about(id: string, { state, attempt, progress }: Row): string {
    if (state === 'waiting') return describeExplanation(this.scheduler.explain(id));
    const tries = attempt > 1 ? `, attempt ${attempt}` : '';
    return `${state}${tries}${progress === undefined ? '' : `, ${shown(progress)}`}`;
  }

  private totals(): string {
    const { running, pending, resources, slots } = this.scheduler.load();
    const used = [['slots', slots] as const, ...resources].map(
      ([name, { used: units, capacity }]) => `${name} ${units}/${capacity}`,
    );
    return `${running} running, ${pending} waiting; ${used.join(', ')}`;
  }
}

/** How far a handler says it has come: a fraction as a bar, anything else as it is. */
function shown(progress: unknown): string {
  if (typeof progress === 'string') return progress;
  if (typeof progress !== 'number') return JSON.stringify(progress);
  const done = Math.floor(BAR * progress);
  return `${'█'.repeat(done)}${'░'.repeat(BAR - done)} ${Math.floor(100 * progress)} %`;
}
