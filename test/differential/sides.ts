/** The two servers of a comparison: ours, in memory and at once, and redis-server behind a socket. */
import { connect, type Socket } from 'node:net';
import type { Bytes } from '../../protocol/bytes.ts';
import { toBuffer } from '../../protocol/bytes.ts';
import { encodeRequest } from '../../protocol/encode.ts';
import type { Client } from '../../server/clients/client.ts';
import type { DialectName } from '../../server/dialects/index.ts';
import { createNode } from '../../server/index.ts';
import type { Caller, Server } from '../../server/server.ts';
import type { Command } from '../../server/table/command.ts';
import { INSTALLED, oracleOf } from '../support/oracles.ts';
import { type RealRedis, startRedisServer } from '../support/redis-server.ts';
import { readReply } from '../support/reply-text.ts';
import { TestHost } from '../support/targets.ts';
import { Lane } from './lane.ts';
import type { Program } from './program.ts';

/** Keyspace events of every class. */
const EVENTS = 'AKEmn';

/** The initial state of each program, whatever the previous one changed. */
const DEFAULTS: readonly (readonly [Bytes, Bytes])[] = [
  ['hash-max-listpack-entries', '512'],
  ['hash-max-listpack-value', '64'],
  ['set-max-intset-entries', '512'],
  ['zset-max-listpack-entries', '128'],
  ['zset-max-listpack-value', '64'],
  ['list-max-listpack-size', '-2'],
  ['stream-node-max-entries', '100'],
  // How long a request takes is a matter of chance: none is slow.
  ['slowlog-log-slower-than', '-1'],
];

/** One server with the connections of one program. */
export interface Side {
  readonly clients: readonly Lane[];
  /** Receives every keyspace event. */
  readonly events: Lane;
  /** Receives the replication stream. */
  readonly stream: Lane;
  /** Sends a request of a program's connection. */
  send(client: number, argv: readonly Bytes[]): void;
  /** The number that this server has given the connection. */
  idOf(client: number): string;
  /** Asks beside the program. */
  ask(requests: readonly (readonly Bytes[])[]): Promise<Bytes[]>;
}

function setUp(program: Program): Bytes[][] {
  return [
    ['CONFIG', 'SET', ...DEFAULTS.flat()],
    // From here on both streams have database 0 selected.
    ['SELECT', '0'],
    ['SET', 'first', '1'],
    // Redis 8.2 dies of a FUNCTION FLUSH right behind a FLUSHALL: that blocks the client, and the rest runs without one.
    ['FUNCTION', 'FLUSH'],
    ['SCRIPT', 'FLUSH'],
    ['FLUSHALL'],
    ['ACL', 'LOG', 'RESET'],
    ['SLOWLOG', 'RESET'],
    // Most servers do not have these.
    ['HOTKEYS', 'STOP'],
    ['HOTKEYS', 'RESET'],
    ['COMMANDLOG', 'RESET', 'large-request'],
    ['COMMANDLOG', 'RESET', 'large-reply'],
    // LASTSAVE answers alike from here on.
    ['SAVE'],
    ...program.settings.map((setting) => ['CONFIG', 'SET', ...setting]),
  ];
}

/** Our server, new for each program; every request is answered before `send` returns. */
export class OurSide implements Side {
  readonly host = new TestHost(Date.now());
  readonly server: Server;
  readonly clients: Lane[] = [];
  readonly events = new Lane();
  readonly stream = new Lane();
  readonly #clients: Client[] = [];
  readonly #admin: Client;
  readonly #adminLane = new Lane();

  /** `firstId` is the number of the program's first client on the real server: the others follow it on both. */
  constructor(
    program: Program,
    dialect: DialectName,
    commands: readonly Command<Caller>[] = [],
    firstId = 0,
  ) {
    const settings = { 'notify-keyspace-events': EVENTS };
    this.server = createNode(this.host, { dialect, strict: true, commands, settings });
    this.#admin = this.#accept(this.#adminLane);
    this.#tell(this.#accept(this.events), ['PSUBSCRIBE', '__key*__:*']);
    this.stream.skipSnapshot();
    this.#tell(this.#accept(this.stream), ['PSYNC', '?', '-1']);
    // The link's heartbeat would only make the tester wait for it.
    this.server.replication.stop();
    for (const argv of setUp(program)) this.#tell(this.#admin, argv);
    for (let id = 0; id < firstId - 1; ) id = this.server.connections.nextId();
    for (const protocol of program.protocols) {
      const lane = new Lane();
      this.clients.push(lane);
      const client = this.#accept(lane);
      this.#clients.push(client);
      this.#tell(client, ['HELLO', String(protocol)]);
      this.#tell(client, ['CLIENT', 'ID']);
    }
    this.#tell(this.#admin, ['CONFIG', 'RESETSTAT']);
    for (const lane of [...this.clients, this.events, this.stream]) lane.take();
  }

