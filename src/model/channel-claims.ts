/** One channel's part in the claims. */
export interface ChannelClaims {
  readonly channel: string;
  /** Attempts started since the channel came into use. */
  readonly claimed: number;
  /** Unfinished tasks that have no attempt. */
  readonly pending: number;
}
