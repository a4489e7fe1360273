/** The source's side of a move of slots: it sends the keys, then every change, and hands the slots over. */
import { asciiLower, type Bytes, fromBuffer, type Millis } from '../../protocol/bytes.ts';
import { RequestDecoder } from '../../protocol/decode.ts';
import { encodeRequest } from '../../protocol/encode.ts';
import { ReplyError } from '../../protocol/reply.ts';
import { slotOf } from '../../protocol/slot.ts';
import { creating } from '../../server/aof/dataset-commands.ts';
import type { Connection, PendingConnection, Receiver } from '../../server/host/host.ts';
import type { Effect } from '../../server/ports.ts';
import { dial } from '../../server/replication/dial.ts';
import { findKeys } from '../../server/table/info.ts';
import { resolve, step } from '../../server/table/resolve.ts';
import type { Cluster } from '../cluster.ts';
import type { Member } from '../member.ts';
import { replicationPort } from '../ports.ts';
import { Move, NAME_LENGTH, type SlotRange } from './move.ts';

/** How long writes wait at least once the target may take the slots over, in milliseconds. */
const PROPAGATION: Millis = 2000;

const LOST =
  'Connection lost to target. Check CLUSTER GETSLOTMIGRATIONS on the target node for more information.';
const UNEXPECTED = 'Unexpected state machine transition';

/** What an export needs from its node. */
export interface ExportOwner {
  readonly cluster: Cluster;
  /** Runs work that a connection causes, as one unit of the node. */
  enter(work: () => void): void;
  /** A move has begun or ended to hold writes back. */
  followPauses(): void;
}

/** A move of slots from this node to another. */
export class SlotExport extends Move implements Receiver {
  readonly operation = 'EXPORT';
  /** Until when writes wait for the move; 0 while they do not. */
  pausedUntil: Millis = 0;
  readonly #owner: ExportOwner;
  #attempt: PendingConnection | undefined;
  #connection: Connection | undefined;
  #input: Bytes = '';
  #decoder: RequestDecoder | undefined;
  #selected = -1;
  #pausedAt: Millis = 0;

  /** @param name its name; by default a random one */
  constructor(owner: ExportOwner, target: Member, ranges: readonly SlotRange[], name?: Bytes) {
    const { cluster } = owner;
    const ends = { source: cluster.myself.id, target: target.id };
    super(name ?? cluster.server.randomHex(NAME_LENGTH), ranges, ends, 'connecting', cluster.now);
    this.#owner = owner;
  }

  override get pending(): number {
    return this.#connection?.pending ?? 0;
  }

  /** True while changes of the slots are sent to the target. */
  get streams(): boolean {
    return this.#decoder !== undefined && !this.isFinished;
  }

