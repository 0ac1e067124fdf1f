import { InvalidConfigError, UnschedulableError, type Need, type TaskSpec } from '../model/index.js';
import { Pool, type Channel, type Gates, type Place } from '../ready/index.js';

/** Stands for every channel or type that has no limit of its own. */
const ANY = '*';

/** Named resources and concurrency limits: what is there, and what is held of it. */
export class Resources {
  readonly global = new Pool('global', Infinity);
  readonly pools = new Map<string, Pool>();
  private readonly types = new Map<string, Pool>();
  /** How many shapes have this type. */
  private readonly typeShapes = new Map<string, number>();
  private readonly typeLimits = new Map<string, number>();
  private readonly channelLimits = new Map<string, number>();
  private readonly channelWeights = new Map<string, number>();

  /** The pools that a new shape draws on; to be given back with {@link dropShape}. */
  gatesFor(type: string, needs: readonly Need[]): Gates {
    this.typeShapes.set(type, (this.typeShapes.get(type) ?? 0) + 1);
    return {
      single: [this.global, this.typePool(type)],
      needed: needs.map(({ resource }) => this.pools.get(resource) as Pool),
    };
  }

  /** A shape of this type is gone. With the last one goes the type's pool; a limit outlives it. */
  dropShape(type: string): void {
    const left = (this.typeShapes.get(type) ?? 0) - 1;
    if (left > 0) {
      this.typeShapes.set(type, left);
      return;
    }
    this.typeShapes.delete(type);
    this.types.delete(type);
  }

  /** Every pool but the channels' own. */
  *allPools(): Iterable<Pool> {
    yield this.global;
    yield* this.types.values();
    yield* this.pools.values();
  }

  /** Refuses what could never start. */
  checkNeeds(taskId: string, spec: TaskSpec): void {
    for (const { resource, amount } of spec.needs) {
      const pool = this.pools.get(resource);
      if (pool === undefined || amount > pool.capacity) {
        throw new UnschedulableError({ taskId, resource, need: amount, capacity: pool?.capacity ?? 0 });
      }
    }
  }

  setCapacity(resource: string, units: number): void {
    const pool = this.pools.get(resource);
    if (pool === undefined) this.pools.set(resource, new Pool(resource, units));
    else pool.capacity = units;
  }

  setGlobalLimit(limit: number): void {
    this.global.capacity = limit;
  }

  setTypeLimit(type: string, limit: number): void {
    this.typeLimits.set(type, limit);
    for (const pool of this.types.values()) pool.capacity = this.typeLimit(pool.name);
  }

  /** Remembers a channel's limit; `*` is for all that have none of their own. */
  setChannelLimit(channel: string, limit: number): void {
    this.channelLimits.set(channel, limit);
  }

  setChannelWeight(channel: string, weight: number): void {
    this.channelWeights.set(channel, weight);
  }

  /** Gives a channel what is set for it. */
  prepare(channel: Channel): void {
    channel.limit.capacity = this.channelLimits.get(channel.name) ?? this.channelLimits.get(ANY) ?? Infinity;
    channel.weight = this.channelWeights.get(channel.name) ?? this.channelWeights.get(ANY) ?? 1;
  }

  /** A start at this place takes these needs, which are the shape's. */
  take(place: Place, needs: readonly Need[]): void {
    const { single, needed } = place.shape.gates;
    for (const pool of single) pool.take(1);
    for (let i = 0; i < needed.length; i += 1) (needed[i] as Pool).take((needs[i] as Need).amount);
    place.channel.limit.take(1);
  }

  release(place: Place, needs: readonly Need[]): void {
    const { single, needed } = place.shape.gates;
    for (const pool of single) pool.release(1);
    for (let i = 0; i < needed.length; i += 1) (needed[i] as Pool).release((needs[i] as Need).amount);
    place.channel.limit.release(1);
  }

  /** Takes units beside the limits: an attempt that waits keeps them without a place under any. */
  takeNeeds(needs: readonly Need[]): void {
    for (const { resource, amount } of needs) this.pools.get(resource)?.take(amount);
  }

  releaseNeeds(needs: readonly Need[]): void {
    for (const { resource, amount } of needs) this.pools.get(resource)?.release(amount);
  }

  /** Units as they were held before a restart, to the last digit. */
  hold(resource: string, units: number): void {
    const pool = this.pools.get(resource);
    if (pool !== undefined) pool.held = units;
  }

  /** The settings as plain data. */
  save(): ResourceSettings {
    return {
      global: finite(this.global.capacity),
      capacities: [...this.pools.values()].map((pool) => [pool.name, finite(pool.capacity)] as const),
      types: [...this.typeLimits].map(([type, limit]) => [type, finite(limit)] as const),
      channels: [...this.channelLimits].map(([channel, limit]) => [channel, finite(limit)] as const),
      weights: [...this.channelWeights],
    };
  }

  load(settings: ResourceSettings): void {
    this.global.capacity = settings.global ?? Infinity;
    for (const [resource, units] of settings.capacities) this.setCapacity(resource, units ?? Infinity);
    for (const [type, limit] of settings.types) this.setTypeLimit(type, limit ?? Infinity);
    for (const [channel, limit] of settings.channels) this.setChannelLimit(channel, limit ?? Infinity);
    for (const [channel, weight] of settings.weights) this.setChannelWeight(channel, weight);
  }

  private typePool(type: string): Pool {
    let pool = this.types.get(type);
    if (pool === undefined) {
      pool = new Pool(type, this.typeLimit(type));
      this.types.set(type, pool);
    }
    return pool;
  }

  private typeLimit(type: string): number {
    return this.typeLimits.get(type) ?? this.typeLimits.get(ANY) ?? Infinity;
  }
}

/** Capacities, limits and weights; `null` is unlimited. */
export interface ResourceSettings {
  readonly global: number | null;
  readonly capacities: readonly (readonly [string, number | null])[];
  readonly types: readonly (readonly [string, number | null])[];
  readonly channels: readonly (readonly [string, number | null])[];
  readonly weights: readonly (readonly [string, number])[];
}

/** A capacity or limit as a user gives it: a number of at least zero, `Infinity` for none. */
export function checkUnits(field: string, value: number): number {
  if (typeof value !== 'number' || Number.isNaN(value) || value < 0) {
    throw new InvalidConfigError({ field, value, expected: 'a number of at least 0, or Infinity' });
  }
  return value;
}

/** A channel's weight as a user gives it. */
export function checkWeight(field: string, value: number): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) {
    throw new InvalidConfigError({ field, value, expected: 'a finite number above 0' });
  }
  return value;
}

/** Infinity as JSON can say it. */
export function finite(value: number): number | null {
  return value === Infinity ? null : value;
}
