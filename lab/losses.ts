/** What a promotion loses: the old primary's writes that the new one has not, and whether anybody had been promised them. */
import type { Server } from '../server/server.ts';
import { fingerprint } from './fingerprint.ts';
import { isAnswered, type Write, type WriteLog } from './write-log.ts';

/** The writes that are gone. */
export interface Losses {
  /** Their clients have been told that they succeeded. */
  readonly lost: readonly Write[];
  /** They were executed, but no reply has reached their clients. */
  readonly unanswered: readonly Write[];
  /** The new primary has them, although an earlier promotion had lost them: it had not come to discard them yet. */
  readonly returned: readonly Write[];
}

/** A node of either clock. */
interface Logged {
  readonly server: Server;
  readonly log: WriteLog;
}

/**
 * Compares the two nodes' data. A write is gone when it lies behind the offset that the new primary has reached in
 * the same history, and the key is not as the old primary had it (a lost SET and a lost DEL may cancel out).
 * Of a history that the new primary does not share, each key's last write counts.
 */
export function lossesBetween(old: Logged, fresh: Logged): Losses {
  const shared = sharedOffset(old.server, fresh.server);
  const differs = new Map<string, boolean>();
  const isGone = ({ db, key }: Write): boolean => {
    const name = `${db} ${key}`;
    let answer = differs.get(name);
    if (answer === undefined) {
      answer = fingerprint(old.server, db, key) !== fingerprint(fresh.server, db, key);
      differs.set(name, answer);
    }
    return answer;
  };
  const candidates =
    shared === undefined
      ? lastPerKey(old.log.writes)
      : old.log.writes.filter(({ offset }) => offset > shared);
  const gone = candidates.filter(isGone);
  const ahead = shared === undefined ? [] : fresh.log.writes.filter(({ offset }) => offset > shared);
  return {
    lost: gone.filter(isAnswered),
    unanswered: gone.filter((write) => !isAnswered(write)),
    returned: ahead.filter(isGone),
  };
}

/** Up to where both have the same stream; undefined when they have none in common. */
export function sharedOffset(old: Server, fresh: Server): number | undefined {
  const [a, b] = [old.replication, fresh.replication];
  if (a.id === b.id) return Math.min(a.offset, b.offset);
  if (b.secondId === a.id) return Math.min(a.offset, b.secondOffset - 1);
  if (a.secondId === b.id) return Math.min(a.secondOffset - 1, b.offset);
  return undefined;
}

function lastPerKey(writes: readonly Write[]): Write[] {
  const last = new Map<string, Write>();
  for (const write of writes) last.set(`${write.db} ${write.key}`, write);
  return [...last.values()];
}
