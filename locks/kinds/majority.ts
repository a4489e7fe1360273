/** Asking independent servers the same thing: decided when the outcome is decided, not when the last one answers. */
import type { LockServer } from '../server/server.ts';

/** What the servers have said until it was decided. */
export interface Votes {
  yes: number;
  no: number;
  /** Those that gave no usable answer, or none in time. */
  failed: number;
  /** The last error in place of an answer. */
  cause: unknown;
}

/**
 * Asks every server at once. Resolves as soon as `quorum` of them say yes, or too few are left to say so, or after
 * `limitMs`; whoever answers later finds its own promise settled and nobody counting any more.
 */
export function askAll(
  servers: readonly LockServer[],
  quorum: number,
  limitMs: number,
  ask: (server: LockServer) => Promise<boolean>,
): Promise<Votes> {
  return new Promise((resolve) => {
    const votes: Votes = { yes: 0, no: 0, failed: 0, cause: undefined };
    let open = servers.length;
    const settle = (): void => {
      clearTimeout(limit);
      resolve(votes);
    };
    const limit = setTimeout(() => {
      votes.failed += open;
      settle();
    }, limitMs);
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
