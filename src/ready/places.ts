import { standsAt, type Need, type Task, type TaskSpec } from '../model/index.js';
import { Channel, Place, Shape, amountsOf, type Gates } from './place.js';

/** Makes the gates of a new shape: which pools it draws on is the resource manager's knowledge. */
export type GatesFor = (type: string, needs: readonly Need[]) => Gates;

/** Below so many unused places nothing is swept. */
const IDLE_PLACES = 1024;

/** Interns places, shapes and channels, and forgets the ones no task uses any more. */
export class Places {
  private readonly shapes = new Map<string, Shape>();
  private readonly channels = new Map<string, Channel>();
  private readonly byIndex: (Place | undefined)[] = [];
  private readonly byShape: (Shape | undefined)[] = [];
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
    /** Told when a task comes that needs other amounts than those before it. */
    private readonly shapeMixed: (shape: Shape) => void,
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
    for (const shape of this.byShape) {
      const place = shape?.byChannel.get(channel.name);
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
    const key = `\0${JSON.stringify([type, namesOf(needs), [], worker])}`;
    return this.enterAt(this.placeAt(this.shapeAt(key, { type, needs, capabilities: [] }, worker), channel));
  }

  private enterAt(place: Place): Place {
    if (place.tasks === 0) this.idle -= 1;
    place.tasks += 1;
    return place;
  }

  private placeAt(shape: Shape, channelName: string): Place {
    const places = shape.byChannel;
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
    return this.shapeAt(shapeKey(spec), spec, undefined);
  }

  private shapeAt(
    key: string,
    { type, needs, capabilities }: Pick<TaskSpec, 'type' | 'needs' | 'capabilities'>,
    worker: string | undefined,
  ): Shape {
    const known = this.shapes.get(key);
    if (known !== undefined) {
      this.compareAmounts(known, needs);
      return known;
    }
    const index = this.freeShapes.pop() ?? this.byShape.length;
    const gates = this.gatesFor(type, needs);
    const shape = new Shape(index, key, type, namesOf(needs), capabilities, gates, amountsOf(needs), worker);
    this.shapes.set(key, shape);
    this.byShape[index] = shape;
    return shape;
  }

  private compareAmounts(shape: Shape, needs: readonly Need[]): void {
    if (shape.amounts?.every((amount, i) => amount === needs[i]?.amount) !== false) return;
    shape.amounts = undefined;
    this.shapeMixed(shape);
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
      place.shape.byChannel.delete(place.channel.name);
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
function shapeKey({ type, needs, capabilities }: TaskSpec): string {
  if (needs.length === 0 && capabilities.length === 0) return type;
  // No type contains a control character, so no type can be taken for the key of a richer shape.
  return `\0${JSON.stringify([type, namesOf(needs), capabilities])}`;
}

function namesOf(needs: readonly Need[]): string[] {
  return needs.map((need) => need.resource);
}
