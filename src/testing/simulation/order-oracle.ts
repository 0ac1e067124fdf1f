import type { CoreSnapshot } from '../../core/index.js';
import type { Fact, Setting } from '../../model/index.js';
import type { Evidence } from './evidence.js';
import type { WitnessedBonds } from './witnessed-bonds.js';
import type { WitnessedLimits } from './witnessed-limits.js';
import type { WitnessedTask } from './witnessed-task.js';

type Started = Extract<Fact, { kind: 'attempt.started' }>;
type Rank = readonly number[];

/**
 * Whether what started is what the stated order picks. It compares tasks that are alike in channel, type, needs and capabilities:
 * whenever one of those may start, so may the others. Where aging or reservations have a say, it says nothing.
 */
export class OrderOracle {
  private strategy = 'priority';
  private ages = true;
  /** Whether those who have waited for long go first, in whichever order the others go. */
  private isBounded = true;

  constructor(
    private readonly evidence: Evidence,
    private readonly tasks: ReadonlyMap<string, WitnessedTask>,
    private readonly bonds: WitnessedBonds,
    private readonly limits: WitnessedLimits,
    private readonly pausedChannels: ReadonlySet<string>,
  ) {}

  /** As it was before anything had happened. */
  begin({ settings }: CoreSnapshot): void {
    this.strategy = settings.strategy.strategy;
    this.age(settings.aging);
  }

  configured(setting: Setting): void {
    if (setting.name === 'strategy') this.strategy = setting.strategy;
    if (setting.name === 'aging') this.age(setting);
  }

  private age({ everyMs, maxWaitMs }: CoreSnapshot['settings']['aging']): void {
    this.ages = everyMs !== null || maxWaitMs !== null;
    this.isBounded = maxWaitMs !== null;
  }

  /** The task starts, and stands in line still. */
  started(task: WitnessedTask, { level, workerId, wall }: Started): void {
    const { id } = task;
    const expected = this.bonds.levelOf(task);
    this.evidence.holds('order', level === expected, () => `"${id}" starts at level ${level}, not ${expected}`, id);
    const strategy = this.strategyOf(workerId);
    if (task.room !== undefined || this.isBounded) return;
    for (const other of this.tasks.values()) {
      if (other.state !== 'ready' || other === task || other.shape !== task.shape) continue;
      if (this.pausedChannels.has(other.channel)) continue;
      const [own, others] = [this.rankOf(task, strategy), this.rankOf(other, strategy)];
      if (own === undefined || others === undefined) return;
      const isFirst = compare(own, others) < 0;
      this.evidence.holds('order', isFirst, () => `by ${strategy}, "${id}" starts before "${other.id}" at ${wall}`, id);
    }
  }

  /** Whether channels take turns at all. */
  get letsTakeTurns(): boolean {
    return this.strategy === 'fair' && !this.isBounded;
  }

  /** Whether channels take turns, and nothing goes before that. */
  isFair(task: WitnessedTask, { workerId }: Started): boolean {
    if (this.isBounded || this.strategyOf(workerId) !== 'fair') return false;
    for (const each of this.tasks.values()) if (each.room !== undefined && each.state === 'ready') return false;
    return task.room === undefined;
  }

  private strategyOf(workerId: string): string {
    return this.limits.workers.get(workerId)?.strategy?.strategy ?? this.strategy;
  }

  /** The smallest goes first; `undefined` where there is more to it. */
  private rankOf(task: WitnessedTask, strategy: string): Rank | undefined {
    const fifo = [task.due, task.sequence];
    switch (strategy) {
      case 'fifo':
        return fifo;
      case 'lifo':
        return [-task.due, -task.sequence];
      case 'priority':
      case 'fair':
        return this.ages ? undefined : [this.bonds.levelOf(task), this.bonds.deadlineOf(task), ...fifo];
      case 'deadline':
        return this.ages ? undefined : [this.bonds.deadlineOf(task), this.bonds.levelOf(task), ...fifo];
      default:
        return undefined;
    }
  }
}

function compare(x: Rank, y: Rank): number {
  for (const [at, part] of x.entries()) {
    const other = y[at] as number;
    if (part !== other) return part - other;
  }
  return 0;
}
