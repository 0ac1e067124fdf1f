import { InvalidConfigError, UnschedulableError, type Need, type RateLimit, type TaskSpec } from '../model/index.js';
import { Flow, Pool, type Channel, type FlowRecord, type Gates, type MonoClock, type Place } from '../ready/index.js';
import { TypeRates, saved } from './rates.js';

/** Stands for every channel or type that has no limit of its own. */
const ANY = '*';

/** Named resources, concurrency limits and rates: what is there, and what is held of it. */
export class Resources {
  /** Whether anything was ever limited by time; until then no question about it is asked. */
  hasFlows = false;
  readonly global = new Pool('global', Infinity);
  readonly pools = new Map<string, Pool>();
  private readonly types = new Map<string, Pool>();
  /** How many shapes have this type. */
  private readonly typeShapes = new Map<string, number>();
  private readonly typeLimits = new Map<string, number>();
  /** Types of which nothing starts, whatever their limits. */
  private withheld: ReadonlySet<string> = new Set();
  private readonly channelLimits = new Map<string, number>();
  private readonly channelWeights = new Map<string, number>();
  private readonly typeRates: TypeRates;

  constructor(private readonly clock: MonoClock) {
    this.typeRates = new TypeRates(clock, (type) => this.types.has(type));
  }

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
      // Tokens beyond the burst would never be there all at once.
      const capacity = pool === undefined ? 0 : Math.min(pool.capacity, pool.flow?.rate?.burst ?? Infinity);
      if (amount <= capacity) continue;
      const known = pool === undefined ? { known: this.pools.keys() } : undefined;
      throw new UnschedulableError({ taskId, resource, need: amount, capacity, ...known });
    }
  }

  setCapacity(resource: string, units: number): void {
    const pool = this.pools.get(resource);
    if (pool === undefined) this.pools.set(resource, new Pool(resource, units));
    else pool.capacity = units;
  }

  /** Limits how much of a resource starts may take in the course of time; `undefined` for no limit. */
  setRate(resource: string, rate: RateLimit | undefined): void {
    this.flowOf(resource).setRate(rate);
  }

  setTypeRate(type: string, rate: RateLimit | undefined): void {
    this.hasFlows = true;
    this.typeRates.set(type, rate);
    for (const pool of this.types.values()) pool.flow = this.typeRates.flowOf(pool.name);
  }

  /** What passes of a resource in time; one that is new has units without limit. */
  flowOf(resource: string): Flow {
    this.hasFlows = true;
    const pool = this.pools.get(resource) ?? new Pool(resource, Infinity);
    this.pools.set(resource, pool);
    return (pool.flow ??= new Flow(this.clock));
  }

  setGlobalLimit(limit: number): void {
    this.global.capacity = limit;
  }

  setTypeLimit(type: string, limit: number): void {
    this.typeLimits.set(type, limit);
    for (const pool of this.types.values()) pool.capacity = this.typeLimit(pool.name);
  }

  /**
   * Lets nothing of these types start, as nobody knows how to run them; those named before may start again. That is no
   * fact and no setting: it does not outlive the process. Limits stay as they are set, and count again for all others.
   */
  withhold(types: ReadonlySet<string>): void {
    this.withheld = types;
    for (const pool of this.types.values()) pool.capacity = this.typeLimit(pool.name);
  }

  isWithheld(pool: Pool): boolean {
    return this.withheld.has(pool.name) && this.types.get(pool.name) === pool;
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

  /** The limits on channels that are set, by name; `*` is for all that have none of their own. */
  get channelCapacities(): ReadonlyMap<string, number> {
    return this.channelLimits;
  }

  /** The limits on types: those that are set, `*` too, and those that types in use have through `*`. */
  *limitsOfTypes(): Iterable<readonly [type: string, limits: TypeLimits]> {
    for (const type of new Set([...this.typeLimits.keys(), ...this.typeRates.named(), ...this.types.keys()])) {
      const [capacity, rate] = [this.typeLimit(type), this.typeRates.limitOf(type)];
      if (capacity === Infinity && rate === undefined) continue;
      const held = this.types.get(type)?.held ?? 0;
      yield [type, { held, capacity, rate, flow: this.typeRates.knownFlow(type) }];
    }
  }

  /** A start at this place takes these needs, which are the shape's. */
  take(place: Place, needs: readonly Need[]): void {
    const { single, needed } = place.shape.gates;
    for (const pool of single) pool.take(1);
    for (let i = 0; i < needed.length; i += 1) (needed[i] as Pool).take((needs[i] as Need).amount);
    place.channel.limit.take(1);
  }

  /** What goes on after a wait, or after a restart, holds units again; its tokens are long spent. */
  hold(place: Place, needs: readonly Need[]): void {
    const { single, needed } = place.shape.gates;
    for (const pool of single) pool.hold(1);
    for (let i = 0; i < needed.length; i += 1) (needed[i] as Pool).hold((needs[i] as Need).amount);
    place.channel.limit.hold(1);
  }

  release(place: Place, needs: readonly Need[]): void {
    const { single, needed } = place.shape.gates;
    for (const pool of single) pool.release(1);
    for (let i = 0; i < needed.length; i += 1) (needed[i] as Pool).release((needs[i] as Need).amount);
    place.channel.limit.release(1);
  }

  /** Holds units beside the limits: an attempt that waits keeps them without a place under any. */
  holdNeeds(needs: readonly Need[]): void {
    for (const { resource, amount } of needs) this.pools.get(resource)?.hold(amount);
  }

  releaseNeeds(needs: readonly Need[]): void {
    for (const { resource, amount } of needs) this.pools.get(resource)?.release(amount);
  }

  /** Units as they were held before a restart, to the last digit. */
  loadHeld(resource: string, units: number): void {
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
      rates: [...this.pools.values()].flatMap(({ name, flow }) =>
        flow?.rate === undefined ? [] : [[name, flow.rate]],
      ),
      typeRates: this.typeRates.save(),
    };
  }

  /** What was let through in time, as plain data. */
  saveFlows(): FlowRecords {
    const resources = saved([...this.pools.values()].map((pool) => [pool.name, pool.flow] as const));
    return { resources, types: this.typeRates.saveFlows() };
  }

  loadFlows({ resources, types }: FlowRecords): void {
    for (const [resource, record] of resources) this.flowOf(resource).load(record);
    this.typeRates.loadFlows(types);
  }

  load(settings: ResourceSettings): void {
    this.global.capacity = settings.global ?? Infinity;
    for (const [resource, units] of settings.capacities) this.setCapacity(resource, units ?? Infinity);
    for (const [type, limit] of settings.types) this.setTypeLimit(type, limit ?? Infinity);
    for (const [channel, limit] of settings.channels) this.setChannelLimit(channel, limit ?? Infinity);
    for (const [channel, weight] of settings.weights) this.setChannelWeight(channel, weight);
    for (const [resource, rate] of settings.rates ?? []) this.setRate(resource, rate);
    for (const [type, rate] of settings.typeRates ?? []) this.setTypeRate(type, rate ?? undefined);
  }

  private typePool(type: string): Pool {
    let pool = this.types.get(type);
    if (pool === undefined) {
      pool = new Pool(type, this.typeLimit(type));
      pool.flow = this.typeRates.flowOf(type);
      this.types.set(type, pool);
    }
    return pool;
  }

  private typeLimit(type: string): number {
    // Less than nothing, so that it is not even mistaken for a limit of none.
    if (this.withheld.has(type)) return -1;
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
  /** Absent in snapshots from before there were rates. */
  readonly rates?: readonly (readonly [string, RateLimit])[];
  /** `null` for a type that has none whatever the others have. */
  readonly typeRates?: readonly (readonly [string, RateLimit | null])[];
}

/** What limits the tasks of a type, and how much of it is taken. */
export interface TypeLimits {
  readonly held: number;
  readonly capacity: number;
  readonly rate: RateLimit | undefined;
  /** `undefined` where nothing has passed yet. */
  readonly flow: Flow | undefined;
}

/** What passed in time, by resource and by type. */
export interface FlowRecords {
  readonly resources: readonly (readonly [string, FlowRecord])[];
  readonly types: readonly (readonly [string, FlowRecord])[];
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
