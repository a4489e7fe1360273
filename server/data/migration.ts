/**
 * MIGRATE: the connection that sends keys to another server, and the requests that wait for it
 * (https://redis.io/docs/latest/commands/migrate/).
 */
import type { Keyspace } from '../../keyspace/keyspace.ts';
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { fromBuffer } from '../../protocol/bytes.ts';
import { encodeRequest } from '../../protocol/encode.ts';
import { OK, type Reply, ReplyError } from '../../protocol/reply.ts';
import type { Blocking } from '../clients/blocking.ts';
import { type Client, IN_MULTI, PRIMARY_LINK, REPLICA_LINK } from '../clients/client.ts';
import { PostponedRequests } from '../clients/postponed.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { GATE_MIGRATING } from '../gates.ts';
import type { Connection, PendingConnection, Receiver, Timer } from '../host/host.ts';
import type { Gated, HasHost, Requests, Stream, Units } from '../ports.ts';
import { dial } from '../replication/dial.ts';
import type { SlowScript } from '../scripts/slow-script.ts';
import type { Settings } from '../settings/settings.ts';
import { type Command, WRITE } from '../table/command.ts';
import { findKeys } from '../table/info.ts';
import { BLOCKED, type Outcome, PAUSED } from '../table/outcome.ts';

/** The arguments of MIGRATE. */
export interface Shipment {
  readonly host: Bytes;
  /** undefined if the argument is not a valid port. */
  readonly port: number | undefined;
  /** AUTH and SELECT. The target answers one line to each. */
  readonly preface: readonly (readonly Bytes[])[];
  /** The keys, and the RESTORE of each. */
  readonly keys: readonly Bytes[];
  readonly restores: readonly (readonly Bytes[])[];
  /** How long each answer may take, in milliseconds. */
  readonly timeout: Millis;
  /** True if the keys stay on this node as well. */
  readonly copy: boolean;
}

const ROLE_CHANGED =
  'UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)';

function ioError(
  what: 'connecting to the client' | 'writing to target instance' | 'reading to target instance',
) {
  return new ReplyError(`IOERR error or timeout ${what}`);
}

/** The node, as one MIGRATE sees it. */
interface MigratingHost extends HasHost {
  readonly settings: Settings;
}

/** One MIGRATE: it connects, sends everything at once, and reads one line for each command. */
class Migration implements Receiver {
  readonly shipment: Shipment;
  /** The keys that the target has stored. */
  readonly taken: Bytes[] = [];
  readonly #server: MigratingHost;
  readonly #ended: (reply: Reply) => void;
  #attempt: PendingConnection | undefined;
  #connection: Connection | undefined;
  #timer: Timer | undefined;
  #input: Bytes = '';
  #lines = 0;
  #refusal: ReplyError | undefined;
  /**
   * AUTH or SELECT was refused. A key that the target stores nevertheless may be in the wrong database, so it is kept
   * here.
   */
  #misled = false;
  #over = false;

  constructor(server: MigratingHost, shipment: Shipment, ended: (reply: Reply) => void) {
    this.#server = server;
    this.shipment = shipment;
    this.#ended = ended;
  }

  begin(): void {
    const { host, port, preface, restores } = this.shipment;
    this.#arm();
    if (port === undefined) {
      this.#server.host.clock.soon(() => this.#end(ioError('connecting to the client')));
      return;
    }
    const { host: own, settings } = this.#server;
    this.#attempt = dial(own, settings['tls-cluster'], { host, port }, this, (connection) => {
      if (this.#over) return connection.abort();
      this.#connection = connection;
      this.#arm();
      connection.send([...preface, ...restores].map(encodeRequest).join(''));
    });
  }

  receive(chunk: Uint8Array): void {
    if (this.#over) return;
    this.#input += fromBuffer(chunk);
    for (let end = this.#input.indexOf('\n'); end >= 0 && !this.#over; end = this.#input.indexOf('\n')) {
      const line = this.#input.slice(0, end).replace(/\r$/, '');
      this.#input = this.#input.slice(end + 1);
      this.#answered(line);
    }
  }

  closed(): void {
    // Redis does not wait for a connection, but for the handshake of TLS.
    const withTls = this.#server.settings['tls-cluster'];
    const failed = withTls ? 'connecting to the client' : 'writing to target instance';
    this.#end(ioError(this.#connection === undefined ? failed : 'reading to target instance'));
  }

  /** Closes the connection without answering anyone. */
  abandon(): void {
    this.#over = true;
    this.#timer?.cancel();
    this.#attempt?.cancel();
    this.#connection?.abort();
  }

  #answered(line: Bytes): void {
    const { preface, keys } = this.shipment;
    const at = this.#lines++ - preface.length;
    const key = keys[at];
    if (line.startsWith('-')) {
      this.#refusal ??= new ReplyError(`ERR Target instance replied with error: ${line.slice(1)}`);
      if (at < 0) this.#misled = true;
    } else if (key !== undefined && !this.#misled) this.taken.push(key);
    if (at === keys.length - 1) this.#end(OK);
    else this.#arm();
  }

  #arm(): void {
    const { clock } = this.#server.host;
    this.#timer?.cancel();
    this.#timer = clock.at(clock.now() + this.shipment.timeout, () =>
      this.#end(
        ioError(this.#connection === undefined ? 'connecting to the client' : 'reading to target instance'),
      ),
    );
  }

  #end(reply: Reply): void {
    if (this.#over) return;
    this.#over = true;
    this.#timer?.cancel();
    this.#attempt?.cancel();
    this.#connection?.close();
    this.#ended(this.#refusal ?? reply);
  }
}

