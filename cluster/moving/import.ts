/**
 * The target's side of a move of slots. It keeps the commands that the source sends, and runs them when it takes the slots
 * over: until then no client of this node sees any of the keys, as on a real server, and a move that fails leaves none.
 */
import type { Bytes } from '../../protocol/bytes.ts';
import { encodeRequest } from '../../protocol/encode.ts';
import { Client, PRIMARY_LINK, REPLY_OFF } from '../../server/clients/client.ts';
import type { Server } from '../../server/server.ts';
import type { Cluster } from '../cluster.ts';
import { bumpEpoch } from '../commands/members.ts';
import { announce } from '../gossip.ts';
import { type Ends, Move, type SlotRange } from './move.ts';
import type { SlotRequest } from './request.ts';

const LOST =
  'Connection lost to source. Check CLUSTER GETSLOTMIGRATIONS on the source node for more information.';
const UNEXPECTED = 'Unexpected state machine transition';

/** A move of slots to this node; at a replica, one to its primary. */
export class SlotImport extends Move {
  readonly operation = 'IMPORT';
  readonly #cluster: Cluster;
  /** The connection that the source has made; undefined at a replica. */
  #client: Client | undefined;
  /** The last request for the slots, if this node asks for them. */
  request: SlotRequest | undefined;
  #kept: Bytes[][] = [];

  constructor(
    cluster: Cluster,
    client: Client | undefined,
    name: Bytes,
    ranges: readonly SlotRange[],
    ends: Ends | undefined,
  ) {
    super(name, ranges, ends, client === undefined ? 'occurring-on-primary' : 'waiting-for-ack', cluster.now);
    this.#cluster = cluster;
    this.#client = client;
  }

  /** The source has answered the request for the slots, and has connected through this client. */
  join(client: Client): void {
    this.request?.end();
    this.#client = client;
    this.become('waiting-for-ack', this.#cluster.now);
  }

  /** True while the source has not connected to this node, which asks it again and again. */
  get isAsking(): boolean {
    return this.state === 'asking-source' || this.state === 'waiting-to-ask';
  }

  /** Keeps a command of the source until the slots are taken over. */
  keep(argv: Bytes[]): void {
    this.#kept.push(argv);
  }

  /** The source has said something, in small letters. */
  told(word: 'ack' | 'snapshot-eof' | 'paused' | 'failover-granted'): void {
    const { now } = this.#cluster;
    this.heardAt = now;
    if (word === 'ack') {
      if (this.state === 'waiting-for-ack') this.become('receiving-snapshot', now);
    } else if (word === 'snapshot-eof' && this.state === 'receiving-snapshot') {
      this.#say('REQUEST-PAUSE');
      this.become('waiting-for-paused', now);
    } else if (word === 'paused' && this.state === 'waiting-for-paused') {
      this.#say('REQUEST-FAILOVER');
      this.become('failover-requested', now);
    } else if (word === 'failover-granted' && this.state === 'failover-requested') {
      this.become('failover-granted', now);
      this.takeOver();
    } else this.finish('failed', UNEXPECTED);
  }

  acknowledge(): void {
    if (!this.isFinished && this.state !== 'waiting-for-ack') this.#say('ACK');
  }

  /** Checks which node serves the slots now, and whether the source is still there. */
  review(): void {
    const { myself } = this.#cluster;
    if (this.isAsking) {
      this.#reviewRequest();
      return;
    }
    // A replica has become a primary, or a primary a replica.
    if (myself.isReplica !== (this.state === 'occurring-on-primary')) {
      this.finish('failed', 'A failover occurred during slot import');
      return;
    }
    if (this.#client === undefined) return;
    if (this.#client.gone) {
      this.finish('failed', LOST);
      return;
    }
    const ids = this.#owners();
    if (ids.size === 1 && ids.has(this.ends?.source)) return;
    const isMine = ids.size === 1 && ids.has(myself.id);
    this.finish(
      'failed',
      isMine
        ? 'Slots were unexpectedly assigned to myself during import'
        : 'Slots are no longer owned by source node',
    );
  }

  /** Asks the node that serves the slots now, if one does, and if this node can still have them. */
  #reviewRequest(): void {
    const { myself } = this.#cluster;
    const ids = this.#owners();
    const [source] = ids;
    if (myself.isReplica) this.cancel('switching to replica');
    else if (ids.size > 1 || source === undefined) this.cancel('slots configuration updated');
    else if (source === myself.id) this.cancel('slots owned by myself');
    else if (source !== this.ends?.source) this.ends = { source, target: myself.id };
  }

  /** The ids of the nodes that serve the slots now. */
  #owners(): ReadonlySet<Bytes | undefined> {
    const { owners } = this.#cluster;
    return new Set([...this.slots()].map((slot) => owners[slot]?.id));
  }

  finish(state: 'success' | 'cancelled' | 'failed', message: Bytes = ''): void {
    this.message = message;
    this.#kept = [];
    this.become(state, this.#cluster.now);
    this.request?.end();
    this.#client?.close();
    const { myself, server } = this.#cluster;
    // The replicas of a node that has become a replica hear it from their new primary.
    if (myself.isReplica || server.dialect.cluster.movesSlots !== 'from the source') return;
    const words = ['STATE', state === 'success' ? 'SUCCESS' : 'FAILED', 'NAME', this.name];
    if (message !== '') words.push('MESSAGE', message);
    server.effects.propagateOwn(server.db(0), ['CLUSTER', 'SYNCSLOTS', 'FINISH', ...words]);
  }

  #say(word: Bytes): void {
    this.#client?.output.write(encodeRequest(['CLUSTER', 'SYNCSLOTS', word]));
  }

  /** Runs what was kept, and takes the slots, unless DEBUG SLOTMIGRATION holds it back. */
  takeOver(): void {
    const cluster = this.#cluster;
    if (cluster.heldMoves.failover) return;
    run(cluster.server, this.#kept);
    bumpEpoch(cluster);
    for (const slot of this.slots()) {
      cluster.release(slot);
      cluster.assign(slot, cluster.myself);
    }
    cluster.due.state = true;
    cluster.due.store = true;
    cluster.note('slots', `Slots moved here in epoch ${cluster.myself.configEpoch}`);
    this.finish('success');
    announce(cluster);
  }
}

/** Runs commands as those of a primary are run: without replies, and whatever the node would refuse to clients. */
function run(server: Server, commands: readonly Bytes[][]): void {
  const client = new Client(server, server.connections.nextId(), undefined);
  client.mark(PRIMARY_LINK | REPLY_OFF, true);
  for (const argv of commands) server.execute(client, argv);
}
