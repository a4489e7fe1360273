/** The election of the Sentinel that leads a failover, as in Raft: each has one vote in each epoch. */
import { asciiLower, type Bytes } from '../protocol/bytes.ts';
import type { Primary } from './instances.ts';
import type { Sentinel } from './sentinel.ts';

/** The longest random delay before a failover, in milliseconds. It keeps Sentinels from starting together. */
const DESYNC = 1000;

/** A random delay, so that several Sentinels do not act at the same moment. */
export function desync(sentinel: Sentinel): number {
  return Math.floor(sentinel.host.random() * DESYNC);
}

/** The Sentinel that this one has voted for last, and in which epoch. */
export interface Vote {
  readonly leader: Bytes | undefined;
  readonly epoch: number;
}

/** Votes for a Sentinel, unless this one has voted in that epoch already. Returns the valid vote. */
export function vote(sentinel: Sentinel, primary: Primary, epoch: number, candidate: Bytes): Vote {
  if (epoch > sentinel.epoch) {
    sentinel.epoch = epoch;
    sentinel.flush();
    sentinel.enterEpoch(epoch);
  }
  if (primary.leaderEpoch < epoch && sentinel.epoch <= epoch) {
    primary.leader = candidate;
    primary.leaderEpoch = sentinel.epoch;
    sentinel.flush();
    sentinel.event('warning', '+vote-for-leader', undefined, `${candidate} ${primary.leaderEpoch}`);
    // After a vote for another Sentinel, this one waits before it starts a failover of its own.
    if (asciiLower(candidate) !== asciiLower(sentinel.id)) {
      primary.failover.startedAt = sentinel.now + desync(sentinel);
    }
  }
  return { leader: primary.leader, epoch: primary.leaderEpoch };
}

/** Counts the votes of an epoch, this Sentinel's among them. Returns the leader; undefined if there is none yet. */
export function leaderOf(sentinel: Sentinel, primary: Primary, epoch: number): Bytes | undefined {
  const votes = new Map<Bytes, number>();
  const others = [...primary.sentinels.values()];
  for (const { leader, leaderEpoch } of others) {
    if (leader !== undefined && leaderEpoch === sentinel.epoch)
      votes.set(leader, (votes.get(leader) ?? 0) + 1);
  }
  const own = vote(sentinel, primary, epoch, mostVotes(votes) ?? sentinel.id);
  if (own.leader !== undefined && own.epoch === epoch)
    votes.set(own.leader, (votes.get(own.leader) ?? 0) + 1);
  const winner = mostVotes(votes);
  const needed = Math.max(Math.floor((others.length + 1) / 2) + 1, primary.quorum);
  return winner !== undefined && (votes.get(winner) ?? 0) >= needed ? winner : undefined;
}

function mostVotes(votes: ReadonlyMap<Bytes, number>): Bytes | undefined {
  let winner: Bytes | undefined;
  for (const [candidate, count] of votes) {
    if (winner === undefined || count > (votes.get(winner) ?? 0)) winner = candidate;
  }
  return winner;
}