/** The node, as MIGRATE sees it. */
interface MigratingNode extends Gated, MigratingHost, Requests, Stream, Units {
  readonly blocking: Pick<Blocking, 'block' | 'forget' | 'release'>;
  readonly slowScript: Pick<SlowScript, 'hold'>;
  readonly dialect: Pick<Dialect, 'waitsFor'>;
  readonly replication: { readonly offset: number };
  readOnlyReplica(): boolean;
}

/**
 * The MIGRATEs in progress. Redis blocks while it sends. Here only the calling client waits, and every request that
 * could see or change one of the keys. In a transaction all requests wait, because the transaction is one unit.
 */
export class Migrations {
  readonly #server: MigratingNode;
  readonly #underway = new Set<Migration>();
  /** Requests that wait for a key that is being sent. */
  readonly #postponed: PostponedRequests;

  constructor(server: MigratingNode) {
    this.#server = server;
    this.#postponed = new PostponedRequests(server);
  }

  /** Sends the keys. The client is answered when the target has answered. */
  start(client: Client, shipment: Shipment): Outcome {
    const server = this.#server;
    const { dialect, replication } = server;
    const { db } = client;
    if (client.has(IN_MULTI)) {
      const conclude = server.slowScript.hold(client);
      this.#begin(shipment, (migration, reply) => {
        const moved = this.#remove(db, migration);
        if (moved.length > 0) server.effects.propagateAs(['DEL', ...moved]);
        conclude(reply);
      });
      return PAUSED;
    }
    server.blocking.block(client, { kind: 'migrate', timeout: 0, timeoutReply: null });
    this.#begin(shipment, (migration, reply) => {
      const before = server.unit(() => {
        const moved = this.#remove(db, migration);
        if (moved.length > 0) server.effects.propagateAlso(db, ['DEL', ...moved]);
        return replication.offset;
      }, client);
      const { offset } = replication;
      if (offset !== before || dialect.waitsFor === 'its last command') client.writeOffset = offset;
      if (client.blocked?.kind === 'migrate') {
        server.blocking.release(client, server.readOnlyReplica() ? new ReplyError(ROLE_CHANGED) : reply);
      }
      this.#postponed.run();
    });
    server.gate(GATE_MIGRATING, true);
    return BLOCKED;
  }

  /** Returns whether the request could see or change a key that is being sent. */
  holds(client: Client, command: Command, argv: readonly Bytes[]): boolean {
    if (client.has(PRIMARY_LINK | REPLICA_LINK)) return false;
    if (!client.has(IN_MULTI)) return this.#touches(command, argv);
    const queue = command.name === 'exec' ? (client.transaction?.queue ?? []) : [];
    return queue.some((queued) => this.#touches(queued.command, queued.argv));
  }

  /** Postpones a request until a migration has ended. */
  postpone(client: Client, argv: Bytes[]): void {
    this.#postponed.keep(client, argv);
  }

  /** Called when the node stops: the keys stay, and no client is answered. */
  stop(): void {
    for (const migration of this.#underway) migration.abandon();
    this.#underway.clear();
  }

  #begin(shipment: Shipment, ended: (migration: Migration, reply: Reply) => void): void {
    const server = this.#server;
    const migration = new Migration(server, shipment, (reply) => {
      this.#underway.delete(migration);
      if (this.#underway.size === 0) server.gate(GATE_MIGRATING, false);
      ended(migration, reply);
      server.settle();
    });
    this.#underway.add(migration);
    migration.begin();
  }

  /** Removes the keys that the target has stored. A node that has become a replica leaves that to its primary. */
  #remove(db: Keyspace, { shipment, taken }: Migration): Bytes[] {
    if (shipment.copy || this.#server.readOnlyReplica()) return [];
    for (const key of taken) if (db.remove(key)) db.changed(key, 'del');
    return taken;
  }

  #touches(command: Command, argv: readonly Bytes[]): boolean {
    const { spec, bits, group } = command;
    const hasKeys = (spec.keys ?? []).length > 0;
    // A script may use keys that it does not declare; commands such as FLUSHALL affect all keys.
    if (group === 'scripting') return hasKeys;
    if (!hasKeys) return (bits & WRITE) !== 0;
    const named = new Set((findKeys(command, argv) ?? []).map(({ at }) => argv[at]));
    return [...this.#underway].some(({ shipment }) => shipment.keys.some((key) => named.has(key)));
  }
}
