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
  /** Whether the server has closed the connection. */
  closed = false;

  constructor(server: Server) {
    const connection: Connection = {
      remote: '127.0.0.1:1',
      local: '127.0.0.1:2',
      pending: 0,
      send: (bytes) => this.reader.write(bytes),
      close: () => {
        this.closed = true;
      },
      abort: () => {
        this.closed = true;
      },
      pause: () => {},
      resume: () => {},
    };
    const client = server.connections.accept(connection);
    if (client === undefined) throw new Error('the server refused the connection');
    this.client = client;
  }

  /** Sends requests in one piece. */
  send(...requests: readonly (readonly string[])[]): void {
    this.client.receive(Buffer.from(requests.map((argv) => request(...argv)).join(''), 'latin1'));
  }

  /** Whether something has arrived since the last call of `received`. */
  get heard(): boolean {
    return this.reader.rest !== '';
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

/** A client of a transcript, with the requests that wait for its next one. */
interface Speaker {
  readonly client: TestClient;
  held: (readonly string[])[];
}

/** Our server as the target of a transcript. */
export class OwnTarget implements Target {
  readonly #options: ServerOptions;
  /** The node of the section that is being played. */
  #node: { host: TestHost; server: Server; listener: TestClient } | undefined;
  #speakers = new Map<string, Speaker>();
  #protocol: 2 | 3 = 2;
  #effects: string[][] = [];
  #control: TestClient | undefined;

  /** @param options what each section's node is created with, such as its dialect */
  constructor(options: ServerOptions = {}) {
    this.#options = options;
  }

  async begin(): Promise<void> {
    const host = new TestHost();
    const server = createNode(host, { ...this.#options, settings: { 'notify-keyspace-events': 'AK' } });
    server.replication.observe({ effects: (effects, atomic) => this.#feed(effects, atomic) });
    const listener = new TestClient(server);
    listener.send(['PSUBSCRIBE', '__keyspace@*']);
    listener.received();
    this.#node = { host, server, listener };
    this.#control = undefined;
    this.#speakers.clear();
    this.#protocol = 2;
  }

  get #played() {
    if (this.#node === undefined) throw new Error('no section has begun');
    return this.#node;
  }

  #feed(effects: readonly Effect[], atomic: boolean): void {
    if (atomic) this.#effects.push(['MULTI']);
    for (const { argv } of effects) this.#effects.push([...argv]);
    if (atomic) this.#effects.push(['EXEC']);
  }

  #speaker(name: string): Speaker {
    let speaker = this.#speakers.get(name);
    if (speaker === undefined) {
      speaker = { client: new TestClient(this.#played.server), held: [] };
      speaker.client.client.protocol = this.#protocol;
      this.#speakers.set(name, speaker);
    }
    return speaker;
  }

  async perform(step: Step): Promise<Outcome> {
    this.#carryOut(step);
    const speakers = [...this.#speakers];
    const replies = speakers.flatMap(([client, each]) =>
      each.client.received().map((reply) => ({ client, reply })),
    );
    const closed = speakers.filter(([, each]) => each.client.closed).map(([name]) => name);
    for (const name of closed) this.#speakers.delete(name);
    const events = this.#played.listener.received().map(eventOf);
    const outcome = { replies, closed, effects: this.#effects, events, now: this.#played.host.clock.now() };
    this.#effects = [];
    return outcome;
  }

  #carryOut(step: Step): void {
    if (step.kind === 'request') {
      this.#request(step);
    } else if (step.kind === 'wait') {
      this.#played.host.advance(step.millis);
    } else if (step.kind === 'resp') {
      this.#protocol = step.protocol;
      for (const { client } of this.#speakers.values()) client.client.protocol = step.protocol;
    } else if (step.kind === 'config') {
      this.#configure(step.name, step.value);
    } else {
      this.#speaker(step.client).client.client.closed();
      this.#speakers.delete(step.client);
    }
  }

  #request({ client: name, argv, held, awaited }: Extract<Step, { kind: 'request' }>): void {
    const speaker = this.#speaker(name);
    speaker.held.push(argv);
    if (held) return;
    const { client } = speaker;
    client.send(...speaker.held.splice(0));
    while (awaited && !client.closed && !client.heard) {
      if (!this.#played.host.step()) throw new Error(`client ${name} never receives anything`);
    }
  }

  #configure(name: string, value: string): void {
    // Opened before any password is set, this client stays logged in.
    this.#control ??= new TestClient(this.#played.server);
    this.#control.send(['CONFIG', 'SET', name, value]);
    const [reply] = this.#control.received();
    if (reply?.[1] !== 'OK') throw new Error(`CONFIG SET ${name} ${value}: ${reply?.[1]}`);
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
