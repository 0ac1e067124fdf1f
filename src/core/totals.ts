/** What has come of tasks and attempts since the core was made; nothing is decided by it, so a restart begins it anew. */
export class Totals {
  completed = 0;
  failed = 0;
  cancelled = 0;
  skipped = 0;
  retries = 0;
  /** How long the attempts of completed tasks took together. */
  ranMs = 0;
}
