/** The moves of slots in which a node takes part or took part (https://valkey.io/topics/atomic-slot-migration/). */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Client } from '../../server/clients/client.ts';
import type { StreamObserver } from '../../server/ports.ts';
import type { Cluster } from '../cluster.ts';
import type { Member } from '../member.ts';
import { type ExportOwner, SlotExport } from './export.ts';
import { SlotImport } from './import.ts';
import { type Ends, type Move, NAME_LENGTH, overlap, type SlotRange } from './move.ts';
import { SlotRequest } from './request.ts';

/** How many beats pass between two acknowledgements. */
const BEATS_PER_ACK = 10;

/** The moves of a node, the newest first. */
export class SlotMoves implements ExportOwner, StreamObserver {
  readonly cluster: Cluster;
  readonly #enter: (work: () => void) => void;
  #moves: Move[] = [];
  readonly #imports = new WeakMap<Client, SlotImport>();
  #observes = false;
  #pauses = false;
  #beats = 0;

  /** @param enter runs work that a connection causes, as one unit of the node */
  constructor(cluster: Cluster, enter: (work: () => void) => void) {
    this.cluster = cluster;
    this.#enter = enter;
  }

  get all(): readonly Move[] {
    return this.#moves;
  }

  enter(work: () => void): void {
    this.#enter(work);
  }

