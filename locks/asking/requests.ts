/** How requests are sent: those for a lock, which may have to reach replicas before they count, and all others. */

import { LockError, NotReplicated, OutcomeUnknown } from '../errors.ts';
import type { Core } from '../holding/core.ts';
import type { LockScript } from '../scripts/define.ts';
import { NoReply } from '../server/outcomes.ts';
import { refusal } from '../server/refusal.ts';
import { isTransient, retryUntilAnswered } from '../server/retry.ts';
import type { LockServer, ReplicaRequirement } from '../server/server.ts';
import { elapsed } from '../timing/clock.ts';

export interface LockRequest {
  readonly script: LockScript;
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

/** What has to be known of a grant that may have to be undone. */
export interface UndoableGrant {
  readonly lock: string;
  readonly owner: string;
  granted(reply: unknown): boolean;
  /** Gives back what was granted. */
  undo(): Promise<unknown>;
}

/**
 * The script's reply. Throws NotReplicated, after undoing the grant, when too few replicas have it; NoReply when the
 * connection was lost before they confirmed it, for the next one may lead to a server that knows nothing of it.
 */
export function take(
  { server, replication }: Core,
  request: LockRequest,
  grant: () => UndoableGrant,
): Promise<unknown> {
  return replication
    ? takeReplicated(server, replication, request, grant())
    : server.run(request.script, request.keys, request.args);
}

async function takeReplicated(
  server: LockServer,
  replication: ReplicaRequirement,
  { script, keys, args }: LockRequest,
  grant: UndoableGrant,
): Promise<unknown> {
  const { reply, copies, needed, cause } = await server.runReplicated(script, keys, args, replication);
  if (!grant.granted(reply) || copies >= needed) return reply;
  if (cause instanceof NoReply) throw cause; // Whether the present primary has it, and its replicas, is asked again.
  await grant.undo().catch(() => {}); // What cannot be undone now ends with its lease.
  throw new NotReplicated(grant.lock, grant.owner, copies, needed, { cause });
}

export interface RetryOptions {
  /** Does not keep the process alive. */
  readonly background?: boolean;
  /** It was asked in another way before, and no answer came. */
  readonly unanswered?: boolean;
}

/**
 * Releases until an answer comes or the hold is over. Answers may get lost: after one of them "gone" means released.
 * @param release asks once
 * @param released what the reply says; false when the server knows no such hold
 * @param validUntil when the hold is over, on the monotonic clock
 */
export function releaseUntilAnswered(
  server: LockServer,
  release: () => Promise<unknown>,
  released: (reply: unknown) => boolean,
  validUntil: number,
  { background = false, unanswered = false }: RetryOptions = {},
): Promise<boolean> {
  return retryUntilAnswered(
    release,
    (reply, unknown) => released(reply) || ((unanswered || unknown > 0) && elapsed() < validUntil),
    Math.max(validUntil, elapsed() + server.requestTimeoutMs),
    background,
  );
}

/** For how long a request that is no acquisition goes on without an answer, in milliseconds. */
export const GIVE_UP_AFTER_MS = 30_000;

/**
 * Asks the server something idempotent until it answers.
 * Throws OutcomeUnknown when no answer comes for long, ServerRefused when the server will not, and LockErrors as they are.
 */
export async function ask<T>(
  core: Core,
  lock: string,
  request: () => Promise<T>,
  patienceMs: number = GIVE_UP_AFTER_MS,
): Promise<T> {
  try {
    return await retryUntilAnswered(request, (reply) => reply, elapsed() + patienceMs);
  } catch (error) {
    if (error instanceof LockError) throw error;
    const owner = core.owners.clientId;
    throw isTransient(error) ? new OutcomeUnknown(lock, owner, error) : refusal(lock, owner, error);
  }
}
