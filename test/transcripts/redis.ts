/** The recorder: plays transcripts on a real redis-server, as its clients, its replica and its subscriber. */
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { RespReader, type RespValue } from '../support/resp-text.ts';
import { until } from '../support/until.ts';
import type { Outcome, Step, Target } from './transcript.ts';

/** How long a reply is waited for before the client counts as blocked. */
const PATIENCE = 100;

/** Redis looks for keys past their deadline ten times a second; our own rings at the deadline. */
const ACTIVE_EXPIRY = 200;

/** What a redis-server must be started with to be recorded. */
export const RECORDABLE = { args: ['--enable-debug-command', 'yes'] };

function encode(argv: readonly string[]): Buffer {
  const bulks = argv.map((word) => `$${word.length}\r\n${word}\r\n`);
  return Buffer.from(`*${argv.length}\r\n${bulks.join('')}`, 'latin1');
}

/** A raw connection that collects replies. */
class Wire {
  readonly socket: Socket;
  readonly reader = new RespReader();
  replies: RespValue[] = [];
  /** False while something other than replies arrives. */
  parsing = true;

  constructor(path: string) {
    this.socket = connect(path);
    this.socket.on('data', (chunk) => {
      this.reader.write(chunk.toString('latin1'));
      if (this.parsing) this.parse();
    });
  }

  parse(): void {
    for (let reply = this.reader.next(); reply !== undefined; reply = this.reader.next()) {
      this.replies.push(reply);
    }
  }

  send(argv: readonly string[]): void {
    this.socket.write(encode(argv));
  }

  async ask(argv: readonly string[]): Promise<RespValue> {
    this.send(argv);
    return until(() => this.replies.shift(), { what: argv.join(' ') });
  }

  take(): RespValue[] {
    const replies = this.replies;
    this.replies = [];
    return replies;
  }
}

function words(value: RespValue): string[] {
  return value.type === 'items' ? value.items.map((item) => (item.type === 'bulk' ? item.text : '')) : [];
}

/** A redis-server, reached by its unix socket, as the target of a transcript. */
export class RedisTarget implements Target {
  readonly #path: string;
  readonly #control: Wire;
  readonly #subscriber: Wire;
  readonly #replica: Wire;
  #clients = new Map<string, Wire>();
  #protocol: 2 | 3 = 2;
  #marker = 0;

  private constructor(path: string) {
    this.#path = path;
    this.#control = new Wire(path);
    this.#subscriber = new Wire(path);
    this.#replica = new Wire(path);
  }

  /** Connects, subscribes to all events, and follows as a replica. */
  static async open(path: string): Promise<RedisTarget> {
    const target = new RedisTarget(path);
    await target.#control.ask(['CONFIG', 'SET', 'notify-keyspace-events', 'AK', 'repl-timeout', '3600']);
    // Keys past their deadline go while a transcript waits, or at first touch: never in between, by chance.
    await target.#control.ask(['DEBUG', 'SET-ACTIVE-EXPIRE', '0']);
    await target.#subscriber.ask(['PSUBSCRIBE', '__keyspace@*', 'marker']);
    await until(() => target.#subscriber.replies.shift());
    await target.#follow();
    return target;
  }

  /** Asks for a full synchronization and skips the snapshot (disk-based: its length is announced). */
  async #follow(): Promise<void> {
    const replica = this.#replica;
    await this.#control.ask(['CONFIG', 'SET', 'repl-diskless-sync', 'no']);
    replica.parsing = false;
    replica.send(['PSYNC', '?', '-1']);
    const rest = await until(() => {
      const found = /\$(\d+)\r\n/.exec(replica.reader.rest);
      if (found === null) return undefined;
      const end = found.index + found[0].length + parseInt(found[1] ?? '0', 10);
      return replica.reader.rest.length >= end ? { after: replica.reader.rest.slice(end) } : undefined;
    });
    const fresh = new RespReader();
    fresh.write(rest.after);
    Object.assign(replica, { reader: fresh, parsing: true });
    replica.parse();
  }

  async begin(): Promise<void> {
    for (const client of this.#clients.values()) client.socket.destroy();
    this.#clients.clear();
    this.#protocol = 2;
    await this.#control.ask(['FLUSHALL']);
    await this.#drain();
  }

  async #client(name: string): Promise<Wire> {
    let client = this.#clients.get(name);
    if (client === undefined) {
      client = new Wire(this.#path);
      this.#clients.set(name, client);
      await client.ask(['HELLO', String(this.#protocol)]);
    }
    return client;
  }

  async perform(step: Step): Promise<Outcome> {
    if (step.kind === 'wait') {
      await this.#control.ask(['DEBUG', 'SET-ACTIVE-EXPIRE', '1']);
      await wait(step.millis + ACTIVE_EXPIRY);
      await this.#control.ask(['DEBUG', 'SET-ACTIVE-EXPIRE', '0']);
    }
    if (step.kind === 'resp') {
      this.#protocol = step.protocol;
      for (const client of this.#clients.values()) await client.ask(['HELLO', String(step.protocol)]);
    }
    if (step.kind === 'request') {
      const client = await this.#client(step.client);
      client.send(step.argv);
      const started = Date.now();
      await until(() => client.replies.length > 0 || Date.now() > started + PATIENCE);
    }
    const { effects, events } = await this.#drain();
    const replies = [...this.#clients].flatMap(([client, wire]) =>
      wire.take().map((reply) => ({ client, reply })),
    );
    return { replies, effects, events, now: Date.now() };
  }

  /** What the replica and the subscriber have been sent so far, up to a marker sent now. */
  async #drain() {
    const marker = `marker-${this.#marker++}`;
    await this.#control.ask(['PUBLISH', 'marker', marker]);
    const isMarker = (reply: RespValue): boolean => words(reply).at(-1) === marker;
    await until(() => this.#replica.replies.some(isMarker) && this.#subscriber.replies.some(isMarker));
    const effects = this.#replica
      .take()
      .map(words)
      .filter(([name = '', what]) => !['SELECT', 'PING'].includes(name.toUpperCase()) && what !== 'marker');
    const events = this.#subscriber
      .take()
      .map(words)
      .filter(([, pattern]) => pattern !== 'marker')
      .map(([, , channel = '', event = '']) => ({ key: channel.slice(channel.indexOf(':') + 1), event }));
    return { effects, events };
  }

  close(): void {
    for (const wire of [this.#control, this.#subscriber, this.#replica, ...this.#clients.values()]) {
      wire.socket.destroy();
    }
  }
}
