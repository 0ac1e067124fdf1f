import type { Evidence } from './evidence.js';
import type { WitnessedBonds } from './witnessed-bonds.js';
import type { WitnessedLimits } from './witnessed-limits.js';
import type { WitnessedTask } from './witnessed-task.js';

/** Of two channels that start level, one may come first twice before the other must. */
const MOST_AHEAD = 2;

/** A channel with tasks waiting at a level, and the kinds of those. */
interface Line {
  readonly level: number;
  readonly channel: string;
  readonly kinds: Set<string>;
}

/**
 * Whether whoever comes with work gets no more than the turns that are due: a channel that comes while another one is served
 * begins level with that, whatever either did before, and those that have begun to take turns go on with that. Where tasks of several kinds wait at a level, of which some may be unable
 * to start, nothing is known.
 */
export class TurnOracle {
  /** By how many turns a channel is ahead of another one, by level and names. */
  private readonly ahead = new Map<string, number>();
  /** Pairs of which the first has started something while the other stood beside it. */
  private readonly took = new Set<string>();
  private lines = new Map<string, Line>();
  /**
   * Channels that were the next when they last started something, and nothing else could have been in the way: the level has come
   * as far as that then, and whoever stands there is not further back.
   */
  private readonly served = new Set<string>();

  constructor(
    private readonly evidence: Evidence,
    private readonly tasks: ReadonlyMap<string, WitnessedTask>,
    private readonly bonds: WitnessedBonds,
    private readonly limits: WitnessedLimits,
    private readonly pausedChannels: ReadonlySet<string>,
  ) {}

  /** Something has changed that turns depend on. */
  reset(): void {
    this.ahead.clear();
    this.took.clear();
    this.served.clear();
  }

  /** The same at the level of a task. */
  resetAt(task: WitnessedTask): void {
    const level = this.bonds.levelOf(task);
    this.forget((pair) => pair.startsWith(`[${level},`));
    for (const name of this.served) if (name.startsWith(`${level} `)) this.served.delete(name);
  }

  /** Something has happened: who has nothing waiting any more leaves, and newcomers stand no further back than they may. */
  follow(): void {
    this.lines = this.waiting();
    this.forget((pair) => {
      const [level, one, other] = JSON.parse(pair) as [number, string, string];
      return !this.lines.has(lineName(level, one)) || !this.lines.has(lineName(level, other));
    });
    for (const { level, channel } of this.lines.values()) {
      for (const { channel: other } of this.linesAt(level)) {
        const pair = pairName(level, channel, other);
        if (channel === other || this.ahead.has(pair) || !this.served.has(lineName(level, other))) continue;
        this.ahead.set(pair, 0);
      }
    }
  }

  /** The task starts, and stands in line still; whoever starts it lets channels take turns, and nothing goes before that. */
  started(task: WitnessedTask): void {
    // Its channel has paid for this start when the task was stopped for others.
    if (task.lastEnd === 'preempted') return;
    const { id, channel } = task;
    const level = this.bonds.levelOf(task);
    const lines = this.linesAt(level);
    if (new Set(lines.flatMap(({ kinds }) => [...kinds])).size > 1) {
      this.resetAt(task);
      return;
    }
    for (const { channel: other } of lines) if (other !== channel) this.startedBeside(level, channel, other, id);
    this.served.add(lineName(level, channel));
  }

  private startedBeside(level: number, channel: string, other: string, id: string): void {
    const [own, others] = [pairName(level, channel, other), pairName(level, other, channel)];
    // They take turns: it was behind before the other one started, and is not ahead of it by more than that now.
    if (this.took.has(others) && !this.ahead.has(own)) this.ahead.set(own, 0).set(others, 1);
    this.took.add(own);
    const known = this.ahead.get(own);
    const converse = this.ahead.get(others);
    if (converse !== undefined) this.ahead.set(others, converse - 1);
    if (known === undefined) return;
    const turns = known + 1;
    this.ahead.set(own, turns);
    const what = (): string => `with "${id}", channel "${channel}" is ${turns} turns ahead of "${other}"`;
    this.evidence.holds('G12', turns <= MOST_AHEAD, what, id);
  }

  private forget(isMeant: (pair: string) => boolean): void {
    for (const pair of this.ahead.keys()) if (isMeant(pair)) this.ahead.delete(pair);
    for (const pair of this.took) if (isMeant(pair)) this.took.delete(pair);
  }

  private linesAt(level: number): Line[] {
    return [...this.lines.values()].filter((line) => line.level === level);
  }

  private waiting(): Map<string, Line> {
    const lines = new Map<string, Line>();
    for (const task of this.tasks.values()) {
      if (task.state !== 'ready' || this.pausedChannels.has(task.channel)) continue;
      if (!this.limits.hasRoomIn(task.channel)) continue;
      const level = this.bonds.levelOf(task);
      const name = lineName(level, task.channel);
      const line = lines.get(name) ?? { level, channel: task.channel, kinds: new Set() };
      lines.set(name, line);
      line.kinds.add(task.kind);
    }
    return lines;
  }
}

function lineName(level: number, channel: string): string {
  return `${level} ${channel}`;
}

function pairName(level: number, one: string, other: string): string {
  return JSON.stringify([level, one, other]);
}
