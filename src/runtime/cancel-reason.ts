import { refuseTask } from '../model/index.js';

/** Why a task is taken back, in words: what a store keeps of it must be a text. */
export function checkReason(reason: unknown): string | undefined {
  if (reason === undefined || typeof reason === 'string') return reason;
  return refuseTask('reason', reason, 'a text');
}
