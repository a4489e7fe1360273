/**
 * The network of a pair on the real clock. Every connection passes lanes at its dialling end, by the names of both
 * ends.
 */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Connection, Host, Receiver } from '../../server/host/host.ts';
import { nodeHost } from '../../server/host/node.ts';
import type { Fate } from '../links/gate.ts';
import { Lanes } from '../links/lanes.ts';
import { CLOSED, RealClockLane } from './lane.ts';
import { PassingTime } from './passing-time.ts';
import { RealClockTrace } from './trace.ts';

/** A connection between two parties, as the network sees it. */
export interface NetworkConnection {
  readonly from: string;
  readonly to: string;
  /** The port at which the dialling end knows the other one. */
  readonly port: number;
  /** Breaks the connection. Both ends notice at once. */
  reset(): void;
  /** The listening end vanishes without a word: the dialling end is not told. */
  silence(): void;
  /** True when the listening end has closed the connection, and everything that it had sent has arrived at the lane. */
  readonly ended: boolean;
  /** True when the dialling end has received the server's bytes up to this position. */
  tookUpTo(position: number): boolean;
  /** The server has read the dialling end's bytes up to this position. */
  wasRead(position: number): void;
}

/** Watches the bytes of a client's connection. */
export interface ConnectionTap {
  /** The dialling end has sent bytes, which have not reached the lane yet. They wait there for what this returns. */
  asking?(bytes: Uint8Array): Promise<void> | undefined;
  /** The server's bytes have arrived, and have not reached the lane yet. They wait there for what this returns. */
  answering?(bytes: Uint8Array): Promise<void> | undefined;
  /** The dialling end's bytes are handed to the server. */
  asked(bytes: Uint8Array): void;
  /** The server's bytes have arrived at the lane. */
  answered(bytes: Uint8Array): void;
  /** The server's bytes have reached the dialling end. */
  took(bytes: Uint8Array): void;
}

/** The lanes and connections of a pair on the real clock. */
export class RealClockNetwork extends Lanes<RealClockLane> {
  readonly #host = nodeHost();
  readonly #owners = new Map<number, string>();
  /** Where a party listens in fact, by the port at which it is known. */
  readonly #behind = new Map<number, number>();
  #closed = false;
  readonly #connections = new Set<NetworkConnection>();
  /** By the addresses of both ends, as `endsOf` writes them. */
  readonly #byEnds = new Map<string, NetworkConnection>();

  /** @internal The time of the parties and their links. */
  readonly time = new PassingTime();

  /** @internal The record of what happens on the links and to their parties. */
  readonly trace = new RealClockTrace(undefined, () => this.time.micros());

  /** @internal Chooses what watches a new connection, if anything does. */
  tapFor: (connection: NetworkConnection) => ConnectionTap | undefined = () => undefined;

  /** @internal Like `tapFor`, for a second watcher: real servers need the first one themselves. */
  holderFor: (connection: NetworkConnection) => Pick<ConnectionTap, 'asking' | 'answering'> | undefined =
    () => undefined;