  get #exports(): SlotExport[] {
    return this.#moves.filter((move) => move instanceof SlotExport && !move.isFinished) as SlotExport[];
  }

  /** The move with which this node gives one of the slots away. */
  exporting(ranges: readonly SlotRange[]): SlotExport | undefined {
    return this.#exports.find((move) => overlap(move.ranges, ranges));
  }

  /** True if this node, or its primary, is taking one of the slots. */
  importing(ranges: readonly SlotRange[]): boolean {
    return this.#moves.some(
      (move) => move instanceof SlotImport && !move.isFinished && overlap(move.ranges, ranges),
    );
  }

  /** True if the slot is moving from this node or to it. */
  isMoving(slot: number): boolean {
    return this.#moves.some((move) => !move.isFinished && move.has(slot));
  }

  /** Begins to move slots to other nodes. */
  export(wanted: readonly { readonly to: Member; readonly ranges: readonly SlotRange[] }[]): void {
    const moves = wanted.map(({ to, ranges }) => new SlotExport(this, to, ranges));
    this.#moves.unshift(...moves);
    this.#follow();
    // The last one begins first, so that the target lists them in the same order.
    for (const move of moves.toReversed()) move.begin();
  }

  /** Takes part in a move to this node, or hears of one to its primary. */
  import(
    client: Client | undefined,
    name: Bytes,
    ranges: readonly SlotRange[],
    ends: Ends | undefined,
  ): void {
    const move = new SlotImport(this.cluster, client, name, ranges, ends);
    if (client !== undefined) this.#imports.set(client, move);
    this.#moves.unshift(move);
    this.#follow();
  }

  /**
   * Asks another node for slots, as CLUSTER MIGRATION IMPORT of Redis does. The source then moves them as if it had been told
   * to. Returns the name of the move.
   */
  request(source: Member, ranges: readonly SlotRange[]): Bytes {
    const { cluster } = this;
    const name = cluster.server.randomHex(NAME_LENGTH);
    const ends = { source: source.id, target: cluster.myself.id };
    const move = new SlotImport(cluster, undefined, name, ranges, ends);
    this.#moves.unshift(move);
    this.#follow();
    this.#ask(move);
    return name;
  }

  #ask(move: SlotImport): void {
    move.become('asking-source', this.cluster.now);
    move.startedAt = this.cluster.now;
    move.request = new SlotRequest(this, move);
  }

  /** Asks once more if the last request has failed, was not answered, or began no move that reached this node. */
  #askAgain(move: SlotImport): void {
    if (move.request?.isUnderway !== false) return;
    if (move.state === 'waiting-to-ask') move.retries++;
    move.request.end();
    this.#ask(move);
  }

  /** Begins a move for which another node has asked. It takes the place of one of the same name that has failed. */
  answer(name: Bytes, to: Member, ranges: readonly SlotRange[]): void {
    const failed = this.named(name);
    const move = new SlotExport(this, to, ranges, name);
    move.retries = failed === undefined ? 0 : failed.retries + 1;
    this.#moves = [move, ...this.#moves.filter((other) => other !== failed)];
    this.#follow();
    move.begin();
  }

  /** Takes the client as the source of a move. Returns false if this node has not asked for a move of that name. */
  join(client: Client, name: Bytes): boolean {
    const move = this.named(name);
    if (!(move instanceof SlotImport) || !move.isAsking) return false;
    move.join(client);
    this.#imports.set(client, move);
    return true;
  }

  /** Gives up moves in both directions. Returns how many there were. */
  giveUp(chosen: (move: Move) => boolean): number {
    const moves = this.#moves.filter((move) => !move.isFinished && chosen(move));
    for (const move of moves) move.cancel('user request');
    this.#follow();
    return moves.length;
  }

  /** The move to this node whose source is connected through a client. */
  importOf(client: Client): SlotImport | undefined {
    const move = this.#imports.get(client);
    return move?.isFinished === false ? move : undefined;
  }

  named(name: Bytes): Move | undefined {
    return this.#moves.find((move) => move.name === name);
  }

  /** Gives up the moves from this node. Returns false if there are none. */
  cancel(): boolean {
    const moves = this.#exports;
    for (const move of moves) move.finish('cancelled');
    this.#follow();
    return moves.length > 0;
  }

  effects(effects: Parameters<NonNullable<StreamObserver['effects']>>[0]): void {
    if (effects.some(({ argv }) => /^flush(all|db)$/i.test(argv[0] ?? ''))) {
      for (const move of this.#moves) if (!move.isFinished) move.finish('failed', 'Data was flushed');
    }
    for (const move of this.#exports) if (move.streams) move.feed(effects);
  }

  /** Holds writes back as long as a move needs it. */
  followPauses(): void {
    const pauses = this.#exports.some(({ pausedUntil }) => pausedUntil > 0);
    if (pauses === this.#pauses) return;
    this.#pauses = pauses;
    this.cluster.server.pausing.holdWritesForMove(pauses);
  }

  /** Called at the end of an event: the slots may have another owner now. */
  review(): void {
    if (!this.#observes) return;
    for (const move of this.#moves) if (!move.isFinished) move.review();
    this.#follow();
  }

  /** Called ten times a second. */
  beat(): void {
    if (!this.#observes) return;
    const { now, server } = this.cluster;
    const limit = 1000 * server.settings['repl-timeout'];
    const acknowledges = ++this.#beats % BEATS_PER_ACK === 0;
    for (const move of this.#moves) {
      if (move.isFinished || move.state === 'occurring-on-primary') continue;
      if (move instanceof SlotImport && move.isAsking) {
        if (acknowledges) this.#askAgain(move);
        continue;
      }
      if (move.state === 'waiting-to-pause') (move as SlotExport).pause();
      if (move instanceof SlotImport && move.state === 'failover-granted') move.takeOver();
      if (move.state !== 'failover-granted' && now - move.heardAt > limit) {
        move.finish('failed', 'Timed out after too long with no interaction');
      } else if (acknowledges) move.acknowledge();
    }
    const most = server.settings['cluster-slot-migration-log-max-len'];
    for (let at = this.#moves.length - 1; at >= 0 && this.#moves.length > most; at--) {
      if (this.#moves[at]?.isFinished === true) this.#moves.splice(at, 1);
    }
    this.review();
  }

  /** Ends all connections. */
  stop(): void {
    for (const move of this.#exports) move.finish('cancelled');
    for (const move of this.#moves) if (move instanceof SlotImport) move.request?.end();
  }

  /** Watches the stream of effects while there is a move. */
  #follow(): void {
    const active = this.#moves.some((move) => !move.isFinished);
    if (active === this.#observes) return;
    this.#observes = active;
    const { replication } = this.cluster.server;
    if (active) replication.observe(this);
    else replication.unobserve(this);
  }
}
