import { standsAt, type CapabilityValue, type Need, type Task, type TaskSpec } from '../model/index.js';
import { Pool } from './pool.js';

/** So many units of a pool that a start takes. */
export interface Gate {
  readonly pool: Pool;
  readonly amount: number;
}

/** What tasks are admitted by, interned: type, needs and capabilities, with the pools they draw on. */
export class Shape {
  /** How many places use it. */
  places = 0;

  constructor(
    readonly index: number,
    /** The same for equal shapes in every process. */
    readonly key: string,
    readonly type: string,
    readonly needs: readonly Need[],
    readonly capabilities: readonly (readonly [string, CapabilityValue])[],
    readonly gates: readonly Gate[],
    /** The only worker that may take from it: attempts of its own go on there. `undefined` for new starts. */
    readonly worker: string | undefined,
  ) {}

  /** Whether a task of this shape could start now. Tested at the claim, so that opening a shape moves nothing. */
  isOpen(): boolean {
    for (const gate of this.gates) if (!gate.pool.fits(gate.amount)) return false;
    return true;
  }
}

/** A named stream of tasks that shares fairly with others. */
export class Channel {
  weight = 1;
  /** Unlimited unless told otherwise. */
  readonly limit: Pool;
  paused = false;
  /** Ready tasks that wait for the channel to be resumed; they stand in no order and do not age. */
  readonly held = new Set<Task>();
  /** How many places use it. */
  places = 0;

  constructor(readonly name: string) {
    this.limit = new Pool(name, Infinity);
  }

  /** Whether the channel's limit leaves room for one more attempt. */
  isOpen(): boolean {
    return this.limit.fits(1);
  }
}

/** One channel and one shape: the tasks of a place differ only in their rank. */
export class Place {
  /** Unfinished tasks here. */
  tasks = 0;

  constructor(
    readonly index: number,
    readonly shape: Shape,
    readonly channel: Channel,
  ) {}

  /** Whether its tasks stand aside. What has begun goes on: a pause keeps back new starts only. */
  get paused(): boolean {
    return this.channel.paused && this.shape.worker === undefined;
  }
}

/** Makes the gates of a new shape: which pools it draws on is the resource manager's knowledge. */
export type GatesFor = (type: string, needs: readonly Need[]) => readonly Gate[];

/** Below so many unused places nothing is swept. */
const IDLE_PLACES = 1024;

/** Interns places, shapes and channels, and forgets the ones no task uses any more. */
export class Places {
  private readonly shapes = new Map<string, Shape>();
  private readonly channels = new Map<string, Channel>();
  private readonly byIndex: (Place | undefined)[] = [];
  private readonly byShape: (Map<string, Place> | undefined)[] = [];
  private readonly freePlaces: number[] = [];
  private readonly freeShapes: number[] = [];
  private idle = 0;
  /** The last spec asked for, and its place. */
  private recentSpec: TaskSpec | undefined = undefined;
  private recentPlace: Place | undefined = undefined;

  constructor(
    private readonly gatesFor: GatesFor,
    /** Told when a place's index may be used for another one. */
    private readonly forget: (place: Place) => void,
    /** Called for a channel seen for the first time, to give it its weight and limit. */
    private readonly prepare: (channel: Channel) => void,
    /** Whether a channel carries settings that must outlive its tasks. */
    private readonly keep: (channel: Channel) => boolean,
    /** Told when no place has this shape any more, and its index may be used for another one. */
    private readonly shapeDropped: (shape: Shape) => void,
  ) {}

  at(index: number): Place {
    return this.byIndex[index] as Place;
  }

  /** Where the task stands: an attempt that waits to go on has a place of its own. */
  of(task: Task): Place {
    return this.byIndex[standsAt(task)] as Place;
  }

  channel(name: string): Channel {
    const known = this.channels.get(name);
    if (known !== undefined) return known;
    const channel = this.prepared(name);
    this.channels.set(name, channel);
    return channel;
  }

  /** What the channel weighs, or would if it were used. */
  weightOf(name: string): number {
    return (this.channels.get(name) ?? this.prepared(name)).weight;
  }

  /** Whether an attempt holds a place under the channel's limit. */
  isHeld(name: string): boolean {
    return (this.channels.get(name)?.limit.held ?? 0) > 0;
  }

  /** Forgets the channel unless something uses it. */
  release(channel: Channel): void {
    if (channel.places === 0 && !this.keep(channel)) this.channels.delete(channel.name);
  }

  /** The channel if a task or a setting has ever named it and it is not forgotten. */
  knownChannel(name: string): Channel | undefined {
    return this.channels.get(name);
  }

