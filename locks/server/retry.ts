/** Retries of idempotent requests that got no reply, with growing pauses. */
import { randomInt } from 'node:crypto';
import { elapsed, pause } from '../timing/clock.ts';
import { NoReply, TryAgain } from './outcomes.ts';

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 1000;

/** Whether the same request may be sent again after this error. */
export const isTransient = (error: unknown): boolean => error instanceof NoReply || error instanceof TryAgain;

/** The pause before try number `failures + 1` in milliseconds, with jitter so that clients do not retry at the same time. */
export function pauseMs(failures: number, longestMs = LONGEST_PAUSE_MS): number {
  const full = Math.min(longestMs, FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10));
  return full / 2 + randomInt(Math.ceil(full / 2) + 1);
}

/**
 * Calls `request` until a reply comes.
 * @param read interprets the reply, given the number of earlier calls whose outcome is unknown
 * @param until when to give up, on the monotonic clock; the last error is thrown then
 */
export function retryUntilAnswered<R, T>(
  request: () => Promise<R>,
  read: (reply: R, unknown: number) => T,
  until: number,
  background = false,
): Promise<T> {
  return request().then(
    (reply) => read(reply, 0),
    (error: unknown) => retryAfter(request, read, error, until, background),
  );
}

async function retryAfter<R, T>(
  request: () => Promise<R>,
  read: (reply: R, unknown: number) => T,
  first: unknown,
  until: number,
  background: boolean,
): Promise<T> {
  let error = first;
  let unknown = 0;
  for (let failures = 1; ; failures++) {
    if (!isTransient(error)) throw error;
    if (error instanceof NoReply) unknown++;
    const wait = pauseMs(failures);
    if (elapsed() + wait >= until) throw error;
    await pause(wait, background);
    let reply: R;
    try {
      reply = await request();
    } catch (again) {
      error = again;
      continue;
    }
    return read(reply, unknown);
  }
}
