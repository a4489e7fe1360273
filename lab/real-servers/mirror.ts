/**
 * What a real server has, as far as the lab can know: a server of ours in memory that is fed with the replication
 * stream that passes through the lab's links.
 */
import { asciiLower, type Bytes, type Millis, parseSafeInteger, toBuffer } from '../../protocol/bytes.ts';
import { RequestDecoder } from '../../protocol/decode.ts';
import { Client, PRIMARY_LINK } from '../../server/clients/client.ts';
import { loadSnapshot } from '../../server/data/snapshot.ts';
import type { DialectName } from '../../server/dialects/index.ts';
import { nodeClock, nodeHost } from '../../server/host/node.ts';
import { createNode } from '../../server/index.ts';
import type { Effect } from '../../server/ports.ts';
import { ReplicaSide } from '../../server/replication/replica.ts';
import type { Server } from '../../server/server.ts';
import { VirtualDisk } from '../replica-group/disk.ts';
import { NOBODY, type Origin, WriteLog } from '../replica-group/write-log.ts';
import type { StreamReceiver } from './sync-reader.ts';

/** Finds out which client caused the writes of one unit of the stream. */
export type Attribution = (effects: readonly Effect[]) => Origin;

/** Where bytes of the stream were seen: as a primary's own output, or as a replica's input. */
export type Seen = 'as primary' | 'as replica';

/** One server's data, replication id, offset and log of writes. */
export class Mirror {
  readonly server: Server;
  readonly log = new WriteLog();
  readonly #attribute: Attribution;
  #client: Client<Server>;
  #decoder: RequestDecoder;
  /** The offset of the last byte received; the server's own offset ends with the last complete command. */
  #received = 0;
  #pending: Effect[] = [];
  /** Those of the pending effects by which the server removes keys and fields that have expired. */
  readonly #expired = new WeakSet<Effect>();

  /** Called when a dataset replaces what the stream would have told. */
  onDataset: () => void = () => {};

  /** @param dialect the server that wrote the stream */
  constructor(dialect: DialectName, attribute: Attribution) {
    this.#attribute = attribute;
    this.server = createNode(
      { ...nodeHost(), disk: new VirtualDisk(), connect: () => {} },
      { dialect, strict: false },
    );
    // It never connects. As a replica the server leaves it to the stream to remove keys.
    this.server.primary = new ReplicaSide(this.server, 'mirror', 0);
    this.server.expiry.follow();
    this.log.watch(this.server);
    this.#client = this.#newClient();
    this.#decoder = newDecoder();
  }

