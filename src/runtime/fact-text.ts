import { recurrenceRecord, specRecord } from '../core/index.js';
import type { Fact, TaskSpec } from '../model/index.js';
import { Kept } from './kept.js';
import type { Payload } from './payload.js';

type Submitted = Extract<Fact, { kind: 'task.submitted' }>;
type SeriesMade = Extract<Fact, { kind: 'series.added' | 'series.updated' }>;

/** Facts as a journal has them: JSON, in which what tasks carry stands as it was kept. */
export class FactTexts {
  /** Tasks without options of their own share one spec. */
  private readonly specs = new WeakMap<TaskSpec, string>();

  of(fact: Fact): string {
    switch (fact.kind) {
      case 'task.submitted':
        return this.submitted(fact);
      case 'series.added':
      case 'series.updated':
        return this.series(fact);
      case 'task.renewed':
        return withFields(JSON.stringify({ ...fact, payload: undefined }), payloadField(fact.payload));
      case 'task.completed':
        return withKept(fact, 'value', fact.value);
      case 'task.checkpointed':
        return withKept(fact, 'checkpoint', fact.checkpoint);
      default:
        return JSON.stringify(fact);
    }
  }

  private submitted({ spec, payload, ...fact }: Submitted): string {
    return spliced(JSON.stringify(fact), `"spec":${this.spec(spec)}${payloadField(payload, spec)}`);
  }

  private series({ spec, payload, recurrence, ...fact }: SeriesMade): string {
    const text = JSON.stringify({ ...fact, recurrence: recurrenceRecord(recurrence) });
    return spliced(text, `"spec":${this.spec(spec)}${payloadField(payload, spec)}`);
  }

  private spec(spec: TaskSpec): string {
    let text = this.specs.get(spec);
    if (text === undefined) {
      text = JSON.stringify(specRecord(spec));
      this.specs.set(spec, text);
    }
    return text;
  }
}

/** The field `payload` with what a store keeps of it, preceded by a comma; nothing where that is nothing. */
export function payloadField(carried: unknown, spec?: TaskSpec): string {
  const payload = carried as Payload | undefined;
  if (payload === undefined || spec?.rare?.durable === false) return '';
  const { input, gaps } = payload;
  const fields: string[] = [];
  if (input instanceof Kept) fields.push(`"input":${input.text}`);
  if (gaps !== undefined) fields.push(`"gaps":${JSON.stringify(gaps)}`);
  return fields.length === 0 ? '' : `,"payload":{${fields.join(',')}}`;
}

/** A record with one field that may be kept: of what is not, the store gets nothing. */
function withKept(record: object, field: string, value: unknown): string {
  const text = JSON.stringify({ ...record, [field]: undefined });
  return value instanceof Kept ? spliced(text, `"${field}":${value.text}`) : text;
}

/** The same with fields that begin with a comma, if there are any. */
function withFields(text: string, fields: string): string {
  return fields === '' ? text : spliced(text, fields.slice(1));
}

/** The text of an object that has fields, with more of them. */
export function spliced(text: string, fields: string): string {
  return `${text.slice(0, -1)},${fields}}`;
}
