import type { ErrorRecord } from './error-record.js';

/** How an attempt ended. */
export type Outcome =
  | { readonly kind: 'succeeded'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly error: ErrorRecord; readonly retryable: boolean; readonly cause?: unknown }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'lost' };
