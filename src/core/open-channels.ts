import { parseName, refuseConfig, refuseTask } from '../model/index.js';
import { show } from '../model/show.js';

const SHOWN_NAMES = 12;

/** Which channels take new tasks, as plain data. */
export interface OpenChannelsRecord {
  /** `null`: every one that is not closed. */
  readonly only: readonly string[] | null;
  readonly closed: readonly string[];
}

/** Which channels take new tasks: every one unless told otherwise. What waits in a closed one still runs. */
export class OpenChannels {
  private only: Set<string> | undefined = undefined;
  private closed = new Set<string>();
  /** Whether any name could be refused; asking first keeps adding quick. */
  restricted = false;

  /** Refuses a task for a channel that takes none. */
  check(channel: string): void {
    if (!this.restricted) return;
    if (this.closed.has(channel)) refuseTask('channel', channel, `a channel that is not closed${this.listed()}`);
    if (this.only?.has(channel) === false)
      refuseTask('channel', channel, `one of those in channels.only${this.listed()}`);
  }

  /** From now on these and no others are open; `undefined` for every channel. */
  setOnly(names: readonly string[] | undefined): void {
    this.only = names === undefined ? undefined : new Set(names);
    this.closed = new Set();
    this.note();
  }

  /** Whether that is a change; a channel that is not listed where others are is refused. */
  close(channel: string): boolean {
    if (this.only?.has(channel) === false)
      refuseConfig('channel', channel, `one of those in channels.only${this.listed()}`);
    if (this.closed.has(channel)) return false;
    this.closed.add(channel);
    this.note();
    return true;
  }

  /** Opens a closed channel again, or one that was not listed; whether that is a change. */
  open(channel: string): boolean {
    const wasClosed = this.closed.delete(channel);
    const isNew = this.only?.has(channel) === false;
    if (isNew) this.only?.add(channel);
    this.note();
    return wasClosed || isNew;
  }

  save(): OpenChannelsRecord {
    return { only: this.only === undefined ? null : [...this.only], closed: [...this.closed] };
  }

  load({ only, closed }: OpenChannelsRecord): void {
    this.setOnly(only ?? undefined);
    this.closed = new Set(closed);
    this.note();
  }

  private note(): void {
    this.restricted = this.only !== undefined || this.closed.size > 0;
  }

  /** The channels that would do, where they are few enough to be named. */
  private listed(): string {
    if (this.only === undefined) return '';
    const open = [...this.only].filter((name) => !this.closed.has(name));
    if (open.length === 0) return ': there is none';
    const shown = open.slice(0, SHOWN_NAMES).map(show);
    if (open.length > SHOWN_NAMES) shown.push(`… (${open.length - SHOWN_NAMES} more)`);
    return `: ${shown.join(', ')}`;
  }
}

/** A list of channels as a user gives it; `undefined` for all there may be. */
export function checkOnly(only: unknown): readonly string[] | undefined {
  if (only === undefined) return undefined;
  if (!Array.isArray(only)) return refuseConfig('channels.only', only, 'a list of names of channels');
  return only.map((name: unknown, i) => parseName(name, `channels.only[${i}]`, refuseConfig));
}
