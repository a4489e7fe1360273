/** Client-side caching: which connections have read which keys, and the messages that tell them of changes. */

import type { Bytes } from '../../protocol/bytes.ts';
import { encodeReply } from '../../protocol/encode.ts';
import type { HasClients, HasSettings } from '../ports.ts';
import { wordAt } from '../table/arguments.ts';
import type { Command } from '../table/command.ts';
import { findKeys } from '../table/info.ts';
import { type Client, SCRIPT, TRACKING } from './client.ts';
import { PushMessage } from './message.ts';

/** The channel on which RESP2 connections hear of changes. */
const CHANNEL = '__redis__:invalidate';

/** How one connection has its reads tracked. */
export interface TrackingMode {
  /** The connection that gets the messages; 0: this one. */
  readonly redirect: number;
  /** It hears of every key with one of the prefixes, whether or not it has read it. */
  readonly broadcast: boolean;
  readonly optIn: boolean;
  readonly optOut: boolean;
  /** It does not hear of its own changes. */
  readonly noLoop: boolean;
  readonly prefixes: readonly Bytes[];
  /** CLIENT CACHING: the next command's keys are tracked (opt in), or are not (opt out). */
  caching: boolean;
  /** The connection to redirect to is gone. */
  broken: boolean;
}

/** Events that change nothing that a client could have read. */
const NO_CHANGE: ReadonlySet<string> = new Set([
  'new',
  'keymiss',
  // What happens to a group alone.
  'xgroup-create',
  'xgroup-createconsumer',
  'xgroup-delconsumer',
  'xgroup-destroy',
  'xgroup-setid',
  'xsetid',
]);

/** How a list loses what a client has waited for. */
const TAKEN: ReadonlySet<string> = new Set(['lpop', 'rpop', 'del']);

/** XREAD with a key or an id too many, in which 7.0 finds no keys. */
function isUnbalanced(argv: readonly Bytes[], first: number): boolean {
  return (argv.length - first) % 2 === 1;
}

/** The node, as tracking sees it. */
interface TrackingNode extends HasClients, HasSettings {
  /** The client whose request runs. */
  readonly running: Client | undefined;
  readonly scripts: { readonly entered: boolean };
  readonly observer: { configure(): void };
  /** Decides anew whether keyspaces need to report their changes. */
  listen(): void;
}

export class Tracking {
  readonly #server: TrackingNode;
  readonly #modes = new Map<Client, TrackingMode>();
  /**
   * By number, the connections that have read a key since they were last told of it; those too that are tracked no more,
   * or gone: they may be tracked again, and Redis forgets a key only with its next change.
   */
  readonly #readers = new Map<Bytes, Set<number>>();
  /** For each prefix the keys changed since the last message, with who changed them last. */
  readonly #broadcasts = new Map<
    Bytes,
    { listeners: Set<Client>; changed: Map<Bytes, Client | undefined> }
  >();
  /** What the running client hears behind its reply. */
  #held: { client: Client; keys: readonly Bytes[] | undefined }[] = [];
  /** The script that runs, as a request: its keys count as read. */
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

  /** True while changes are of interest: a connection is tracked, or has been. */
  get listens(): boolean {
    return this.#modes.size > 0 || this.#readers.size > 0;
  }

  modeOf(client: Client): TrackingMode | undefined {
    return this.#modes.get(client);
  }

  /** Figures for INFO. */
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

  /** A script begins; what it reads counts as its declared keys. */
  enterScript(command: Command, argv: readonly Bytes[]): void {
    this.#script = { command, argv };
  }

  /** A command that reads has run: its keys are remembered, in modes that ask for it. */
  noteRead(client: Client, command: Command, argv: readonly Bytes[]): void {
    const reader = client.has(SCRIPT) ? this.#server.running : client;
    const mode = reader === undefined ? undefined : this.#modes.get(reader);
    if (reader === undefined || mode === undefined || mode.broadcast) return;
    if ((mode.optIn && !mode.caching) || (mode.optOut && mode.caching)) return;
    const request = client.has(SCRIPT) ? this.#script : { command, argv };
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
    const limit = this.#server.settings['tracking-table-max-keys'];
    // A table that is full forgets its oldest key, as if that had changed.
    if (limit <= 0 || this.#readers.size <= limit) return;
    const [oldest] = this.#readers.keys();
    if (oldest !== undefined) this.#tellReaders(oldest);
  }

  /** The command after CLIENT CACHING has run: what that said no longer holds. */
  endCommand(client: Client, command: Command): void {
    const mode = this.#modes.get(client);
    if (mode !== undefined && !command.fullName.startsWith('client|')) mode.caching = false;
  }

  /** A key has changed: who has read it is told, and who listens to its prefix will be. */
  changed(key: Bytes, event: string): void {
    if (NO_CHANGE.has(event) || this.#isServed(event)) return;
    const { running, scripts } = this.#server;
    // A script's writes are not those of the connection that runs it; that a key ends is nobody's.
    const writer = scripts.entered || event === 'expired' ? undefined : running;
    for (const [prefix, { changed }] of this.#broadcasts) {
      if (!key.startsWith(prefix)) continue;
      changed.set(key, writer);
      this.#changedAny = true;
    }
    this.#tellReaders(key);
  }

  /** True for what a list loses to a client that has waited: 7.0 tells nobody, but when BLMPOP takes it. */
  #isServed(event: string): boolean {
    const { running } = this.#server;
    const blocked = running?.blocked;
    return blocked?.type === 'list' && TAKEN.has(event) && running?.lastCommand?.name !== 'blmpop';
  }

  #tellReaders(key: Bytes): void {
    const readers = this.#readers.get(key);
    if (readers === undefined) return;
    this.#readers.delete(key);
    this.#items -= readers.size;
    const { running, clients } = this.#server;
    for (const id of readers) {
      const reader = clients.get(id);
      const mode = reader === undefined ? undefined : this.#modes.get(reader);
      if (reader === undefined || mode === undefined || mode.broadcast || (mode.noLoop && reader === running))
        continue;
      if (reader === running) this.#held.push({ client: reader, keys: [key] });
      else this.#tell(reader, mode, [key]);
    }
  }

  /** Every key is gone. */
  flushed(): void {
    const { running } = this.#server;
    this.#readers.clear();
    this.#items = 0;
    for (const [client, mode] of this.#modes) {
      if (client === running) this.#held.push({ client, keys: undefined });
      else this.#tell(client, mode, undefined);
    }
  }

  /** Sends what was held back until the running client's reply. */
  release(): void {
    const held = this.#held;
    if (held.length === 0) return;
    this.#held = [];
    // Who has turned tracking off in the same transaction hears of it all the same.
    for (const { client, keys } of held) this.#tell(client, this.#modes.get(client) ?? { redirect: 0 }, keys);
  }

  /** Sends what broadcasting connections are to hear, once an event is settled. */
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
    target.output.push(
      keys === undefined ? new Flush(head, client.protocol) : new PushMessage(...head, [...keys]),
    );
  }
}

/** That every key is gone: a null, in the protocol of the connection that is tracked, whichever the hearer's is. */
class Flush extends PushMessage {
  readonly #protocol: 2 | 3;

  constructor(head: readonly Bytes[], protocol: 2 | 3) {
    super(...head, null);
    this.#protocol = protocol;
  }

  override bytes(protocol: 2 | 3): Bytes {
    const end = encodeReply(null, protocol).length;
    return super.bytes(protocol).slice(0, -end) + encodeReply(null, this.#protocol);
  }
}
