/**
 * Which client caused a write of a real server, and whether the reply has reached it. The stream of a server does not
 * say; the lab sees the requests and replies that pass its links, and finds the request that fits.
 */
import { asciiLower, type Bytes, fromBuffer } from '../../protocol/bytes.ts';
import { RequestDecoder } from '../../protocol/decode.ts';
import { nodeClock } from '../../server/host/node.ts';
import type { Effect } from '../../server/ports.ts';
import type { Server } from '../../server/server.ts';
import { commandOf } from '../../server/table/resolve.ts';
import type { ConnectionTap, NetworkConnection } from '../real-clock/network.ts';
import { touchedBy } from '../replica-group/touched.ts';
import { NOBODY, type Origin, type WriteReply } from '../replica-group/write-log.ts';
import { ReplyScanner } from './replies.ts';

/** How long a request whose reply has arrived may still cause a write that the lab has not seen, in milliseconds. */
const LATEST = 1000;

/** How many requests are remembered. */
const MOST = 10_000;

/** These commands run scripts, which may write to any key. */
const SCRIPTS: ReadonlySet<Bytes> = new Set(['eval', 'evalsha', 'fcall']);

/** Errors of scripts that have not run, so that they have written nothing. */
const HAS_NOT_RUN = /^-(NOSCRIPT|BUSY|LOADING|MASTERDOWN|NOAUTH|NOPERM) /;

/** Behind these commands, what the connection receives are not only replies. */
const LISTENING: ReadonlySet<Bytes> = new Set(['subscribe', 'psubscribe', 'ssubscribe', 'monitor']);

/** One request that may write, or a transaction. */
class SeenRequest {
  readonly connection: NetworkConnection;
  readonly words: ReadonlySet<Bytes>;
  readonly names: ReadonlySet<Bytes>;
  readonly isScript: boolean;
  /** Where the reply ends in the connection's bytes; undefined until it has arrived. */
  end: number | undefined;
  /** When the reply arrived. */
  repliedAt = Infinity;
  readonly #askedAt = nodeClock.now();
  /** True for a reply that is usual for a request that has written nothing. */
  idle = false;
  /** What the request has written, as far as the stream has been seen. */
  readonly effects: Effect[] = [];
  /** True when its writes may have been part of a dataset, which names none. */
  unseen = false;
  /** True when the stream has been seen up to a point behind the request. */
  decided = false;

  constructor(connection: NetworkConnection, all: readonly (readonly Bytes[])[]) {
    this.connection = connection;
    this.words = new Set(all.flatMap((argv) => argv.slice(1)));
    this.names = new Set(all.map(([name = '']) => asciiLower(name)));
    this.isScript = [...this.names].some((name) => SCRIPTS.has(name));
  }

  /** True when it cannot cause a write any more. One whose connection has broken gets no reply. */
  isOver(now: number): boolean {
    const last = this.end === undefined && this.connection.ended ? this.#askedAt : this.repliedAt;
    return now - last > LATEST;
  }

  /** True when it has written this command to this key, or anything where no command is given. */
  wrote(command: readonly Bytes[] | undefined): boolean {
    if (this.effects.length === 0) return this.unseen && !this.idle;
    if (command === undefined) return true;
    const [name = '', key] = command;
    return this.effects.some(({ argv }) => asciiLower(argv[0] ?? '') === asciiLower(name) && argv[1] === key);
  }

  /** How well it explains the effects; 0 if it cannot have caused them. */
  fits(effects: readonly Effect[], keys: readonly Bytes[]): number {
    if (!this.isScript && !keys.every((key) => this.words.has(key))) return 0;
    let score = this.idle ? 0 : 0.5;
    // It may have been lost with its connection.
    if (this.end === undefined && this.connection.ended) score -= 0.25;
    for (const { argv } of effects) {
      const isNamed = this.names.has(asciiLower(argv[0] ?? ''));
      // A script runs commands of any name.
      if (isNamed || this.isScript) score += isNamed ? 0.5 : 0.25;
      for (const word of argv.slice(1)) if (this.words.has(word)) score++;
    }
    return score;
  }
}

/** The reply to a request that has perhaps written. It waits on the client's link. */
export interface UnreadReply {
  /** True when `wrote` is certain. */
  readonly decided: boolean;
  /** True when the request has written this command to this key, or anything where no command is given. */
  wrote(command: readonly Bytes[] | undefined): boolean;
}

/** The requests to one node that may still explain a write. */
export class SeenRequests {
  readonly #server: () => Server;
  #open: SeenRequest[] = [];
  /** The requests that have perhaps written, and whose reply had not reached the client when that was last looked at. */
  #unread: SeenRequest[] = [];

  /** @param server returns the server whose commands the clients use */
  constructor(server: () => Server) {
    this.#server = server;
  }

  /** Watches one client's connection. */
  tap(connection: NetworkConnection): ConnectionTap {
    return new Conversation(connection, this);
  }

