/** The lock error for a request that a retry does not help. */
import { ClientUnusable, LockError, ServerRefused } from '../errors.ts';
import { Unsendable } from './outcomes.ts';

/**
 * ClientUnusable when the client cannot send the request, otherwise ServerRefused. An error that is a lock error already, or
 * the reason of the aborted signal, is returned as it is.
 */
export function refusal(lock: string, owner: string, error: unknown, signal?: AbortSignal): unknown {
  if (error instanceof LockError || (signal?.aborted && error === signal.reason)) return error;
  const Kind = error instanceof Unsendable ? ClientUnusable : ServerRefused;
  return new Kind(lock, owner, error);
}