  /** Connects to the target. */
  begin(): void {
    const { cluster } = this.#owner;
    const { host, server } = cluster;
    const target = cluster.members.get(this.ends?.target ?? '');
    if (target === undefined) {
      this.#fail('Unable to connect to target node: target node not found');
      return;
    }
    const to = { host: target.ip, port: replicationPort(server, target) };
    this.#attempt = dial(host, server.settings['tls-replication'], to, this, (connection) => {
      if (this.isFinished) return connection.abort();
      this.#connection = connection;
      this.#owner.enter(() => this.#greet());
    });
  }

  receive(chunk: Uint8Array): void {
    if (this.isFinished) return;
    this.#owner.enter(() => {
      if (this.#decoder !== undefined) this.#decoder.write(chunk);
      else this.#answered(fromBuffer(chunk));
      while (!this.isFinished) {
        const argv = this.#decoder?.next();
        if (argv === undefined) break;
        this.#told(argv);
      }
    });
  }

  closed(): void {
    if (this.isFinished) return;
    this.#owner.enter(() => {
      if (this.#connection === undefined) {
        this.#fail('Unable to connect to target node: Connection refused');
        // Once the target may have taken the slots over, only its word about them counts.
      } else if (this.state !== 'failover-granted') this.#fail(LOST);
    });
  }

  finish(state: 'success' | 'cancelled' | 'failed', message: Bytes = ''): void {
    this.message = message;
    if (this.pausedUntil > 0) this.paused = this.#owner.cluster.now - this.#pausedAt;
    this.pausedUntil = 0;
    this.become(state, this.#owner.cluster.now);
    this.#attempt?.cancel();
    this.#connection?.close();
    this.#owner.followPauses();
  }

  acknowledge(): void {
    if (this.streams && this.state !== 'failover-granted') this.#say('ACK');
  }

  /** Sends those effects of a unit that are about the slots. */
  feed(effects: readonly Effect[]): void {
    for (const { db, argv } of effects) if (this.#concerns(argv)) this.#send(db, argv);
  }

  /** Checks which node serves the slots now, and whether the pause has lasted too long. */
  review(): void {
    const { cluster } = this.#owner;
    const owners = new Set([...this.slots()].map((slot) => cluster.owners[slot]?.id));
    const [owner] = owners;
    const isShared = owners.size > 1;
    if (!isShared && owner === this.ends?.target) {
      this.finish('success');
      return;
    }
    if (isShared || owner !== cluster.myself.id) {
      this.#fail('Slots are no longer owned by myself');
      return;
    }
    if (this.pausedUntil === 0 || cluster.now <= this.pausedUntil) return;
    this.#fail(
      this.state === 'failover-granted'
        ? 'Unpaused before migration completed (migration may have succeeded with lost writes)'
        : 'Timed out before streaming completed',
    );
  }

  #fail(message: Bytes): void {
    this.finish('failed', message);
  }

  /** Returns whether a command has keys of the slots, which this node still serves. */
  #concerns(argv: readonly Bytes[]): boolean {
    const { owners, myself, server } = this.#owner.cluster;
    const named = resolve(server, argv, true);
    if (named instanceof ReplyError) return false;
    const [first] = findKeys(step(named, argv) ?? named, argv) ?? [];
    if (first === undefined) return false;
    const slot = slotOf(argv[first.at] ?? '');
    return this.has(slot) && owners[slot] === myself;
  }

  #send(db: number, argv: readonly Bytes[]): void {
    if (db !== this.#selected) this.#connection?.send(encodeRequest(['SELECT', String(db)]));
    this.#selected = db;
    this.#connection?.send(encodeRequest(argv));
  }

  #say(word: Bytes): void {
    this.#connection?.send(encodeRequest(['CLUSTER', 'SYNCSLOTS', word]));
  }

  /** The connection is established. */
  #greet(): void {
    const { server } = this.#owner.cluster;
    const { masterauth: password, masteruser: user } = server.settings;
    if (password === '') {
      this.#establish();
      return;
    }
    this.become('reading-auth-response', this.#owner.cluster.now);
    this.#connection?.send(encodeRequest(['AUTH', ...(user === '' ? [] : [user]), password]));
  }

  #establish(): void {
    const { name, ends, ranges } = this;
    const slots = ranges.flat().map(String);
    const words = ['SOURCE', ends?.source ?? '', 'NAME', name, 'SLOTSRANGE', ...slots];
    this.become('reading-establish-response', this.#owner.cluster.now);
    this.#connection?.send(encodeRequest(['CLUSTER', 'SYNCSLOTS', 'ESTABLISH', ...words]));
  }

  /** Bytes of a reply to AUTH or ESTABLISH have come. */
  #answered(text: Bytes): void {
    this.#input += text;
    const end = this.#input.indexOf('\r\n');
    if (end < 0) return;
    const line = this.#input.slice(0, end);
    this.#input = this.#input.slice(end + 2);
    const isRefusal = line.startsWith('-');
    if (this.state === 'reading-auth-response') {
      if (isRefusal) this.#fail(`Failed to AUTH to target node: ${line}`);
      else this.#establish();
    } else if (isRefusal) this.#fail(`Received error during handshake to target: ${line}\r\n`);
    else this.#start();
  }

  /** The target takes part: it is sent all keys, and from now on all changes. */
  #start(): void {
    const { cluster } = this.#owner;
    const { server } = cluster;
    this.#decoder = new RequestDecoder(server.decodeLimits());
    this.#say('ACK');
    this.become('snapshotting', cluster.now);
    for (const db of server.databases) {
      for (const slot of this.slots()) {
        for (const key of db.entries.keysOfSlot(slot)) {
          const entry = db.peek(key);
          if (entry === undefined) continue;
          for (const argv of creating(key, entry.read(), server)) this.#send(db.index, argv);
          const expiresAt = db.expiresAt(entry);
          if (expiresAt !== undefined) this.#send(db.index, ['PEXPIREAT', key, String(expiresAt)]);
        }
      }
    }
    this.#say('SNAPSHOT-EOF');
    this.become('replicating', cluster.now);
  }

  /** The target has said something. */
  #told(argv: readonly Bytes[]): void {
    const { cluster } = this.#owner;
    const word = asciiLower(argv[2] ?? '');
    this.heardAt = cluster.now;
    if (word === 'ack') return;
    if (word === 'request-pause' && this.state === 'replicating') this.pause();
    else if (word === 'request-failover' && this.state === 'failover-paused') this.#grant();
    else this.#fail(word.startsWith('request-') ? UNEXPECTED : 'Unknown SYNCSLOTS subcommand used');
  }

  /** Holds writes back, once the target has almost everything. */
  pause(): void {
    const { cluster } = this.#owner;
    const most = cluster.server.settings['slot-migration-max-failover-repl-bytes'];
    if (cluster.heldMoves.pause || (most >= 0 && this.pending > most)) {
      if (this.state !== 'waiting-to-pause') this.become('waiting-to-pause', cluster.now);
      return;
    }
    this.pausedUntil = cluster.now + 2 * cluster.server.settings['cluster-manual-failover-timeout'];
    this.#pausedAt = cluster.now;
    this.#say('PAUSED');
    this.become('failover-paused', cluster.now);
    this.#owner.followPauses();
  }

  #grant(): void {
    const { now } = this.#owner.cluster;
    if (this.pausedUntil < now) {
      this.#fail('Unpaused before failover completed');
      return;
    }
    this.pausedUntil = Math.max(this.pausedUntil, now + PROPAGATION);
    this.#say('FAILOVER-GRANTED');
    this.become('failover-granted', now);
  }
}
