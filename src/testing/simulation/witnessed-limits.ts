import type { CoreSnapshot } from '../../core/index.js';
import type { Setting, WorkerRecord } from '../../model/index.js';
import type { Evidence } from './evidence.js';
import type { WitnessedAttempt } from './witnessed-task.js';

/** For every type or channel that has no limit of its own. */
const ANY = '*';

/** What there is, what may run, and what is held of it, as the facts tell: nothing is remembered between two questions. */
export class WitnessedLimits {
  /** Attempts that hold what they took, also those that nobody waits for any more. */
  readonly holding = new Set<WitnessedAttempt>();
  readonly workers = new Map<string, WorkerRecord>();
  private readonly capacities = new Map<string, number>();
  private readonly limits = new Map<string, number>();

  constructor(private readonly evidence: Evidence) {}

  /** As it was before anything had happened. */
  begin({ settings, workers }: CoreSnapshot): void {
    const { global, capacities, types, channels } = settings.resources;
    this.limits.set('global ', global ?? Infinity);
    for (const [resource, units] of capacities) this.capacities.set(resource, units ?? Infinity);
    for (const [type, limit] of types) this.limits.set(`type ${type}`, limit ?? Infinity);
    for (const [channel, limit] of channels) this.limits.set(`channel ${channel}`, limit ?? Infinity);
    for (const worker of workers) this.workers.set(worker.id, worker);
  }

  configured(setting: Setting): void {
    if (setting.name === 'capacity') this.capacities.set(setting.resource, setting.units ?? Infinity);
    if (setting.name === 'limit') this.limits.set(`${setting.scope} ${setting.key}`, setting.limit ?? Infinity);
  }

  capacityOf(resource: string): number {
    return this.capacities.get(resource) ?? 0;
  }

  /** Units of a resource that attempts hold. */
  heldOf(resource: string): number {
    let held = 0;
    for (const { task } of this.holding) {
      for (const need of task.needs) if (need.resource === resource) held += need.amount;
    }
    return held;
  }

  /** An attempt has begun: with it, no more runs than may. */
  began(attempt: WitnessedAttempt): void {
    this.holding.add(attempt);
    const { id, type, channel, needs } = attempt.task;
    const count = (is: (each: WitnessedAttempt) => boolean): number => [...this.holding].filter(is).length;
    const within = (held: number, limit: number, of: string): void => {
      this.evidence.holds('G7', held <= limit + 1e-9, () => `with "${id}", ${held} of ${of} are held, of ${limit}`, id);
    };
    within(this.holding.size, this.limits.get('global ') ?? Infinity, 'all slots');
    within(
      count(({ task }) => task.type === type),
      this.limitOf('type', type),
      `type "${type}"`,
    );
    within(
      count(({ task }) => task.channel === channel),
      this.limitOf('channel', channel),
      `channel "${channel}"`,
    );
    for (const { resource } of needs) within(this.heldOf(resource), this.capacityOf(resource), resource);
    const slots = this.workers.get(attempt.workerId)?.slots ?? Infinity;
    within(
      count(({ workerId }) => workerId === attempt.workerId),
      slots,
      `worker "${attempt.workerId}"`,
    );
  }

  /** An attempt gives back what it held: it does so once. */
  released(attempt: WitnessedAttempt): void {
    const { id } = attempt.task;
    const had = this.holding.delete(attempt);
    this.evidence.holds('G7', had, () => `"${id}" gives back twice what it held`, id);
  }

  /** Whether the channel's own limit lets something start. */
  hasRoomIn(channel: string): boolean {
    let running = 0;
    for (const { task } of this.holding) if (task.channel === channel) running += 1;
    return running < this.limitOf('channel', channel);
  }

  private limitOf(scope: 'type' | 'channel', key: string): number {
    return this.limits.get(`${scope} ${key}`) ?? this.limits.get(`${scope} ${ANY}`) ?? Infinity;
  }
}