  #newClient(): Client<Server> {
    const client = new Client<Server>(this.server, 0, undefined);
    client.mark(PRIMARY_LINK, true);
    return client;
  }

  /** The offset behind the last complete command. */
  get offset(): number {
    return this.server.replication.offset;
  }

  /** The id of the history. */
  get id(): Bytes {
    return this.server.replication.id;
  }

  /** The offset of the last byte that has arrived. */
  get received(): number {
    return this.#received;
  }

  /** Receives what was seen on a connection. */
  receiver(seen: Seen): StreamReceiver {
    return {
      dataset: (id, offset, rdb) => this.#load(seen, id, offset, rdb),
      continues: (id, offset) => this.#continue(seen, id, offset),
      stream: (from, bytes) => this.#take(seen, from, bytes),
    };
  }

  /** The node was promoted: its history goes on under another id. */
  promoted(id: Bytes): void {
    if (id === this.id) return;
    this.#forgetPart();
    this.server.replication.rename(id);
  }

  #load(seen: Seen, id: Bytes, offset: number, rdb: Bytes): void {
    // Each replica gets a dataset of its own. The first one is enough to follow the primary.
    if (seen === 'as primary' && id === this.id && this.#received >= offset) return;
    const { server, log } = this;
    // Of its own history a primary forgets nothing. Only what it has sent since the mirror lost sight of it is not told.
    const before = new WriteLog();
    if (seen === 'as primary') {
      this.onDataset();
      if (id === this.id) before.inherit(log, this.offset);
    }
    this.#client = this.#newClient();
    this.#received = offset;
    this.#decoder = newDecoder();
    this.#pending = [];
    const db = server.unit(() => loadSnapshot(server, rdb));
    this.#client.db = server.db(db < server.databaseCount ? db : 0);
    server.replication.adopt(id, offset);
    log.inherit(before, offset);
  }

  #continue(seen: Seen, id: Bytes | undefined, offset: number): void {
    if (id !== undefined && id !== this.id) this.promoted(id);
    else if (seen === 'as replica' && offset > this.#received) this.#received = offset;
  }

  /** A command that had arrived in part is not part of the next history. */
  #forgetPart(): void {
    this.#received = this.offset;
    this.#decoder = newDecoder();
    this.#pending = [];
    if (this.#client.transaction !== undefined) this.#client.discard();
  }

  #take(seen: Seen, from: number, bytes: Bytes): void {
    const known = this.#received - from;
    // A gap is filled when the node is asked for what is missing.
    if (known < 0 || known >= bytes.length) return;
    const fresh = bytes.slice(known);
    this.#received += fresh.length;
    this.#decoder.write(toBuffer(fresh));
    this.server.vocabulary.withEvery(() => this.#apply(seen));
    this.server.settle();
  }

  #apply(seen: Seen): void {
    const { server } = this;
    server.world.expiryPolicy = 'keep';
    for (let argv = this.#decoder.next(); argv !== undefined; argv = this.#decoder.next()) {
      const name = asciiLower(argv[0] ?? '');
      if (name !== 'multi' && name !== 'exec') this.#await({ db: this.#dbOf(name, argv), argv });
      server.execute(this.#client, argv);
      if (this.#client.transaction !== undefined) continue;
      server.replication.offset = this.#received - this.#decoder.buffered;
      const effects = this.#pending;
      this.#pending = [];
      if (seen === 'as primary') this.#note(effects);
    }
    server.expiry.follow();
  }

  #await(effect: Effect): void {
    this.#pending.push(effect);
    const [name = '', key, ...fields] = effect.argv;
    const { server } = this;
    const db = effect.db < server.databaseCount ? server.db(effect.db) : undefined;
    const entry = key === undefined ? undefined : db?.entries.get(key);
    if (db === undefined || entry === undefined) return;
    const isOver = (deadline: Millis | undefined): boolean =>
      deadline !== undefined && deadline < nodeClock.now();
    const verb = asciiLower(name);
    const { held } = entry;
    if (verb === 'del' || verb === 'unlink') {
      if (isOver(db.expiresAt(entry))) this.#expired.add(effect);
    } else if (verb === 'hdel' && typeof held === 'object' && held.type === 'hash') {
      if (fields.every((field) => isOver(held.times?.endOf(field)))) this.#expired.add(effect);
    }
  }

  /** Logs the writes of one unit. What the server removes because it has expired, no client has written. */
  #note(effects: readonly Effect[]): void {
    const { server, log } = this;
    const asked = effects.filter((effect) => !this.#expired.has(effect));
    const byItself = effects.filter((effect) => this.#expired.has(effect));
    if (byItself.length > 0) log.note(server, byItself, NOBODY);
    if (asked.length > 0) log.note(server, asked, this.#attribute(asked));
  }

  /** The database in which a command of the stream runs. A SELECT in a transaction takes effect at its end. */
  #dbOf(name: Bytes, argv: readonly Bytes[]): number {
    if (name === 'select') return parseSafeInteger(argv[1] ?? '') ?? 0;
    return this.#pending.at(-1)?.db ?? this.#client.db.index;
  }
}

function newDecoder(): RequestDecoder {
  return new RequestDecoder({ maxBulk: Number.MAX_SAFE_INTEGER, authenticated: true });
}