  /** @internal */
  protected create(from: string, to: string): RealClockLane {
    const note = (what: string, detail: string): void => this.trace.note(`${from}>${to}`, what, detail);
    const lane = new RealClockLane(from, to, this.#host.random, note, this.time);
    if (this.#closed) lane.close();
    return lane;
  }

  /** Breaks the connections between two parties, whichever of them dialled. */
  reset(one: string, other: string): void {
    if (this.#closed) throw new Error(CLOSED);
    const broken = [...this.#connections].filter(
      ({ from, to }) => [from, to].includes(one) && [from, to].includes(other),
    );
    if (broken.length > 0) this.trace.note(`${one}>${other}`, 'reset');
    for (const connection of broken) connection.reset();
  }

  /** @internal The open connections of a party. */
  connectionsOf(party: string): readonly NetworkConnection[] {
    return this.connections.filter(({ from, to }) => from === party || to === party);
  }

  /** @internal The open connections. */
  get connections(): readonly NetworkConnection[] {
    return [...this.#connections];
  }

  /** @internal Records which party listens on the port. @param behind where it listens in fact, past the entrance of others */
  name(port: number, owner: string, behind = port): void {
    this.#owners.set(port, owner);
    this.#behind.set(port, behind);
  }

  /** @internal Where to dial the party that is known by this port. */
  behind(port: number): number {
    return this.#behind.get(port) ?? port;
  }

  /** @internal True after `close`. */
  get closed(): boolean {
    return this.#closed;
  }

  /** @internal The party that listens on the port, or the port's number as text for an unknown one. */
  ownerOf(port: number): string {
    return this.#owners.get(port) ?? `:${port}`;
  }

  /** @internal Records a new connection. @param local the dialling end's address, if known */
  add(connection: NetworkConnection, local?: string): void {
    this.#connections.add(connection);
    if (local !== undefined) this.#byEnds.set(endsOf(local, this.behind(connection.port)), connection);
  }

  /** @internal Forgets a connection that has ended. */
  remove(connection: NetworkConnection, local?: string): void {
    this.#connections.delete(connection);
    if (local === undefined) return;
    const ends = endsOf(local, this.behind(connection.port));
    if (this.#byEnds.get(ends) === connection) this.#byEnds.delete(ends);
  }

  /**
   * @internal The connection that a party has dialled from the first address to the second; undefined when a program that
   * the network does not know has dialled it.
   */
  connectionBetween(remote: string, local: string): NetworkConnection | undefined {
    return this.#byEnds.get(endsOf(remote, portOf(local)));
  }

  /** @internal Node's host for one party: connections that it dials pass the lanes. */
  hostOf(party: string): Host {
    const host = this.#host;
    const { stalledWithin = () => 0 } = host;
    return {
      ...host,
      // While time was advanced, nothing could arrive, so that a link is not silent because of it.
      stalledWithin: (age, limit) => Math.min(age, stalledWithin(age, limit) + this.time.addedWithin(age)),
      connect: (address, port, receiver, opened) => {
        const connection = new NodeConnection(this, party, port, receiver);
        connection.out.lane.pass(connection, undefined, () =>
          host.connect(address, this.behind(port), connection, (near) => opened(connection.attach(near))),
        );
        return undefined;
      },
    };
  }

  /** @internal Breaks every connection and drops the messages that wait. */
  close(): void {
    this.#closed = true;
    for (const lane of this.all) lane.close();
    for (const connection of [...this.#connections]) connection.reset();
  }
}

/** The port of an address. */
function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1));
}

/** Linux gives one local port to several connections at a time if their destinations differ, so both ends tell them apart. */
function endsOf(dialling: string, port: number): string {
  return `${dialling}>${port}`;
}

/** Why a message that a lane has lost did not arrive. */
const DROPPED = 'the link lost it (drop)';

/** One direction of a connection. Behind a message that its lane has lost, nothing arrives. */
export class Direction {
  readonly lane: RealClockLane;
  readonly #label: string;
  readonly #trace: RealClockTrace;
  readonly #connection: { reset(): void };
  #lost = false;

  /** @param label the sender and the receiver, for the record */
  constructor(lane: RealClockLane, label: string, trace: RealClockTrace, connection: { reset(): void }) {
    this.lane = lane;
    this.#label = label;
    this.#trace = trace;
    this.#connection = connection;
  }

  /** True when a message was lost. */
  get lost(): boolean {
    return this.#lost;
  }

  /**
   * Hands a message to the lane. Returns what becomes of it.
   * @param isClosed true when the receiver is gone, and with it what still arrives
   * @param deliver takes the message, or each part of it, when it has passed
   */
  carry(chunk: Uint8Array, isClosed: () => boolean, deliver: (content: Uint8Array) => void): Fate {
    if (this.#lost) return 'lost';
    const fate = this.lane.fate();
    this.#lost = fate === 'lost';
    const sent = this.#trace.sent(this.#label, chunk);
    if (this.#lost) {
      sent?.lost(DROPPED);
      this.lane.lost(() => this.#connection.reset());
      return fate;
    }
    this.lane.pass(this.#connection, chunk, (content = NOTHING) => {
      if (isClosed()) sent?.lost('its connection ended while it was under way');
      else sent?.arrived(content.length);
      deliver(content);
    });
    return fate;
  }

  /** Records a message behind a lost one. */
  noteLost(chunk: Uint8Array): void {
    this.#trace.sent(this.#label, chunk)?.lost(DROPPED);
  }
}

const NOTHING = new Uint8Array();

/** The two directions of a new connection between parties. */
export function directionsOf(
  network: RealClockNetwork,
  from: string,
  to: string,
  connection: { reset(): void },
): readonly [out: Direction, back: Direction] {
  const { trace } = network;
  const number = trace.number();
  return [
    new Direction(network.lane(from, to), `${from}:${number}>${to}`, trace, connection),
    new Direction(network.lane(to, from), `${to}>${from}:${number}`, trace, connection),
  ];
}

/** A connection that a node has dialled. */
class NodeConnection implements NetworkConnection, Receiver {
  readonly from: string;
  readonly to: string;
  readonly port: number;
  readonly out: Direction;
  readonly #back: Direction;
  readonly #network: RealClockNetwork;
  readonly #receiver: Receiver;
  #near: Connection | undefined;
  #closed = false;
  #silent = false;
  #local: string | undefined;
  #sent = 0;
  /** The connection breaks when the server has read this many bytes. */
  #breaksAt = Infinity;

  constructor(network: RealClockNetwork, from: string, port: number, receiver: Receiver) {
    const to = network.ownerOf(port);
    this.from = from;
    this.to = to;
    this.port = port;
    [this.out, this.#back] = directionsOf(network, from, to, this);
    this.#network = network;
    this.#receiver = receiver;
  }

  tookUpTo(): boolean {
    return true;
  }

  silence(): void {
    this.#silent = true;
  }

  get ended(): boolean {
    return this.#closed;
  }

  wasRead(position: number): void {
    if (position >= this.#breaksAt) this.reset();
  }

  receive(chunk: Uint8Array): void {
    const fate = this.#back.carry(
      Uint8Array.from(chunk),
      () => this.#closed,
      (content) => {
        if (!this.#closed) this.#receiver.receive(content);
      },
    );
    if (fate === 'last') this.#back.lane.pass(this, undefined, () => this.reset());
  }

  closed(): void {
    this.#network.remove(this, this.#local);
    if (!this.#back.lost && !this.#silent) this.#back.lane.passEnd(this, () => this.#tell());
  }

  reset(): void {
    this.#network.remove(this, this.#local);
    this.#near?.abort();
    this.#tell();
  }

  #tell(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#receiver.closed();
  }

  /** Connects the dialling end, whose data passes the lane. */
  attach(near: Connection): Connection {
    this.#near = near;
    this.#local = near.local;
    this.#network.add(this, near.local);
    return {
      remote: near.remote,
      local: near.local,
      pending: 0,
      send: (bytes: Bytes) => this.#send(near, bytes),
      close: () => this.out.lane.passEnd(this, () => near.close()),
      abort: () => near.abort(),
      pause: () => near.pause(),
      resume: () => near.resume(),
    };
  }

  #send(near: Connection, bytes: Bytes): void {
    this.#sent += bytes.length;
    const fate = this.out.carry(
      Buffer.from(bytes, 'latin1'),
      () => this.#closed,
      (content) => near.send(Buffer.prototype.latin1Slice.call(content)),
    );
    if (fate === 'last') this.#breaksAt = Math.min(this.#breaksAt, this.#sent);
  }
}
