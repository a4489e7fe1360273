/**
 * Sends requests: acquisitions, which replicas may have to acknowledge, and releases and other requests, which are
 * retried.
 */

import { LockError, NotReplicated, OutcomeUnknown } from '../errors.ts';
import type { LockContext } from '../holding/context.ts';
import type { ReleaseAgain } from '../holding/hold-handle.ts';
import type { LockScript } from '../scripts/define.ts';
import { NoReply } from '../server/outcomes.ts';
import { refusal } from '../server/refusal.ts';
import { REMEMBER_MS } from '../server/request-log.ts';
import { isTransient, retryUntilAnswered } from '../server/retry.ts';
import type { LockServer, ReplicaRequirement } from '../server/server.ts';
import { elapsed } from '../timing/clock.ts';

/** A script with its keys and arguments. */
export interface LockRequest {
  readonly script: LockScript;
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

/** A grant that may have to be undone. */
export interface UndoableGrant {
  readonly lock: string;
  readonly owner: string;
  granted(reply: unknown): boolean;
  /** Releases what was granted. */
  undo(): Promise<unknown>;
}

/**
 * Sends an acquiring script and returns its reply. Throws NotReplicated, after undoing the grant, when too few replicas
 * acknowledge it, and NoReply when the connection is lost before: the next one may lead to a server without the grant.
 */
export function take(
  { server, replication }: LockContext,
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
  if (cause instanceof NoReply) throw cause; // The retry finds out whether the present primary and its replicas have it.
  await grant.undo().catch(() => {}); // If this fails, the grant ends with its lease.
  throw new NotReplicated(grant.lock, grant.owner, copies, needed, { cause });
}

/** Options of a retried request. */
export interface RetryOptions {
  /** Whether the process may end while it waits. */
  readonly background?: boolean;
  /** Whether an earlier request for the same got no reply. */
  readonly unanswered?: boolean;
  /** Sends it once, instead of until a reply comes. */
  readonly once?: boolean;
}

/**
 * Sends a release until a reply comes or the hold is over. After a lost reply, "no such hold" means released.
 * @param release sends the request once
 * @param released whether the reply means released; false when the server has no such hold
 * @param validUntil when the hold is over, on the monotonic clock
 */
export function releaseUntilAnswered(
  server: LockServer,
  release: () => Promise<unknown>,
  released: (reply: unknown) => boolean,
  validUntil: number,
  { background = false, unanswered = false, once = false }: RetryOptions = {},
): Promise<boolean> {
  return retryUntilAnswered(
    release,
    (reply, unknown) => released(reply) || ((unanswered || unknown > 0) && elapsed() < validUntil),
    once ? 0 : Math.max(validUntil, elapsed() + server.requestTimeoutMs),
    background,
  );
}

/** How long a request other than an acquisition is retried without a reply, in milliseconds. */
const GIVE_UP_AFTER_MS = 30_000;

/**
 * Sends an idempotent request until a reply comes. Throws OutcomeUnknown when none comes within `patienceMs` milliseconds,
 * and ServerRefused or ClientUnusable when a retry would not help. Lock errors are passed on.
 */
export async function ask<T>(
  context: LockContext,
  lock: string,
  request: () => Promise<T>,
  patienceMs: number = GIVE_UP_AFTER_MS,
): Promise<T> {
  try {
    return await retryUntilAnswered(request, (reply) => reply, elapsed() + patienceMs);
  } catch (error) {
    if (error instanceof LockError) throw error;
    const owner = context.owners.clientId;
    throw isTransient(error) ? new OutcomeUnknown(lock, owner, error) : refusal(lock, owner, error);
  }
}

/** For how many milliseconds a release without a reply may be repeated: the server must still remember the first one. */
const FORGETS_AFTER_MS = REMEMBER_MS - 60_000;

/** Sends a release; `again` when an earlier call failed: then it is sent once. */
export type SendRelease = (again?: Pick<ReleaseAgain, 'unanswered'>) => Promise<boolean>;

/**
 * A release of what has no name and no lease, such as permits: it has a number, so that it counts once however often it is
 * sent. It is settled when it has been answered. Throws OutcomeUnknown when it may have been executed so long ago that the server
 * has forgotten it.
 */
export function numberedRelease(
  context: LockContext,
  lock: string,
  owner: string,
  send: (number: number) => Promise<unknown>,
): SendRelease {
  let number = 0;
  let begunAt = 0;
  return async (again) => {
    if (number === 0) {
      number = context.requests.open();
      begunAt = elapsed();
    }
    if (again?.unanswered && elapsed() > begunAt + FORGETS_AFTER_MS) {
      context.requests.settle(number);
      throw new OutcomeUnknown(lock, owner, undefined);
    }
    const until = again ? 0 : elapsed() + GIVE_UP_AFTER_MS;
    await retryUntilAnswered(
      () => send(number),
      (reply) => reply,
      until,
    );
    context.requests.settle(number);
    return true;
  };
}
