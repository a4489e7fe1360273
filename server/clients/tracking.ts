/** Client-side caching: remembers which connections have read which keys, and sends them invalidation messages. */

import type { Bytes } from '../../protocol/bytes.ts';
import { encodeReply } from '../../protocol/encode.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { HasClients, HasSettings } from '../ports.ts';
import { wordAt } from '../table/arguments.ts';
import type { Command } from '../table/command.ts';
import { findKeys } from '../table/info.ts';
import { type Client, SCRIPT, TRACKING } from './client.ts';
import { PushMessage } from './message.ts';

/** The channel on which RESP2 connections receive invalidation messages. */
const CHANNEL = '__redis__:invalidate';

/** The tracking options of one connection. */
export interface TrackingMode {
  /** The id of the connection that receives the messages; 0: this connection. */
  readonly redirect: number;
  /** The connection is notified of every changed key with one of the prefixes, even of keys that it has not read. */
  readonly broadcast: boolean;
  readonly optIn: boolean;
  readonly optOut: boolean;
  /** The connection is not notified of its own changes. */
  readonly noLoop: boolean;
  readonly prefixes: readonly Bytes[];
  /** CLIENT CACHING: the next command's keys are tracked (opt-in), or are not tracked (opt-out). */
  caching: boolean;
  /** The connection to redirect to is closed. */
  broken: boolean;
}

/** Events that do not change anything that a client could have read. */
const NO_CHANGE: ReadonlySet<string> = new Set([
  'new',
  'keymiss',
  // Changes to a consumer group only.
  'xgroup-create',
  'xgroup-createconsumer',
  'xgroup-delconsumer',
  'xgroup-destroy',
  'xgroup-setid',
  'xsetid',
]);

/** The events of a list whose elements were given to a blocked client. */
const TAKEN: ReadonlySet<string> = new Set(['lpop', 'rpop', 'del']);

/** True for an XREAD whose keys and ids do not pair up: 7.0 finds no keys in it. */
function isUnbalanced(argv: readonly Bytes[], first: number): boolean {
  return (argv.length - first) % 2 === 1;
}

/** The node, as tracking sees it. */
interface TrackingNode extends HasClients, HasSettings {
  /** The client whose request is running. */
  readonly running: Client | undefined;
  readonly scripts: { readonly entered: boolean };
  readonly dialect: Dialect;
  readonly observer: { configure(): void };
  /** Updates whether keyspaces must report their changes. */
  listen(): void;
}

/** The tracked connections of a node (https://redis.io/docs/latest/develop/reference/client-side-caching/). */
export class Tracking {
  readonly #server: TrackingNode;
  readonly #modes = new Map<Client, TrackingMode>();
  /**
   * For each key, the ids of the connections that have read it since their last invalidation message. Connections that
   * are closed or no longer tracked stay in it, as in Redis: they may be tracked again, and the key's next change
   * removes them.
   */
  readonly #readers = new Map<Bytes, Set<number>>();
  /** For each prefix, the keys that changed since the last message, and the client that changed each of them last. */
  readonly #broadcasts = new Map<
    Bytes,
    { listeners: Set<Client>; changed: Map<Bytes, Client | undefined> }
  >();
  /** Messages for the running client, sent after its reply. */
  #held: { client: Client; keys: readonly Bytes[] | undefined }[] = [];
  /** The script that is running, as a request: its declared keys count as read. */
  #script: { command: Command; argv: readonly Bytes[] } | undefined;
  #items = 0;
  #changedAny = false;

  constructor(server: TrackingNode) {
    this.#server = server;
  }

  /** True while any connection is tracked. */
  get active(): boolean {
    return this.#modes.size > 0;
  }

  /** True while changes must be reported: a connection is tracked, or keys are still remembered. */
  get listens(): boolean {
    return this.#modes.size > 0 || this.#readers.size > 0;
  }

  /** Returns a client's tracking options; undefined if it is not tracked. */
  modeOf(client: Client): TrackingMode | undefined {
    return this.#modes.get(client);
  }

