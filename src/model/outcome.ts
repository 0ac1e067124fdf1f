import type { ErrorRecord } from './error-record.js';

/** How an attempt ended. */
export type Outcome =
  | { readonly kind: 'succeeded'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly error: ErrorRecord; readonly retryable: boolean; readonly cause?: unknown }
  | { readonly kind: 'aborted' }
  /** The error says what became of whoever ran it, where that is known. */
  | { readonly kind: 'lost'; readonly error?: ErrorRecord; readonly cause?: unknown };