  /** Moves our clock to the present. */
  keepTime(): void {
    this.host.advance(Math.max(0, Date.now() - this.host.clock.now()));
  }

  send(client: number, argv: readonly Bytes[]): void {
    this.#tell(this.#clients[client]!, argv);
  }

  /** True while the connection waits for an element or a time. */
  isBlocked(client: number): boolean {
    return this.#clients[client]?.blocked !== undefined;
  }

  /** The connection itself. */
  client(client: number): Client | undefined {
    return this.#clients[client];
  }

  idOf(client: number): string {
    return String(this.#clients[client]?.id ?? 0);
  }

  async ask(requests: readonly (readonly Bytes[])[]): Promise<Bytes[]> {
    this.#adminLane.take();
    for (const argv of requests) this.#tell(this.#admin, argv);
    return this.#adminLane.take();
  }

  stop(): void {
    this.server.stop();
  }

  #accept(lane: Lane): Client {
    const client = this.server.connections.accept({
      remote: '127.0.0.1:1',
      local: '127.0.0.1:2',
      pending: 0,
      send: (bytes) => lane.feed(bytes),
      close: () => {
        lane.close();
        client?.closed();
      },
      abort: () => lane.close(),
      pause: () => {},
      resume: () => {},
    });
    if (client === undefined) throw new Error('our server refused the connection');
    return client;
  }

  #tell(client: Client, argv: readonly Bytes[]): void {
    if (client.gone || client.closing) return;
    client.receive(toBuffer(encodeRequest(argv)));
    this.host.advance(0);
  }
}

/** A socket to redis-server whose bytes go into a lane. */
class SocketIntoLane {
  readonly lane = new Lane();
  readonly #socket: Socket;

  constructor(path: string) {
    this.#socket = connect(path);
    this.#socket.on('data', (chunk) => this.lane.feed(chunk.toString('latin1')));
    this.#socket.on('error', () => this.lane.close());
    this.#socket.on('close', () => this.lane.close());
  }

  send(...requests: (readonly Bytes[])[]): void {
    if (!this.lane.closed) this.#socket.write(requests.map(encodeRequest).join(''), 'latin1');
  }

