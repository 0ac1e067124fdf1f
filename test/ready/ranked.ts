import fc from 'fast-check';
import { Task, parseTaskOptions } from '../../src/model/index.js';
import { type Channel, Place, Shape } from '../../src/ready/index.js';

/** A rank with few values, so that ties are common. */
export const rank = fc.constantFrom(-2, 0, 0, 0, 0, 1, 2.5, Infinity);
/** The FIFO time; most tasks come in order. */
export const lateness = fc.constantFrom(0, 0, 0, 0, 3, -2);
export const nth = fc.nat(1_000);

/** Makes ready tasks with rising sequences, due in order unless told otherwise. */
export function taskMaker(): (lateBy?: number, channel?: string, level?: number) => Task {
  let sequence = 0;
  return (lateBy = 0, channel = 'c', level = 2) => {
    sequence += 1;
    const task = new Task(sequence, parseTaskOptions({ channel, priority: level }, ''), undefined, sequence + lateBy);
    task.state = 'ready';
    return task;
  };
}

/** The smallest by comparing numbers from left to right; the sequence is the last word, so there are no ties. */
export function smallest<T>(items: readonly T[], keyOf: (item: T) => readonly (number | string)[]): T | undefined {
  let best = items[0];
  for (const item of items) if (compareKeys(keyOf(item), keyOf(best as T)) < 0) best = item;
  return best;
}

export function compareKeys(x: readonly (number | string)[], y: readonly (number | string)[]): number {
  for (const [at, part] of x.entries()) {
    const other = y[at] as number | string;
    if (part !== other) return part < other ? -1 : 1;
  }
  return 0;
}

export const at = <T>(items: readonly T[], index: number): T | undefined => items[index % items.length];

/** A place whose shape needs nothing. */
export function placeOf(index: number, shape: Shape, channel: Channel): Place {
  const place = new Place(index, shape, channel);
  shape.byChannel.set(channel.name, place);
  return place;
}

export function shapeOf(index: number, key: string): Shape {
  return new Shape(index, key, '', [], [], { single: [], needed: [] }, [], undefined);
}
