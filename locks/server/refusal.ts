/** The lock error for a request that a retry does not help. */
import { ClientUnusable, type LockError, ServerRefused } from '../errors.ts';
import { Unsendable } from './outcomes.ts';

/** ClientUnusable when the client cannot send the request, otherwise ServerRefused. */
export function refusal(lock: string, owner: string, error: unknown): LockError {
  const Kind = error instanceof Unsendable ? ClientUnusable : ServerRefused;
  return new Kind(lock, owner, error);
}
