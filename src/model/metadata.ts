import { fieldsOf, pathTo } from './fields.js';
import type { JsonObject, JsonValue, Metadata } from './json.js';
import { refuseTask } from './refuse.js';

/** Deep enough for anything that is about a task; what contains itself has no end. */
const MAX_DEPTH = 16;

/** A frozen copy, so that what its owner does to the object later is not done to the task. */
export function parseMetadata(value: unknown): Metadata {
  return copyObject(value, 'metadata', 1);
}

function copyObject(value: unknown, path: string, depth: number): JsonObject {
  // Entries make own fields, whatever their names: `__proto__` is one like any other.
  const fields = fieldsOf(value, path, refuseTask).map(([key, each]) => [key, copy(each, pathTo(path, key), depth)]);
  return Object.freeze(Object.fromEntries(fields) as JsonObject);
}

function copy(value: unknown, path: string, depth: number): JsonValue {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : refuseTask(path, value, 'a finite number, as JSON knows no other');
    case 'object':
      if (value === null) return null;
      if (depth >= MAX_DEPTH) return refuseTask(path, value, `at most ${MAX_DEPTH} levels, and nothing within itself`);
      if (!Array.isArray(value)) return copyObject(value, path, depth + 1);
      return Object.freeze(Array.from(value, (each: unknown, i) => copy(each, `${path}[${i}]`, depth + 1)));
    default:
      return refuseTask(
        path,
        value,
        'what JSON can say: a text, a number, true, false, null, a list or a plain object',
      );
  }
}
