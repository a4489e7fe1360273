/** Our node as the stage of a program: in memory, on a clock that moves only when told. */
import { VirtualDisk } from '../../../lab/replica-group/disk.ts';
import { type Bytes, fromBuffer, toBuffer } from '../../../protocol/bytes.ts';
import { encodeRequest } from '../../../protocol/encode.ts';
import { AppendOnlyFile } from '../../../server/aof/append-only-file.ts';
import type { DialectName } from '../../../server/dialects/index.ts';
import type { Connection, Host, PendingConnection, Receiver } from '../../../server/host/host.ts';
import { createNode } from '../../../server/index.ts';
import type { Caller, Server } from '../../../server/server.ts';
import type { Command } from '../../../server/table/command.ts';
import { type RawReply, readReply } from '../../support/reply-text.ts';
import { TestHost } from '../../support/targets.ts';
import type { PeerName, Program } from './program.ts';
import type { Ear, Stage, TesterEnd } from './stage.ts';

/** What a node is broken with on purpose: other commands, or a change to the node itself. */
export interface Mutation {
  readonly commands?: readonly Command<Caller>[];
  readonly change?: (server: Server) => void;
}

const PORT = 40_000;
const PORTS: readonly (readonly [PeerName, number])[] = [
  ['r1', 40_001],
  ['r2', 40_002],
  ['r3', 40_003],
];

/** How often the clock is moved to the next timer before something is taken never to happen. */
const MOST_TIMERS = 200;

export class OwnStage extends TestHost implements Stage {
  readonly port = PORT;
  readonly peerPorts = new Map(PORTS);
  readonly server: Server;
  onDial: Stage['onDial'] = () => {
    throw new Error('nobody listens');
  };
  override readonly disk = new VirtualDisk();
  #answer: Bytes = '';
  #admin!: TesterEnd;

  private constructor(dialect: DialectName, { settings }: Program, { commands = [], change }: Mutation) {
    super();
    const appendonly = settings.some(([name, value]) => name === 'appendonly' && value === 'yes');
    this.server = createNode(this, { dialect, strict: true, commands, settings: { port: PORT, appendonly } });
    if (appendonly) new AppendOnlyFile(this.server).open();
    change?.(this.server);
  }

  static async start(dialect: DialectName, program: Program, mutation: Mutation = {}): Promise<OwnStage> {
    const stage = new OwnStage(dialect, program, mutation);
    const hear = (bytes: Bytes): void => void (stage.#answer += bytes);
    stage.#admin = await stage.join({ hear, closed() {} });
    const quiet = ['repl-ping-replica-period', '36000', 'repl-timeout', '36000'];
    const others = program.settings.filter(([name]) => name !== 'appendonly').flat();
    const [mark, value] = await stage.ask('CONFIG', 'SET', ...quiet, ...others);
    if (mark === '-') throw new Error(`${value}`);
    await stage.ask('DEBUG', 'SET-ACTIVE-EXPIRE', '0');
    return stage;
  }

  override connect(...[, port, receiver, opened]: Parameters<Host['connect']>): PendingConnection {
    let wanted = true;
    this.clock.soon(() => {
      if (!wanted) return;
      const [peer] = PORTS.find(([, each]) => each === port) ?? [];
      if (peer === undefined) return receiver.closed();
      const line = new Line(this, undefined);
      line.receiver = receiver;
      line.ear = this.onDial(peer, line.far);
      opened(line);
    });
    return { cancel: () => void (wanted = false) };
  }

  async join(ear: Ear): Promise<TesterEnd> {
    return this.#accept(ear);
  }

  #accept(ear: Ear): TesterEnd {
    const line = new Line(this, ear);
    const receiver = this.server.connections.accept(line);
    if (receiver === undefined) throw new Error('the node refused the connection');
    line.receiver = receiver;
    return line.far;
  }

  async ask(...words: readonly Bytes[]): Promise<RawReply> {
    this.#answer = '';
    this.#admin.send(encodeRequest(words));
    await this.until(() => this.#answer !== '');
    return readReply(this.#answer);
  }

  async settle(): Promise<void> {
    this.advance(0);
  }

  async until(condition: () => boolean | Promise<boolean>): Promise<boolean> {
    this.advance(0);
    for (let i = 0; i < MOST_TIMERS; i++) {
      if (await condition()) return true;
      if (!this.step()) return false;
      this.advance(0);
    }
    return false;
  }

  async pass(): Promise<void> {
    this.advance(10);
  }

  async stop(): Promise<void> {
    this.server.stop();
  }
}

/** One connection: the node has this end, the tester the far one. Both hear of everything in a later turn. */
class Line implements Connection {
  readonly remote = '127.0.0.1:1';
  readonly local = '127.0.0.1:2';
  readonly pending = 0;
  readonly #host: TestHost;
  receiver: Receiver | undefined;
  ear: Ear | undefined;
  #open = true;

  constructor(host: TestHost, ear: Ear | undefined) {
    this.#host = host;
    this.ear = ear;
  }

  readonly far: TesterEnd = {
    send: (bytes) => {
      this.#host.clock.soon(() => {
        if (this.#open) this.receiver?.receive(toBuffer(bytes));
      });
    },
    close: () => {
      this.#host.clock.soon(() => {
        if (this.#open) this.receiver?.closed();
        this.#open = false;
      });
    },
  };

  send(bytes: Bytes): void {
    this.#host.clock.soon(() => this.ear?.hear(fromBuffer(toBuffer(bytes))));
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#host.clock.soon(() => {
      this.ear?.closed();
      this.receiver?.closed();
    });
  }

  abort(): void {
    this.close();
  }

  pause(): void {}
  resume(): void {}
}
