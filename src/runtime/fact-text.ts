import { recurrenceRecord, specRecord } from '../core/index.js';
import type { Fact, Moment, TaskSpec } from '../model/index.js';
import { Kept } from './kept.js';
import type { Payload } from './payload.js';

type Of<Kind extends Fact['kind']> = Extract<Fact, { kind: Kind }>;
type Submitted = Of<'task.submitted'>;
type SeriesMade = Extract<Fact, { kind: 'series.added' | 'series.updated' }>;

/**
 * Facts as a journal has them: JSON, in which what tasks carry stands as it was kept. What every task has is put together
 * by hand, in two thirds of the time.
 */
export class FactTexts {
  /** Tasks without options of their own share one spec. */
  private readonly specs = new WeakMap<TaskSpec, string>();
  private last = { wall: NaN, mono: NaN, text: '' };

  of(fact: Fact): string {
    switch (fact.kind) {
      case 'task.submitted':
        return this.submitted(fact);
      case 'task.ready':
        return `{"kind":"task.ready","task":${quoted(fact.task)},${this.moment(fact)}}`;
      case 'attempt.started':
        return this.started(fact);
      case 'attempt.ended':
        return this.ended(fact);
      case 'series.added':
      case 'series.updated':
        return this.series(fact);
      case 'task.renewed':
        return withFields(JSON.stringify({ ...fact, payload: undefined }), payloadField(fact.payload));
      case 'task.completed':
        return `{"kind":"task.completed","task":${quoted(fact.task)},${this.moment(fact)}${valueField(fact.value)}}`;
      case 'task.checkpointed':
        return withKept(fact, 'checkpoint', fact.checkpoint);
      default:
        return JSON.stringify(fact);
    }
  }

  private submitted({ task, sequence, after, eta, due, estimateMs, spec, payload, ...rest }: Submitted): string {
    const { occurrence, parent } = rest;
    const dependencies = after.length === 0 ? '[]' : JSON.stringify(after);
    const origin = occurrence === undefined && parent === undefined ? '' : `,${fieldsIn({ occurrence, parent })}`;
    return (
      `{"kind":"task.submitted","task":${quoted(task)},"sequence":${sequence},"after":${dependencies},"eta":${eta},` +
      `"due":${due},"estimateMs":${estimateMs}${origin},${this.moment(rest)},` +
      `"spec":${this.spec(spec)}${payloadField(payload, spec)}}`
    );
  }

  private started(fact: Of<'attempt.started'>): string {
    const { task, attempt, epoch, workerId, channel, level, leaseMs } = fact;
    return (
      `{"kind":"attempt.started","task":${quoted(task)},"attempt":${attempt},"epoch":${epoch},` +
      `"workerId":${quoted(workerId)},"channel":${quoted(channel)},"level":${level},"leaseMs":${leaseMs},` +
      `${this.moment(fact)}}`
    );
  }

  private ended(fact: Of<'attempt.ended'>): string {
    const { task, attempt, workerId, how } = fact;
    return (
      `{"kind":"attempt.ended","task":${quoted(task)},"attempt":${attempt},"workerId":${quoted(workerId)},` +
      `"how":"${how}",${this.moment(fact)}}`
    );
  }

  /** Mostly that of the fact before. */
  private moment({ wall, mono }: Moment): string {
    const { last } = this;
    if (wall !== last.wall || mono !== last.mono) {
      this.last = { wall, mono, text: `"wall":${wall},"mono":${mono}` };
    }
    return this.last.text;
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

/** A text as JSON; most have nothing in them that stands for something else there. */
function quoted(text: string): string {
  return ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`;
}

/** What JSON escapes, and halves of characters. */
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/** The fields of a record, as they stand between its braces. */
function fieldsIn(record: object): string {
  return JSON.stringify(record).slice(1, -1);
}

function valueField(value: unknown): string {
  return value instanceof Kept ? `,"value":${value.text}` : '';
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