  /** True for a command that may write. */
  writes(argv: readonly Bytes[]): boolean {
    const command = commandOf(this.#server().commands, argv);
    return SCRIPTS.has(asciiLower(argv[0] ?? '')) || command?.spec.flags.includes('write') === true;
  }

  /** Remembers a request. */
  add(connection: NetworkConnection, all: readonly (readonly Bytes[])[]): SeenRequest {
    const request = new SeenRequest(connection, all);
    this.#open.push(request);
    if (this.#open.length > MOST) this.#open.shift();
    return request;
  }

  /** Forgets a request that has written nothing. */
  drop(request: SeenRequest): void {
    this.#open = this.#open.filter((each) => each !== request);
  }

  /** The reply to a request that may have written has arrived at the link. */
  answered(request: SeenRequest): void {
    this.#unread = this.#unread.filter((each) => !isRead(each));
    this.#unread.push(request);
  }

  /** True while a request that may write waits for its reply. */
  hasOpen(client: string): boolean {
    return this.#open.some(
      ({ connection, end }) => connection.from === client && !connection.ended && end === undefined,
    );
  }

  /** The requests that have perhaps written, and whose replies wait on the client's link. */
  unreadBy(client: string): readonly UnreadReply[] {
    return this.#unread.filter((request) => request.connection.from === client && !isRead(request));
  }

  /**
   * Runs `look`, which looks at the stream up to its present end. What the requests that were answered before have written
   * is known afterwards.
   */
  async decide(look: () => Promise<void>): Promise<void> {
    const open = this.#unread.filter(({ decided }) => !decided);
    await look();
    for (const request of open) request.decided = true;
    // What the stream has from now on is another request's.
    this.#open = this.#open.filter(({ decided }) => !decided);
  }

  /** A dataset has replaced the stream: what it has of the open requests is not known. */
  skipped(): void {
    for (const request of this.#open) request.unseen = true;
  }

  /** Finds the request that caused the writes of one unit. */
  explain(effects: readonly Effect[]): Origin {
    const server = this.#server();
    const touched = effects.map((effect) => touchedBy(server, effect));
    const keys = touched.flatMap((each) => each.keys.map(({ key }) => key));
    if (keys.length === 0 && !touched.some((each) => each.databases.length > 0 || each.libraries))
      return NOBODY;
    const now = nodeClock.now();
    this.#open = this.#open.filter((request) => !request.isOver(now));
    let [best, most]: [SeenRequest | undefined, number] = [undefined, 0];
    for (const request of this.#open) {
      const score = request.fits(effects, keys);
      if (score > most) [best, most] = [request, score];
    }
    if (best === undefined) return NOBODY;
    const found = best;
    this.drop(found);
    found.effects.push(...effects);
    const reply: WriteReply = {
      get arrived() {
        return found.end !== undefined && found.connection.tookUpTo(found.end);
      },
    };
    return { client: found.connection.from, reply };
  }
}

/** True when the reply has reached the client, or never will. */
function isRead({ connection, end = 0 }: SeenRequest): boolean {
  return connection.ended || connection.tookUpTo(end);
}

/** One client's connection: requests, and the replies to them in the same order. */
class Conversation implements ConnectionTap {
  readonly #connection: NetworkConnection;
  readonly #requests: SeenRequests;
  readonly #decoder = new RequestDecoder({ maxBulk: Number.MAX_SAFE_INTEGER, authenticated: true });
  readonly #scanner = new ReplyScanner();
  /** The requests without a reply, in order; undefined for one that writes nothing. */
  readonly #awaiting: (SeenRequest | undefined)[] = [];
  #transaction: Bytes[][] | undefined;
  /** True when replies can no longer be told from messages. */
  #listens = false;

  constructor(connection: NetworkConnection, requests: SeenRequests) {
    this.#connection = connection;
    this.#requests = requests;
  }

  asked(bytes: Uint8Array): void {
    if (this.#listens) return;
    this.#decoder.write(bytes);
    for (let argv = this.#decoder.next(); argv !== undefined; argv = this.#decoder.next()) this.#ask(argv);
  }

  #ask(argv: Bytes[]): void {
    const name = asciiLower(argv[0] ?? '');
    if (LISTENING.has(name)) this.#listens = true;
    if (name === 'multi') this.#transaction = [];
    else if (name === 'exec' && this.#transaction !== undefined) {
      const all = this.#transaction;
      this.#transaction = undefined;
      const writes = all.some((each) => this.#requests.writes(each));
      this.#awaiting.push(writes ? this.#requests.add(this.#connection, all) : undefined);
      return;
    } else if (name === 'discard') this.#transaction = undefined;
    else if (this.#transaction !== undefined) this.#transaction.push(argv);
    else if (this.#requests.writes(argv)) {
      this.#awaiting.push(this.#requests.add(this.#connection, [argv]));
      return;
    }
    this.#awaiting.push(undefined);
  }

  answered(bytes: Uint8Array): void {
    if (this.#listens) return;
    for (const { end, head } of this.#scanner.take(fromBuffer(bytes))) {
      const request = this.#awaiting.shift();
      if (request === undefined) continue;
      request.end = end;
      request.repliedAt = nodeClock.now();
      request.idle = /^(:0|\$-1|_|\*-1)$/.test(head);
      // A script may have written before its error.
      const hasFailed = head.startsWith('-') && (!request.isScript || HAS_NOT_RUN.test(head));
      if (hasFailed) this.#requests.drop(request);
      else this.#requests.answered(request);
    }
  }

  took(): void {}
}
