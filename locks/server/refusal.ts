/** What a request comes to that asking again does not help. */
import { ClientUnusable, type LockError, ServerRefused } from '../errors.ts';
import { Unsendable } from './outcomes.ts';

/** The typed error: the server will not have the request, or the client cannot send it. */
export function refusal(lock: string, owner: string, error: unknown): LockError {
  const Kind = error instanceof Unsendable ? ClientUnusable : ServerRefused;
  return new Kind(lock, owner, error);
}
