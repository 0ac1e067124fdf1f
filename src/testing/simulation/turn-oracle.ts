import type { Evidence } from './evidence.js';
import type { WitnessedBonds } from './witnessed-bonds.js';
import type { WitnessedLimits } from './witnessed-limits.js';
import type { WitnessedTask } from './witnessed-task.js';

/** With equal weights, two channels differ by at most one turn each. */
const MOST_AHEAD = 2;

/** A channel with tasks of one kind waiting at a level. */
interface Line {
  readonly level: number;
  readonly kind: string;
  readonly channel: string;
}

/** Two of them, and by how many turns the first is ahead since both stand there. */
interface Pair {
  readonly one: Line;
  readonly other: Line;
  turns: number;
}

/**
 * Whether channels that have work waiting get their turns: of two that both could have started something at each start, neither
 * gets ahead, whatever they did before. Where one of them has nothing waiting for a moment, or tasks of other kinds come in
 * between, the comparison begins anew: then there may be a reason.
 */
export class TurnOracle {
  private readonly pairs = new Map<string, Pair>();

  constructor(
    private readonly evidence: Evidence,
    private readonly tasks: ReadonlyMap<string, WitnessedTask>,
    private readonly bonds: WitnessedBonds,
    private readonly limits: WitnessedLimits,
    private readonly pausedChannels: ReadonlySet<string>,
  ) {}

  /** Something has changed that turns depend on. */
  reset(): void {
    this.pairs.clear();
  }

  /** Something has happened: whoever has nothing waiting any more begins anew. */
  follow(): void {
    if (this.pairs.size === 0) return;
    const standing = new Set([...this.waiting()].map((task) => nameOf(this.lineOf(task))));
    for (const [name, { one, other }] of this.pairs) {
      if (!standing.has(nameOf(one)) || !standing.has(nameOf(other))) this.pairs.delete(name);
    }
  }

  /** A task has come, or starts, that is of this kind: others at its level are in another competition. */
  mixed(task: WitnessedTask): void {
    const { level, kind } = this.lineOf(task);
    for (const [name, { one }] of this.pairs) if (one.level === level && one.kind !== kind) this.pairs.delete(name);
  }

  /** The task starts, and stands in line still; whoever starts it lets channels take turns, and nothing goes before that. */
  started(task: WitnessedTask): void {
    // Its channel has paid for this start when the task was stopped for others.
    if (task.lastEnd === 'preempted') return;
    const { id, channel } = task;
    this.mixed(task);
    const own = this.lineOf(task);
    for (const line of this.linesBeside(own)) {
      const turns = this.ahead(own, line) + 1;
      this.pairs.set(pairName(own, line), { one: own, other: line, turns });
      this.pairs.set(pairName(line, own), { one: line, other: own, turns: -turns });
      const what = (): string => `with "${id}", channel "${channel}" is ${turns} turns ahead of "${line.channel}"`;
      this.evidence.holds('G12', turns <= MOST_AHEAD, what, id);
    }
  }

  private ahead(one: Line, other: Line): number {
    return this.pairs.get(pairName(one, other))?.turns ?? 0;
  }

  /** The lines that could have started instead. */
  private linesBeside({ level, kind, channel }: Line): Line[] {
    const lines = new Map<string, Line>();
    for (const task of this.waiting()) {
      if (task.kind !== kind || task.channel === channel || lines.has(task.channel)) continue;
      const line = this.lineOf(task);
      if (line.level === level) lines.set(task.channel, line);
    }
    return [...lines.values()];
  }

  private *waiting(): Iterable<WitnessedTask> {
    for (const task of this.tasks.values()) {
      if (task.state !== 'ready' || this.pausedChannels.has(task.channel)) continue;
      if (this.limits.hasRoomIn(task.channel)) yield task;
    }
  }

  private lineOf(task: WitnessedTask): Line {
    return { level: this.bonds.levelOf(task), kind: task.kind, channel: task.channel };
  }
}

function nameOf({ level, kind, channel }: Line): string {
  return JSON.stringify([level, kind, channel]);
}

function pairName(one: Line, other: Line): string {
  return `${nameOf(one)} ${nameOf(other)}`;
}