  /** The figures for INFO. */
  get counts(): { clients: number; keys: number; items: number; prefixes: number } {
    return {
      clients: this.#modes.size,
      keys: this.#readers.size,
      items: this.#items,
      prefixes: this.#broadcasts.size,
    };
  }

  /** CLIENT TRACKING ON, or a change of its options. */
  enable(client: Client, mode: TrackingMode): void {
    this.#modes.set(client, mode);
    client.mark(TRACKING, true);
    for (const prefix of mode.prefixes) {
      let group = this.#broadcasts.get(prefix);
      if (group === undefined) {
        group = { listeners: new Set(), changed: new Map() };
        this.#broadcasts.set(prefix, group);
      }
      group.listeners.add(client);
    }
    this.#follow();
  }

  /** CLIENT TRACKING OFF, or the end of the connection. */
  disable(client: Client): void {
    if (!this.#modes.delete(client)) return;
    client.mark(TRACKING, false);
    for (const [prefix, { listeners }] of this.#broadcasts) {
      listeners.delete(client);
      if (listeners.size === 0) this.#broadcasts.delete(prefix);
    }
    this.#follow();
  }

  #follow(): void {
    this.#server.observer.configure();
    this.#server.listen();
  }

  /** A script starts: the keys that it declares count as read. */
  enterScript(command: Command, argv: readonly Bytes[]): void {
    this.#script = { command, argv };
  }

  /** Called after a command that reads. Remembers its keys, if the client's mode requires it. */
  noteRead(client: Client, command: Command, argv: readonly Bytes[]): void {
    const reader = client.has(SCRIPT) ? this.#server.running : client;
    const mode = reader === undefined ? undefined : this.#modes.get(reader);
    if (reader === undefined || mode === undefined || mode.broadcast) return;
    if ((mode.optIn && !mode.caching) || (mode.optOut && mode.caching)) return;
    const { dialect } = this.#server;
    const declared = dialect.scriptReads === 'declared keys';
    const request = client.has(SCRIPT) && declared ? this.#script : { command, argv };
    if (request === undefined) return;
    const found = findKeys(request.command, request.argv) ?? [];
    if (request.command.name === 'xread' && isUnbalanced(request.argv, found[0]?.at ?? 0)) return;
    for (const { at } of found) this.#remember(wordAt(request.argv, at), reader);
  }

