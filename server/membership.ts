/** What a node asks the cluster that it is a member of. A node without a cluster has no membership. */
import type { Keyspace } from '../keyspace/keyspace.ts';
import type { Bytes } from '../protocol/bytes.ts';
import type { ReplyError } from '../protocol/reply.ts';
import type { Client } from './clients/client.ts';
import type { Command } from './table/command.ts';
import type { Outcome } from './table/outcome.ts';

/** A node's membership in a cluster (https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/). */
export interface Membership {
  /** Takes a command of a connection on which another node moves slots here. Returns false for all others. */
  takes(client: Client, command: Command, argv: Bytes[]): boolean;
  /**
   * Returns the error for a request whose keys this node does not serve, such as MOVED; undefined if it may run here.
   * @param writes whether the request may change data
   */
  refusal(client: Client, command: Command, argv: readonly Bytes[], writes: boolean): ReplyError | undefined;
  /**
   * Returns the error for a command of a script.
   * @param caller the client that runs the script
   * @param db the database that the script uses
   * @param crosses whether the script may use keys of several slots
   */
  refusalInScript(
    caller: Client,
    db: Keyspace,
    command: Command,
    argv: readonly Bytes[],
    crosses: boolean,
  ): ReplyError | undefined;
  /** Runs a subcommand of CLUSTER, by its name in small letters. */
  run(client: Client, subcommand: Bytes, argv: readonly Bytes[]): Outcome;
  /** Moves of slots stop before this step, or no longer: the pause of writes at the source, or the takeover by the target. */
  holdMoves(step: 'pause' | 'failover', holds: boolean): void;
  /** Does what requests have made due, at the end of an event. */
  settle(): void;
  /** Returns whether two slots belong to the same node, or both to none. */
  areTogether(slot: number, other: number): boolean;
  /** Sends a message to the other nodes; one of a shard channel to those of the same shard. */
  publish(channel: Bytes, text: Bytes, sharded: boolean): void;
  /** The commands with which the node describes itself to its primary, besides those outside of a cluster. */
  readonly introduction: readonly (readonly Bytes[])[];
  /** Whether the cluster needs the node: it is a primary with slots. */
  readonly isNeeded: boolean;
  /** Tells the replica that has most of the stream to take over, because the node ends. Returns its id, if there is one. */
  passOn(): Bytes | undefined;
  /** The slots that the node serves, as ranges with both ends included. */
  ownSlots(): (readonly [first: number, last: number])[];
  /** How many connections there are to other nodes, in both directions. */
  readonly connections: number;
  /** How many bytes the links to other nodes have not sent yet. */
  readonly linkBytes: number;
  /** Ends the membership: closes every link. */
  stop(): void;
}
