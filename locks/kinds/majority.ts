/** Asks independent servers the same thing, and resolves when the outcome is decided, not when the last one answers. */
import type { LockServer } from '../server/server.ts';
import { LONGEST_TIMER_MS } from '../timing/clock.ts';

/** The servers' answers up to the decision. */
export interface Votes {
  yes: number;
  no: number;
  /** Servers that failed, or did not answer in time. */
  failed: number;
  /** The last error. */
  cause: unknown;
}

/**
 * Asks all servers at once. Resolves when `quorum` of them say yes, when too few are left for that, or after `limitMs`
 * milliseconds. Later answers are not counted.
 * @param background whether the process may end while it waits
 */
export function askAll(
  servers: readonly LockServer[],
  quorum: number,
  limitMs: number,
  ask: (server: LockServer) => Promise<boolean>,
  background = false,
): Promise<Votes> {
  return new Promise((resolve) => {
    const votes: Votes = { yes: 0, no: 0, failed: 0, cause: undefined };
    let open = servers.length;
    const settle = (): void => {
      clearTimeout(limit);
      resolve(votes);
    };
    const giveUp = (): void => {
      votes.failed += open;
      settle();
    };
    const limit = setTimeout(giveUp, Math.min(limitMs, LONGEST_TIMER_MS));
    if (background) limit.unref?.();
    const count = (): void => {
      open--;
      if (votes.yes >= quorum || votes.yes + open < quorum) settle();
    };
    const onAnswer = (yes: boolean): void => {
      if (yes) votes.yes++;
      else votes.no++;
      count();
    };
    const onError = (error: unknown): void => {
      votes.failed++;
      votes.cause = error;
      count();
    };
    for (const server of servers) ask(server).then(onAnswer, onError);
    if (quorum <= 0) settle();
  });
}