  #remember(key: Bytes, reader: Client): void {
    let readers = this.#readers.get(key);
    if (readers === undefined) this.#readers.set(key, (readers = new Set()));
    if (readers.has(reader.id)) return;
    readers.add(reader.id);
    this.#items++;
    this.shorten();
  }

  /**
   * Makes the table as short as `tracking-table-max-keys` asks: forgets the oldest keys, and notifies their readers as
   * if the keys had changed.
   */
  shorten(): void {
    const limit = this.#server.settings['tracking-table-max-keys'];
    if (limit <= 0) return;
    for (const key of this.#readers.keys()) {
      if (this.#readers.size <= limit) return;
      this.#tellReaders(key, false);
    }
  }

  /** Called after the command that follows CLIENT CACHING, whose effect ends. A command that is refused ends it too. */
  endCommand(client: Client, command: Command | undefined): void {
    const mode = this.#modes.get(client);
    if (mode !== undefined && command?.fullName.startsWith('client|') !== true) mode.caching = false;
  }

  /**
   * Called when a key has changed. Notifies the connections that read it, and notes it for those that track its prefix.
   */
  changed(key: Bytes, event: string): void {
    if (NO_CHANGE.has(event) || this.#isServed(event)) return;
    const { running, scripts } = this.#server;
    // Writes of a script are not attributed to the connection that runs it. An expiry is not attributed to any
    // connection.
    const writer = scripts.entered || event === 'expired' ? undefined : running;
    for (const [prefix, { changed }] of this.#broadcasts) {
      if (!key.startsWith(prefix)) continue;
      changed.set(key, writer);
      this.#changedAny = true;
    }
    this.#tellReaders(key);
  }

  /**
   * True for the elements of a list that a blocked client receives: Redis 7.0 sends no invalidation, except for BLMPOP.
   * Where the client is served as if it asked again, its request is like any other.
   */
  #isServed(event: string): boolean {
    const { running, dialect } = this.#server;
    if (dialect.serveWaiting === 'as if asked again') return false;
    const blocked = running?.blocked;
    return blocked?.type === 'list' && TAKEN.has(event) && running?.lastCommand?.name !== 'blmpop';
  }

  /** @param own the running client changed the key: it is not notified if it asked for that */
  #tellReaders(key: Bytes, own = true): void {
    const readers = this.#readers.get(key);
    if (readers === undefined) return;
    this.#readers.delete(key);
    this.#items -= readers.size;
    const { running, clients } = this.#server;
    for (const id of readers) {
      const reader = clients.get(id);
      const mode = reader === undefined ? undefined : this.#modes.get(reader);
      if (
        reader === undefined ||
        mode === undefined ||
        mode.broadcast ||
        (own && mode.noLoop && reader === running)
      )
        continue;
      if (reader === running) this.#held.push({ client: reader, keys: [key] });
      else this.#tell(reader, mode, [key]);
    }
  }

  /**
   * Called when all keys are removed.
   * @param before sends the message of the running client before its reply
   */
  flushed(before = false): void {
    const { running } = this.#server;
    this.#readers.clear();
    this.#items = 0;
    for (const [client, mode] of this.#modes) {
      if (client === running && !before) this.#held.push({ client, keys: undefined });
      else this.#tell(client, mode, undefined, before);
    }
  }

  /** Sends the messages that were held back until after the running client's reply. */
  release(): void {
    const held = this.#held;
    if (held.length === 0) return;
    this.#held = [];
    // A client that has turned tracking off in the same transaction still receives the message.
    for (const { client, keys } of held) this.#tell(client, this.#modes.get(client) ?? { redirect: 0 }, keys);
  }

  /** Sends the messages for connections in broadcast mode, at the end of an event. */
  settle(): void {
    this.release();
    if (!this.#changedAny) return;
    this.#changedAny = false;
    for (const prefix of [...this.#broadcasts.keys()].sort()) {
      const { listeners, changed } = this.#broadcasts.get(prefix)!;
      if (changed.size === 0) continue;
      const keys = [...changed.keys()].sort();
      for (const client of listeners) {
        const mode = this.#modes.get(client) as TrackingMode;
        const others = mode.noLoop ? keys.filter((key) => changed.get(key) !== client) : keys;
        if (others.length > 0) this.#tell(client, mode, others);
      }
      changed.clear();
    }
  }

  #tell(
    client: Client,
    mode: { redirect: number; broken?: boolean },
    keys: readonly Bytes[] | undefined,
    beforeReply = false,
  ): void {
    let target: Client | undefined = client;
    if (mode.redirect !== 0) {
      target = this.#server.clients.get(mode.redirect);
      if (target === undefined) {
        mode.broken = true;
        if (client.protocol === 3)
          client.output.push(new PushMessage('tracking-redir-broken', mode.redirect));
        return;
      }
    }
    const head = target.protocol === 3 ? ['invalidate'] : ['message', CHANNEL];
    const heard = target.protocol === 3 || (mode.redirect !== 0 && target.subscriptions.count > 0);
    if (!heard) return;
    const message =
      keys === undefined ? new Flush(head, client.protocol) : new PushMessage(...head, [...keys]);
    if (beforeReply) target.output.write(message.bytes(target.protocol));
    else target.output.push(message);
  }
}

/**
 * The message that all keys are gone: a null, encoded for the protocol of the tracked connection, even if the message
 * is redirected to a connection with another protocol.
 */
class Flush extends PushMessage {
  readonly #protocol: 2 | 3;

  constructor(head: readonly Bytes[], protocol: 2 | 3) {
    super(...head, null);
    this.#protocol = protocol;
  }

  protected override encode(protocol: 2 | 3): Bytes {
    const end = encodeReply(null, protocol).length;
    return super.encode(protocol).slice(0, -end) + encodeReply(null, this.#protocol);
  }
}