  /** Resolves when so many replies have come in all, or the connection has closed. */
  arrived(count: number): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.lane.count < count && !this.lane.closed) return;
        this.lane.onChange = () => {};
        resolve();
      };
      this.lane.onChange = look;
      look();
    });
  }

  async ask(...requests: (readonly Bytes[])[]): Promise<Bytes[]> {
    this.lane.take();
    this.send(...requests);
    await this.arrived(this.lane.count + requests.length);
    return this.lane.take();
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** redis-server; `begin` empties it and opens the connections of the next program. */
export class RealSide implements Side {
  readonly dialect: DialectName;
  readonly #redis: RealRedis;
  readonly #admin: SocketIntoLane;
  readonly #fence: SocketIntoLane;
  readonly #events: SocketIntoLane;
  readonly #stream: SocketIntoLane;
  #clients: SocketIntoLane[] = [];
  #ids: string[] = [];
  #fencing: Promise<void> = Promise.resolve();

  private constructor(redis: RealRedis, dialect: DialectName) {
    this.dialect = dialect;
    this.#redis = redis;
    this.#admin = new SocketIntoLane(redis.path);
    this.#fence = new SocketIntoLane(redis.path);
    this.#events = new SocketIntoLane(redis.path);
    this.#stream = new SocketIntoLane(redis.path);
  }

  /** Starts the real server of a dialect. Rejects where it is not on this machine. */
  static async start(dialect: DialectName = INSTALLED): Promise<RealSide> {
    const program = oracleOf(dialect);
    if (program === undefined) throw new Error(`there is no real server for ${dialect} on this machine`);
    const quiet = [
      '--repl-ping-replica-period',
      '36000',
      '--repl-timeout',
      '36000',
      '--repl-diskless-sync',
      'no',
      '--enable-debug-command',
      'yes',
    ];
    const args = [...quiet, '--hz', '500', '--client-output-buffer-limit', 'replica 0 0 0 pubsub 0 0 0'];
    const side = new RealSide(
      await startRedisServer({ program, args: [...args, '--notify-keyspace-events', EVENTS] }),
      dialect,
    );
    await side.#events.ask(['PSUBSCRIBE', '__key*__:*']);
    side.#stream.lane.skipSnapshot();
    side.#stream.send(['PSYNC', '?', '-1']);
    await side.#admin.ask(['PING']);
    // The stream has begun when the first effect has come through.
    while (side.#stream.lane.skipping) await new Promise((resolve) => setTimeout(resolve, 5));
    await side.#admin.ask(['FLUSHALL']);
    await side.#stream.arrived(1);
    return side;
  }

  get clients(): Lane[] {
    return this.#clients.map(({ lane }) => lane);
  }

  get events(): Lane {
    return this.#events.lane;
  }

  get stream(): Lane {
    return this.#stream.lane;
  }

  async begin(program: Program): Promise<void> {
    const kills = this.#ids.map((id) => ['CLIENT', 'KILL', 'ID', id]);
    await this.#admin.ask(...kills, ...setUp(program));
    await this.#forgetUsers();
    for (const socket of this.#clients) socket.close();
    this.#clients = [];
    this.#ids = [];
    for (const protocol of program.protocols) {
      const socket = new SocketIntoLane(this.#redis.path);
      this.#clients.push(socket);
      const [, id = ''] = await socket.ask(['HELLO', String(protocol)], ['CLIENT', 'ID']);
      this.#ids.push(id.slice(1, -2));
    }
    await this.fence();
    await this.#admin.ask(['CONFIG', 'RESETSTAT']);
    for (const lane of [...this.clients, this.events, this.stream]) lane.take();
  }

  /** Removes the users that the program before has made. */
  async #forgetUsers(): Promise<void> {
    const [answer] = await this.#admin.ask(['ACL', 'USERS']);
    if (answer === undefined) {
      throw new Error(`the real server has hung up: ${await this.#redis.obituary()}`);
    }
    const [, names] = readReply(answer);
    const others = Array.isArray(names) ? names.map(([, name]) => String(name)) : [];
    const made = others.filter((name) => name !== 'default');
    if (made.length > 0) await this.#admin.ask(['ACL', 'DELUSER', ...made]);
  }

  send(client: number, argv: readonly Bytes[]): void {
    this.#clients[client]?.send(argv);
  }

  idOf(client: number): string {
    return this.#ids[client] ?? '0';
  }

  ask(requests: readonly (readonly Bytes[])[]): Promise<Bytes[]> {
    return this.#admin.ask(...requests);
  }

  /** Waits until redis-server has answered everything sent before: twice around its event loop, once around ours. */
  fence(): Promise<void> {
    this.#fencing = this.#fencing.then(() => this.#twiceAround());
    return this.#fencing;
  }

  async #twiceAround(): Promise<void> {
    await this.#fence.ask(['PING']);
    await this.#fence.ask(['PING']);
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  }

  /** Waits until each lane has as many replies as its counterpart, or until no more can come. */
  async catchUp(other: Side): Promise<void> {
    const pairs: [Lane, Lane][] = [
      [this.events, other.events],
      [this.stream, other.stream],
      ...this.#clients.map(({ lane }, i): [Lane, Lane] => [lane, other.clients[i]!]),
    ];
    const behind = (): [Lane, Lane][] =>
      pairs.filter(
        ([mine, theirs]) => mine.items.length < theirs.items.length || mine.closed !== theirs.closed,
      );
    if (pairs.every(([, theirs]) => theirs.items.length === 0)) return this.fence();
    const waiting = behind();
    if (waiting.length === 0) return;
    const came = new Promise<void>((resolve) => {
      const look = (): void => {
        if (behind().length > 0) return;
        for (const [lane] of waiting) lane.onChange = () => {};
        resolve();
      };
      for (const [lane] of waiting) lane.onChange = look;
    });
    // A lane that stays behind has nothing more to give once a bystander has been answered long after.
    let late: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      late = setTimeout(
        () =>
          this.fence()
            .then(() => this.fence())
            .then(resolve),
        30,
      );
    });
    await Promise.race([came, patience]);
    clearTimeout(late);
  }

  async stop(): Promise<void> {
    for (const socket of [this.#admin, this.#fence, this.#events, this.#stream, ...this.#clients])
      socket.close();
    await this.#redis.stop();
  }
}
