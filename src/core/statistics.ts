import { isFinal, type Task } from '../model/index.js';
import type { State } from './state.js';

/** One channel's part in the claims. */
export interface ChannelCount {
  readonly channel: string;
  /** Attempts started since the channel came into use. */
  readonly claimed: number;
  /** Unfinished tasks without an attempt. */
  readonly pending: number;
}

/** How claims are distributed over the channels in use; costs as much as there are tasks. */
export function claimsByChannel(state: State): ChannelCount[] {
  const pending = new Map<string, number>();
  for (const task of state.table.all()) {
    if (isPending(task)) pending.set(task.spec.channel, (pending.get(task.spec.channel) ?? 0) + 1);
  }
  return [...state.places.allChannels()].map(({ name, claims }) => ({
    channel: name,
    claimed: claims,
    pending: pending.get(name) ?? 0,
  }));
}

function isPending({ state, attempt }: Task): boolean {
  return attempt === undefined && !isFinal(state);
}
