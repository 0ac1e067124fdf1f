import { PayloadError, refuseConfig, type Task, type TaskSpec } from '../model/index.js';
import { show } from '../model/show.js';
import { JSON_CODEC, NotKeptError, encodeWithin, type Codec } from './codec.js';
import { isDurable } from './durable.js';

/**
 * An input, a result or a checkpoint as a store has it. Whoever asks gets a copy of their own, the same one before and after
 * a restart.
 */
export class Kept {
  constructor(
    /** As JSON. */
    readonly text: string,
    private readonly codec: Codec,
  ) {}

  read(): unknown {
    const data: unknown = JSON.parse(this.text);
    // Nothing in it stands for anything but itself.
    if (this.codec === JSON_CODEC && !this.text.includes('"$"')) return data;
    return this.codec.decode(data);
  }

  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** What a task or an attempt carries, wherever it is kept. */
export function valueOf(carried: unknown): unknown {
  return carried instanceof Kept ? carried.read() : carried;
}

/** Which part of a task is to be kept, for messages. */
export interface Part {
  /** `undefined` for a task that has no id yet. */
  readonly taskId: string | undefined;
  readonly type: string;
  readonly part: 'input' | 'result' | 'checkpoint' | 'metadata';
}

/** Large enough for anything that describes work, and small enough that a snapshot of many is no burden. */
const MAX_PAYLOAD_BYTES = 1_048_576;

/** Turns what tasks carry into what a store keeps, and refuses what it cannot. */
export class Payloads {
  private readonly codec: Codec;
  private readonly maxBytes: number;

  constructor(
    codec: unknown,
    maxPayloadBytes: unknown,
    /** So many the store has room for. */
    most = Infinity,
  ) {
    this.codec = codec === undefined ? JSON_CODEC : checkCodec(codec);
    this.maxBytes = checkBytes(maxPayloadBytes, most);
  }

  /** As the store will have it; `undefined` needs no keeping. */
  keep(value: unknown, about: Part): Kept | undefined {
    if (value === undefined) return undefined;
    const text = this.encode(value, about);
    this.checkSize(text, about);
    return new Kept(text, this.codec);
  }

  /** An input; metadata that is too large is refused with it. */
  input(value: unknown, { id: taskId, type, rare }: TaskSpec): unknown {
    if (rare?.metadata !== undefined) {
      this.checkSize(JSON.stringify(rare.metadata), { taskId, type, part: 'metadata' });
    }
    return this.keep(value, { taskId, type, part: 'input' });
  }

  /** What an attempt gives, unless it is of a task that is not kept. */
  given({ id: taskId, spec }: Task, value: unknown, part: 'result' | 'checkpoint'): unknown {
    return isDurable(spec) ? this.keep(value, { taskId, type: spec.type, part }) : value;
  }

  /** What has come out of a store. */
  back(data: unknown): Kept | undefined {
    return data === undefined ? undefined : new Kept(JSON.stringify(data), this.codec);
  }

  /** Refuses what is too large. */
  checkSize(text: string, about: Part): void {
    // A character takes three bytes at the most: most texts need not be measured.
    if (3 * text.length <= this.maxBytes) return;
    const bytes = Buffer.byteLength(text);
    if (bytes <= this.maxBytes) return;
    throw new PayloadError({
      ...about,
      reason: `it has ${bytes} bytes, of ${this.maxBytes} that maxPayloadBytes allows`,
    });
  }

  private encode(value: unknown, about: Part): string {
    let text: string | undefined;
    try {
      // A function or a symbol has no text, whatever the types say.
      const written: unknown = JSON.stringify(this.encoded(value));
      if (typeof written === 'string') text = written;
    } catch (error) {
      throw new PayloadError({ ...about, reason: error instanceof NotKeptError ? error.message : show(error) });
    }
    if (text !== undefined) return text;
    throw new PayloadError({ ...about, reason: 'its codec gives nothing that JSON can say' });
  }

  private encoded(value: unknown): unknown {
    // Each part takes a byte at the least.
    return this.codec === JSON_CODEC ? encodeWithin(value, this.maxBytes) : this.codec.encode(value);
  }
}

function checkCodec(codec: unknown): Codec {
  const given = (typeof codec === 'object' && codec !== null ? codec : {}) as Partial<Codec>;
  if (typeof given.encode === 'function' && typeof given.decode === 'function') return codec as Codec;
  return refuseConfig('codec', codec, 'an object with the methods encode and decode');
}

function checkBytes(bytes: unknown, most: number): number {
  if (bytes === undefined) return Math.min(MAX_PAYLOAD_BYTES, most);
  if (bytes === Infinity) return most;
  const isCount = Number.isSafeInteger(bytes) && (bytes as number) > 0;
  if (isCount && (bytes as number) <= most) return bytes as number;
  const range = most === Infinity ? 'above 0' : `from 1 to ${most}, as the store takes no longer records`;
  return refuseConfig('maxPayloadBytes', bytes, `a whole number of bytes ${range}, or Infinity`);
}
