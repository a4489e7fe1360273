/** The recorder: plays transcripts on a real redis-server, as its clients, its replica and its subscriber. */
import { setTimeout as wait } from 'node:timers/promises';
import { RawClient } from '../support/raw-client.ts';
import { ReplyReader } from '../support/reply-reader.ts';
import { type RawReply, readReply, request } from '../support/reply-text.ts';
import { until } from '../support/until.ts';
import type { Outcome, Step, Target } from './transcript.ts';

/** How long a reply is waited for before the client counts as blocked. */
const PATIENCE = 100;

/** Redis looks for keys past their deadline ten times a second; our own rings at the deadline. */
const ACTIVE_EXPIRY = 200;

/** What a redis-server must be started with to be recorded. */
export const RECORDABLE = { args: ['--enable-debug-command', 'yes'] };

/** A raw connection whose replies and pushes are taken in the order in which they came. */
class Wire {
  readonly #client: RawClient;
  readonly #reader = new ReplyReader();
  #replies: RawReply[] = [];

  private constructor(client: RawClient) {
    this.#client = client;
  }

  static async open(path: string): Promise<Wire> {
    return new Wire(await RawClient.connect({ path }));
  }

  send(argv: readonly string[]): void {
    void this.#client.send(request(...argv));
  }

  async ask(argv: readonly string[]): Promise<RawReply> {
    this.send(argv);
    return this.next(argv.join(' '));
  }

  /** The next reply or push, waited for. */
  next(what: string): Promise<RawReply> {
    return until(() => this.arrived.shift(), { what });
  }

  /** What has come and was not taken. */
  get arrived(): RawReply[] {
    this.#reader.write(this.#client.take());
    this.#replies.push(...this.#reader.take().map(readReply));
    return this.#replies;
  }

  take(): RawReply[] {
    const replies = this.arrived;
    this.#replies = [];
    return replies;
  }

  /** Asks for everything as a replica does, and skips the snapshot (disk-based: its length is announced). */
  async follow(): Promise<void> {
    this.#reader.skipSnapshot();
    this.send(['PSYNC', '?', '-1']);
    await until(() => {
      this.#reader.write(this.#client.take());
      return !this.#reader.skipping;
    });
  }

  close(): void {
    this.#client.close();
  }
}

function words([, value]: RawReply): string[] {
  return Array.isArray(value)
    ? value.map(([mark, text]: RawReply) => (mark === '$' ? String(text ?? '') : ''))
    : [];
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

  private constructor(path: string, control: Wire, subscriber: Wire, replica: Wire) {
    this.#path = path;
    this.#control = control;
    this.#subscriber = subscriber;
    this.#replica = replica;
  }

  /** Connects, subscribes to all events, and follows as a replica. */
  static async open(path: string): Promise<RedisTarget> {
    const [control, subscriber, replica] = [
      await Wire.open(path),
      await Wire.open(path),
      await Wire.open(path),
    ];
    await control.ask(['CONFIG', 'SET', 'notify-keyspace-events', 'AK', 'repl-timeout', '3600']);
    // Keys past their deadline go while a transcript waits, or at first touch: never in between, by chance.
    await control.ask(['DEBUG', 'SET-ACTIVE-EXPIRE', '0']);
    await subscriber.ask(['PSUBSCRIBE', '__keyspace@*', 'marker']);
    await subscriber.next('the second pattern');
    await control.ask(['CONFIG', 'SET', 'repl-diskless-sync', 'no']);
    await replica.follow();
    return new RedisTarget(path, control, subscriber, replica);
  }

  async begin(): Promise<void> {
    for (const client of this.#clients.values()) client.close();
    this.#clients.clear();
    this.#protocol = 2;
    await this.#control.ask(['FLUSHALL']);
    await this.#drain();
  }

  async #client(name: string): Promise<Wire> {
    let client = this.#clients.get(name);
    if (client === undefined) {
      client = await Wire.open(this.#path);
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
      await until(() => client.arrived.length > 0 || Date.now() > started + PATIENCE);
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
    const isMarker = (reply: RawReply): boolean => words(reply).at(-1) === marker;
    await until(() => this.#replica.arrived.some(isMarker) && this.#subscriber.arrived.some(isMarker));
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
      wire.close();
    }
  }
}
