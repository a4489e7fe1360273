/** The recorder: plays transcripts on a real redis-server, as its clients, its replica and its subscriber. */
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { RawClient } from '../support/raw-client.ts';
import { ReplyReader } from '../support/reply-reader.ts';
import { type RawReply, readReply, request } from '../support/reply-text.ts';
import { until } from '../support/until.ts';
import type { Outcome, Step, Target } from './transcript.ts';

/** Commands that the newer servers may answer later, when another thread has freed the memory. */
const FLUSHES = /^(FLUSHALL|FLUSHDB|FUNCTION|SCRIPT)$/i;

/** How long the reply to such a command is waited for (there is none after CLIENT REPLY OFF). */
const PATIENCE = 100;

/** Redis looks for keys past their deadline ten times a second; our own rings at the deadline. */
const ACTIVE_EXPIRY = 200;

/** What a redis-server must be started with to be recorded. */
export const RECORDABLE = { args: ['--enable-debug-command', 'yes'] };

/** A raw connection whose replies and pushes are taken in the order in which they came. */
class OrderedConnection {
  readonly #client: RawClient;
  readonly #reader = new ReplyReader();
  #replies: RawReply[] = [];

  private constructor(client: RawClient) {
    this.#client = client;
  }

  static async open(path: string): Promise<OrderedConnection> {
    return new OrderedConnection(await RawClient.connect({ path }));
  }

  /** Whether the server has closed the connection. */
  get closed(): boolean {
    return this.#client.ending !== undefined;
  }

  /** Sends requests in one piece. */
  send(...requests: readonly (readonly string[])[]): void {
    void this.#client.send(requests.map((argv) => request(...argv)).join(''));
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

/** A client of a transcript, with the requests that wait for its next one. */
interface Speaker {
  readonly connection: OrderedConnection;
  held: (readonly string[])[];
}

/** A redis-server, reached by its unix socket, as the target of a transcript. */
export class RedisTarget implements Target {
  readonly #path: string;
  readonly #control: RawClient;
  readonly #subscriber: OrderedConnection;
  readonly #replica: OrderedConnection;
  #speakers = new Map<string, Speaker>();
  /** All settings, as they are when a section begins. */
  #settings = new Map<string, string>();
  #protocol: 2 | 3 = 2;

  private constructor(
    path: string,
    control: RawClient,
    subscriber: OrderedConnection,
    replica: OrderedConnection,
  ) {
    this.#path = path;
    this.#control = control;
    this.#subscriber = subscriber;
    this.#replica = replica;
  }

  /** Connects, subscribes to all events, and follows as a replica. */
  static async open(path: string): Promise<RedisTarget> {
    const control = await RawClient.connect({ path });
    const [subscriber, replica] = [await OrderedConnection.open(path), await OrderedConnection.open(path)];
    await control.ask('CONFIG', 'SET', 'notify-keyspace-events', 'AK', 'repl-timeout', '3600');
    // Keys past their deadline go while a transcript waits, or at first touch: never in between, by chance.
    await control.ask('DEBUG', 'SET-ACTIVE-EXPIRE', '0');
    await subscriber.ask(['PSUBSCRIBE', '__keyspace@*']);
    await control.ask('CONFIG', 'SET', 'repl-diskless-sync', 'no');
    await replica.follow();
    const target = new RedisTarget(path, control, subscriber, replica);
    target.#settings = await target.#read();
    return target;
  }

  async #read(): Promise<Map<string, string>> {
    const found = words((await this.#control.ask('CONFIG', 'GET', '*')).value);
    return new Map(found.flatMap((word, i) => (i % 2 === 0 ? [[word, found[i + 1] ?? '']] : [])));
  }

  async begin(): Promise<void> {
    for (const { connection } of this.#speakers.values()) connection.close();
    this.#speakers.clear();
    this.#protocol = 2;
    for (const [name, value] of await this.#read()) {
      const before = this.#settings.get(name) ?? value;
      if (value !== before) await this.#control.ask('CONFIG', 'SET', name, before);
    }
    await this.#control.ask('FLUSHALL');
    await this.#control.ask('SCRIPT', 'FLUSH');
    await this.#control.ask('FUNCTION', 'FLUSH');
    await this.#drain();
  }

  async #speaker(name: string): Promise<Speaker> {
    let speaker = this.#speakers.get(name);
    if (speaker === undefined) {
      speaker = { connection: await OrderedConnection.open(this.#path), held: [] };
      this.#speakers.set(name, speaker);
      if (this.#protocol === 3) await speaker.connection.ask(['HELLO', '3']);
      // By then the server has accepted the connection.
      await this.#settle();
    }
    return speaker;
  }

  async perform(step: Step): Promise<Outcome> {
    await this.#carryOut(step);
    const { effects, events } = await this.#drain();
    const speakers = [...this.#speakers];
    const replies = speakers.flatMap(([client, { connection }]) =>
      connection.take().map((reply) => ({ client, reply })),
    );
    const closed = speakers.filter(([, { connection }]) => connection.closed).map(([name]) => name);
    for (const name of closed) this.#speakers.delete(name);
    return { replies, closed, effects, events, now: Date.now() };
  }

  async #carryOut(step: Step): Promise<void> {
    if (step.kind === 'request') {
      await this.#request(step);
    } else if (step.kind === 'wait') {
      // The server looks for keys past their deadline meanwhile.
      await this.#control.ask('DEBUG', 'SET-ACTIVE-EXPIRE', '1');
      await wait(step.millis + ACTIVE_EXPIRY);
      await this.#control.ask('DEBUG', 'SET-ACTIVE-EXPIRE', '0');
    } else if (step.kind === 'resp') {
      this.#protocol = step.protocol;
      for (const { connection } of this.#speakers.values())
        await connection.ask(['HELLO', String(step.protocol)]);
    } else if (step.kind === 'config') {
      const { raw } = await this.#control.ask('CONFIG', 'SET', step.name, step.value);
      if (raw !== '+OK\r\n') throw new Error(`CONFIG SET ${step.name} ${step.value}: ${raw}`);
    } else {
      (await this.#speaker(step.client)).connection.close();
      this.#speakers.delete(step.client);
    }
  }

  async #request({ client, argv, held, awaited }: Extract<Step, { kind: 'request' }>): Promise<void> {
    const { connection, held: requests } = await this.#speaker(client);
    requests.push(argv);
    if (held) return;
    const late = requests.some(([name = '']) => FLUSHES.test(name));
    connection.send(...requests.splice(0));
    const deadline = Date.now() + PATIENCE;
    const what = `something for client ${client}`;
    if (awaited) await until(() => connection.arrived.length > 0 || connection.closed, { what });
    else if (late) await until(() => connection.arrived.length > 0 || Date.now() > deadline);
  }

  /** Two round trips of another client: by then the server has handled and answered everything that it was sent. */
  async #settle(): Promise<void> {
    for (let i = 0; i < 2; i++) {
      await this.#control.ask('PING');
      await turn();
    }
  }

  /** What the replica and the subscriber have been sent since the last call. */
  async #drain() {
    await this.#settle();
    const effects = this.#replica
      .take()
      .map(words)
      .filter(([name = '']) => !['SELECT', 'PING'].includes(name.toUpperCase()));
    const events = this.#subscriber
      .take()
      .map(words)
      .map(([, , channel = '', event = '']) => ({ key: channel.slice(channel.indexOf(':') + 1), event }));
    return { effects, events };
  }

  close(): void {
    for (const { connection } of this.#speakers.values()) connection.close();
    for (const connection of [this.#control, this.#subscriber, this.#replica]) connection.close();
  }
}