  allChannels(): Iterable<Channel> {
    return this.channels.values();
  }

  allShapes(): Iterable<Shape> {
    return this.shapes.values();
  }

  /** Every place, the idle included. */
  all(): Place[] {
    return this.byIndex.filter((place) => place !== undefined);
  }

  /** The places of one channel. */
  *ofChannel(channel: Channel): Iterable<Place> {
    for (const places of this.byShape) {
      const place = places?.get(channel.name);
      if (place !== undefined) yield place;
    }
  }

  /** The place of a task with this spec, one task richer. */
  enter(spec: TaskSpec): Place {
    const recent = this.recentSpec;
    // Tasks that come one after the other are mostly of one kind, and those without needs share the empty list.
    if (
      recent?.type === spec.type &&
      recent.channel === spec.channel &&
      recent.needs === spec.needs &&
      recent.capabilities === spec.capabilities
    ) {
      return this.enterAt(this.recentPlace as Place);
    }
    const place = this.placeAt(this.shapeFor(spec), spec.channel);
    this.recentSpec = spec;
    this.recentPlace = place;
    return this.enterAt(place);
  }

  /** The place at which an attempt of such a task waits to go on at its worker: there it is asked for these needs only. */
  enterReturn({ type, channel }: TaskSpec, needs: readonly Need[], worker: string): Place {
    const key = `\0${JSON.stringify([type, needs, [], worker])}`;
    const shape = this.shapes.get(key) ?? this.addShape(key, { type, needs, capabilities: [] }, worker);
    return this.enterAt(this.placeAt(shape, channel));
  }

  private enterAt(place: Place): Place {
    if (place.tasks === 0) this.idle -= 1;
    place.tasks += 1;
    return place;
  }

  private placeAt(shape: Shape, channelName: string): Place {
    const places = this.byShape[shape.index] as Map<string, Place>;
    let place = places.get(channelName);
    if (place === undefined) {
      const channel = this.channel(channelName);
      place = new Place(this.freePlaces.pop() ?? this.byIndex.length, shape, channel);
      this.byIndex[place.index] = place;
      places.set(channelName, place);
      shape.places += 1;
      channel.places += 1;
      this.idle += 1;
    }
    return place;
  }

  /** One task fewer at this place. */
  leave(index: number): void {
    const place = this.at(index);
    place.tasks -= 1;
    if (place.tasks > 0) return;
    this.idle += 1;
    if (this.idle > IDLE_PLACES && this.idle * 2 > this.byIndex.length - this.freePlaces.length) this.sweep();
  }

  /** The shape a spec asks for, if a task of it has come in and it is not forgotten. */
  knownShape(spec: TaskSpec): Shape | undefined {
    return this.shapes.get(shapeKey(spec));
  }

  private shapeFor(spec: TaskSpec): Shape {
    const key = shapeKey(spec);
    return this.shapes.get(key) ?? this.addShape(key, spec, undefined);
  }

  private addShape(
    key: string,
    { type, needs, capabilities }: Pick<TaskSpec, 'type' | 'needs' | 'capabilities'>,
    worker: string | undefined,
  ): Shape {
    const index = this.freeShapes.pop() ?? this.byShape.length;
    const gates = this.gatesFor(type, needs);
    const shape = new Shape(index, key, type, needs, capabilities, gates, worker);
    this.shapes.set(key, shape);
    this.byShape[index] = new Map();
    return shape;
  }

  private prepared(name: string): Channel {
    const channel = new Channel(name);
    this.prepare(channel);
    return channel;
  }

  private sweep(): void {
    this.recentSpec = undefined;
    for (const place of this.byIndex) {
      if (place === undefined || place.tasks > 0) continue;
      this.forget(place);
      this.byIndex[place.index] = undefined;
      this.freePlaces.push(place.index);
      this.byShape[place.shape.index]?.delete(place.channel.name);
      place.shape.places -= 1;
      place.channel.places -= 1;
      if (place.shape.places === 0) this.dropShape(place.shape);
      this.release(place.channel);
    }
    this.idle = 0;
  }

  private dropShape(shape: Shape): void {
    this.shapes.delete(shape.key);
    this.byShape[shape.index] = undefined;
    this.freeShapes.push(shape.index);
    this.shapeDropped(shape);
  }
}

/** Most specs need nothing, and their type is then the whole key. */
function shapeKey(spec: TaskSpec): string {
  if (spec.needs.length === 0 && spec.capabilities.length === 0) return spec.type;
  // No type contains a control character, so no type can be taken for the key of a richer shape.
  return `\0${JSON.stringify([spec.type, spec.needs, spec.capabilities])}`;
}
