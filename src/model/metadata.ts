import { fieldsOf, pathTo } from './fields.js';
import type { JsonObject, JsonValue, Metadata } from './json.js';
import { refuseTask } from './refuse.js';

/** Deep enough for anything that is about a task; what contains itself has no end. */
const MAX_DEPTH = 16;
/** More than anything that is about a task; few objects may stand for many, where each is in several places. */
const MAX_VALUES = 10_000;

/** How many values there may still be. */
interface Room {
  values: number;
}

/** A frozen copy, so that what its owner does to the object later is not done to the task. */
export function parseMetadata(value: unknown): Metadata {
  return copyObject(value, 'metadata', 1, { values: MAX_VALUES });
}

function copyObject(value: unknown, path: string, depth: number, room: Room): JsonObject {
  // Entries make own fields, whatever their names: `__proto__` is one like any other.
  const fields = fieldsOf(value, path, refuseTask).map(([key, each]) => [
    key,
    copy(each, pathTo(path, key), depth, room),
  ]);
  return Object.freeze(Object.fromEntries(fields) as JsonObject);
}

function copy(value: unknown, path: string, depth: number, room: Room): JsonValue {
  room.values -= 1;
  if (room.values < 0) return refuseTask(path, value, `at most ${MAX_VALUES} values in all`);
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : refuseTask(path, value, 'a finite number, as JSON knows no other');
    case 'object':
      if (value === null) return null;
      if (depth >= MAX_DEPTH) return refuseTask(path, value, `at most ${MAX_DEPTH} levels, and nothing within itself`);
      return Array.isArray(value) ? copyList(value, path, depth, room) : copyObject(value, path, depth + 1, room);
    default:
      return refuseTask(
        path,
        value,
        'what JSON can say: a text, a number, true, false, null, a list or a plain object',
      );
  }
}

function copyList(list: readonly unknown[], path: string, depth: number, room: Room): JsonValue {
  // One with holes may be longer than there is room for, and take none itself.
  if (list.length > room.values) return refuseTask(path, list, `at most ${MAX_VALUES} values in all`);
  return Object.freeze(Array.from(list, (each, i) => copy(each, `${path}[${i}]`, depth + 1, room)));
}
