/** The replayer: plays transcripts on our own server, on a clock that only moves when told, without sockets. */
import type { Client } from '../../server/clients/client.ts';
import type { Connection } from '../../server/host/host.ts';
import { createNode } from '../../server/index.ts';
import type { Effect } from '../../server/ports.ts';
import type { Server, ServerOptions } from '../../server/server.ts';
import { ReplyReader } from '../support/reply-reader.ts';
import { printReply, type RawReply, readReply, request } from '../support/reply-text.ts';
import { TestHost } from '../support/targets.ts';
import { type Outcome, type Step, splitWords, type Target } from './transcript.ts';

/** A client of an in-memory server, with what it has been sent. */
export class TestClient {
  readonly client: Client;
  readonly reader = new ReplyReader();

  constructor(server: Server) {
    const connection: Connection = {
      remote: '127.0.0.1:1',
      local: '127.0.0.1:2',
      pending: 0,
      send: (bytes) => this.reader.write(bytes),
      close: () => {},
      abort: () => {},
      pause: () => {},
      resume: () => {},
    };
    const client = server.connections.accept(connection);
    if (client === undefined) throw new Error('the server refused the connection');
    this.client = client;
  }

  send(argv: readonly string[]): void {
    this.client.receive(Buffer.from(request(...argv), 'latin1'));
  }

  /** The replies that have arrived since the last call. */
  received(): RawReply[] {
    return this.reader.take().map(readReply);
  }
}

/** One client that asks line by line and reads printed replies: `ask('SET k v')` is '+OK'. */
export class Conversation {
  readonly #client: TestClient;

  constructor(server: Server) {
    this.#client = new TestClient(server);
  }

  /** The replies to a request, printed as transcripts do; '' while it is blocked. */
  ask(line: string): string {
    this.#client.send(splitWords(line));
    return this.#client
      .received()
      .map((reply) => printReply(reply))
      .join(' ');
  }
}

/** Our server as the target of a transcript. */
export class OwnTarget implements Target {
  readonly #options: ServerOptions;
  #host = new TestHost();
  #server = createNode(this.#host);
  #clients = new Map<string, TestClient>();
  #protocol: 2 | 3 = 2;
  #effects: string[][] = [];
  #listener = new TestClient(this.#server);

  /** @param options what each section's node is created with, such as its dialect */
  constructor(options: ServerOptions = {}) {
    this.#options = options;
  }

  async begin(): Promise<void> {
    this.#host = new TestHost();
    this.#server = createNode(this.#host, {
      ...this.#options,
      settings: { 'notify-keyspace-events': 'AKE' },
    });
    this.#server.replication.observe({ effects: (effects, atomic) => this.#feed(effects, atomic) });
    this.#listener = new TestClient(this.#server);
    this.#listener.send(['PSUBSCRIBE', '__keyspace@*']);
    this.#listener.received();
    this.#clients.clear();
    this.#protocol = 2;
  }

  #feed(effects: readonly Effect[], atomic: boolean): void {
    if (atomic) this.#effects.push(['MULTI']);
    for (const { argv } of effects) this.#effects.push([...argv]);
    if (atomic) this.#effects.push(['EXEC']);
  }

  #client(name: string): TestClient {
    let client = this.#clients.get(name);
    if (client === undefined) {
      client = new TestClient(this.#server);
      client.client.protocol = this.#protocol;
      this.#clients.set(name, client);
    }
    return client;
  }

  async perform(step: Step): Promise<Outcome> {
    if (step.kind === 'request') this.#client(step.client).send(step.argv);
    if (step.kind === 'wait') this.#host.advance(step.millis);
    if (step.kind === 'resp') {
      this.#protocol = step.protocol;
      for (const { client } of this.#clients.values()) client.protocol = step.protocol;
    }
    const replies = [...this.#clients].flatMap(([client, each]) =>
      each.received().map((reply) => ({ client, reply })),
    );
    const events = this.#listener.received().map(eventOf);
    const outcome = { replies, effects: this.#effects, events, now: this.#host.clock.now() };
    this.#effects = [];
    return outcome;
  }
}

/** The keyspace event of a subscriber's message, `['pmessage', pattern, channel, event]`. */
function eventOf([, items]: RawReply): { key: string; event: string } {
  const [, , channel = '', event = ''] = Array.isArray(items) ? items.map(([, text]) => String(text)) : [];
  return { key: channel.slice(channel.indexOf(':') + 1), event };
}

/** Subscribes to the server's keyspace events. Returns the list that grows with each, as `key event`. */
export function recordEvents(server: Server): string[] {
  const lines: string[] = [];
  const reader = new ReplyReader();
  const client = server.connections.accept({
    remote: '127.0.0.1:3',
    local: '127.0.0.1:2',
    pending: 0,
    send(bytes) {
      reader.write(bytes);
      for (const message of reader.take()) {
        const { key, event } = eventOf(readReply(message));
        if (event !== '') lines.push(`${key} ${event}`);
      }
    },
    close() {},
    abort() {},
    pause() {},
    resume() {},
  });
  client?.receive(Buffer.from('PSUBSCRIBE __keyspace@*\r\n'));
  lines.length = 0;
  return lines;
}
