/** Which replica is promoted: Redis' own rule, and what quorum mode requires in addition. */
import type { Server } from '../../server/server.ts';

/** A node that may be promoted, on either clock. */
export interface Candidate {
  /** The name of the node. */
  readonly name: string;
  /** @internal */
  readonly server: Server;
  /** False between a crash and the restart. */
  readonly up: boolean;
  /** True between `pause` and `resume`. */
  readonly paused: boolean;
  /** The replication offset. */
  readonly offset: number;
}

/** The nodes of an election. */
export interface Election<N extends Candidate> {
  readonly primary: N;
  readonly replicas: readonly N[];
  /** How many nodes are a majority, in quorum mode; otherwise 0. */
  readonly quorum: number;
  /** True when the party that decides can reach the node. */
  readonly reaches: (node: N) => boolean;
}

const isAlive = ({ up, paused }: Candidate): boolean => up && !paused;

/**
 * Chooses the replica to promote among those that are up, not paused and reachable: lowest priority number, then highest
 * offset, then lowest run id; in quorum mode the offset comes first. Throws, with the reasons, when there is none.
 * See https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/ ("Replica selection and priority").
 */
export function elect<N extends Candidate>(election: Election<N>): N {
  const { replicas, quorum, reaches } = election;
  const able = replicas.filter(
    (node) => isAlive(node) && reaches(node) && node.server.settings['replica-priority'] > 0,
  );
  const [best] = able.sort(
    (a, b) =>
      (quorum > 0 ? b.offset - a.offset : 0) ||
      a.server.settings['replica-priority'] - b.server.settings['replica-priority'] ||
      b.offset - a.offset ||
      (a.server.runId < b.server.runId ? -1 : 1),
  );
  if (best === undefined) throw new Error(`no replica can be promoted: ${reasons(election)}`);
  if (quorum > 0) assertComplete(election, best);
  return best;
}

/**
 * Accepts the replica that the test has named, reachable or not.
 * Throws when it is down, and in quorum mode when it lacks writes that a majority has.
 */
export function appoint<N extends Candidate>(election: Election<N>, node: N): N {
  if (!node.up) throw new Error(`${node.name} cannot be promoted: it is down`);
  if (election.quorum > 0) assertComplete(election, node);
  return node;
}

function reasons<N extends Candidate>({ replicas, reaches }: Election<N>): string {
  if (replicas.length === 0) return 'there is none';
  const why = (node: N): string => {
    if (!node.up) return 'is down';
    if (node.paused) return 'is paused';
    return reaches(node) ? 'has priority 0' : 'cannot be reached';
  };
  return replicas.map((node) => `${node.name} ${why(node)}`).join(', ');
}

/** Quorum mode: in any majority, the node with the highest offset has every write that was answered. */
function assertComplete<N extends Candidate>(election: Election<N>, candidate: N): void {
  const { primary, replicas, quorum, reaches } = election;
  const reachable = replicas.filter((node) => isAlive(node) && reaches(node));
  if (reachable.length + (isAlive(primary) ? 1 : 0) < quorum) {
    throw new Error(`no majority: ${quorum} of ${replicas.length + 1} nodes must be up to promote one`);
  }
  if (reachable.some(({ offset }) => offset > candidate.offset)) {
    throw new Error(`${candidate.name} lacks writes that a majority has: it cannot be promoted`);
  }
}

/** Finds the lane between two parties. */
interface LaneFinder {
  lane(from: string, to: string): { readonly partitioned: boolean };
}

/**
 * True when someone can tell the node to take over: it is partitioned off neither from the party that decides, nor from
 * all of the other parties. A lane that is cut in one direction counts as cut, because no answer would come back.
 * @param decider the party that decides on the failover
 */
export function isReachable(
  lanes: LaneFinder,
  name: string,
  decider: string,
  others: readonly string[],
): boolean {
  const isCut = (other: string): boolean =>
    lanes.lane(name, other).partitioned || lanes.lane(other, name).partitioned;
  if (isCut(decider)) return false;
  return others.length === 0 || !others.every(isCut);
}
