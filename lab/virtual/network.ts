/** The network of a world: listeners, connections, and the links that a test controls. */
import type { Receiver } from '../../server/host/host.ts';
import type { Delays } from '../links/gate.ts';
import { Lanes } from '../links/lanes.ts';
import type { Actor } from '../time/actor.ts';
import type { TraceEvent } from '../time/event.ts';
import type { Random } from '../time/random.ts';
import type { Schedule } from '../time/schedule.ts';
import { Task } from '../time/task.ts';
import type { Trace } from '../time/trace.ts';
import { VirtualConnection } from './connection.ts';
import type { Address } from './connector.ts';
import { Lane, type LaneWorld } from './lane.ts';
import { type Ending, type Ends, Pipe, type PipeMessage } from './pipe.ts';
import { VirtualSocket } from './socket.ts';

/** Latency and jitter of links without a pace of their own, in milliseconds. */
export type NetworkOptions = Partial<Delays>;

/** Accepts a new connection; returns undefined to refuse it. */
export type Accept = (connection: VirtualConnection) => Receiver | undefined;

interface VirtualListener {
  readonly actor: Actor;
  readonly accept: Accept;
}

/** A connection. `forward` carries what the dialling end sends. */
interface PipePair {
  readonly forward: Pipe;
  readonly back: Pipe;
  readonly dialler: Actor;
  listener: Actor | undefined;
  /** True once the listening process has accepted it. Before that, the connection is its kernel's alone. */
  accepted: boolean;
}

/** The world that a network belongs to, as far as the network needs it. */
interface NetworkWorld {
  readonly schedule: Schedule;
  readonly trace: Trace;
  /** Microseconds since the world began. */
  elapsed(): number;
  /** The actor of this name; created when first asked for. */
  actor(name: string): Actor;
  /** A stream of random numbers. */
  stream(name: string): Random;
  /** Throws when the world is closed. */
  assertUsable(): void;
}

const FIRST_PORT = 50_000;
/** How long Linux retransmits unacknowledged bytes before it gives up (tcp_retries2 = 15), in microseconds. */
const PATIENCE = 924_600_000;

/** The listeners, connections and lanes of a world. */
export class Network extends Lanes<Lane> {
  readonly #world: NetworkWorld;
  readonly #laneWorld: LaneWorld;
  readonly #delays: Delays;
  readonly #listeners = new Map<string, VirtualListener>();
  /** The actor that last listened at each address, so that lanes keep their name while a node is down. */
  readonly #owners = new Map<string, string>();
  /** Addresses that are forwarded to another one. */
  readonly #forwards = new Map<string, () => Address>();
  readonly #open = new Set<PipePair>();
  /** Answers connection requests, also those to dead and paused processes. */
  readonly #kernel: Actor;
  #nextPort = FIRST_PORT;

  /** @internal */
  constructor(world: NetworkWorld, options: NetworkOptions = {}) {
    super();
    this.#world = world;
    this.#kernel = world.actor('kernel');
    this.#delays = { latency: options.latency ?? 1, jitter: options.jitter ?? 1 };
    const { schedule, trace } = world;
    const assertUsable = (): void => world.assertUsable();
    this.#laneWorld = { schedule, trace, random: world.stream('network'), assertUsable };
  }

  /** @internal */
  protected create(from: string, to: string): Lane {
    return new Lane(from, to, this.#laneWorld, this.#delays);
  }

  /** Breaks the connections between two actors, whichever of them dialled. */
  reset(one: string, other: string): void {
    this.#world.assertUsable();
    const broken = [...this.#open].filter(({ forward }) => {
      const ends = [forward.lane.from, forward.lane.to];
      return ends.includes(one) && ends.includes(other);
    });
    if (broken.length > 0) this.#world.trace.note(`${one}>${other}`, 'reset');
    for (const pipes of broken) this.#break(pipes, 'reset');
  }

  /** Breaks a connection. Both ends notice at once. */
  #break(pipes: PipePair, ending: Ending): void {
    this.#open.delete(pipes);
    pipes.forward.breakNow(ending);
    pipes.back.breakNow(ending);
  }

  /** @internal What is held, for error messages: `primary>replica (3 messages)`. */
  describeHeld(): string {
    return [...this.all]
      .filter((lane) => lane.held || lane.partitioned || lane.waiting > 0)
      .map((lane) => `${lane.from}>${lane.to} (${lane.waiting} messages)`)
      .join(', ');
  }

  /** @internal The messages that have been sent and have not arrived, by the labels of their connections. */
  underWay(): TraceEvent[] {
    const at = this.#world.elapsed();
    const found: TraceEvent[] = [];
    for (const { forward, back } of this.#open) {
      for (const pipe of [forward, back]) {
        for (const message of pipe.underWay()) found.push({ at, who: pipe.label, what: 'waits', ...message });
      }
    }
    return found;
  }

  /** @internal The clients that have something under way to a node, or from it, each with the node. */
  *dialogues(): Generator<readonly [client: string, node: string]> {
    const nodes = new Set(this.#owners.values());
    for (const { forward, back, dialler } of this.#open) {
      if (!nodes.has(dialler.name) && (forward.busy || back.busy)) yield [dialler.name, forward.lane.to];
    }
  }

  /**
   * @internal
   * Makes an actor reachable at an address. Throws when the address is in use.
   * @param name what its links are called
   */
  listen(actor: Actor, host: string, port: number, accept: Accept, name: string = actor.name): void {
    const address = addressOf(host, port);
    if (this.#listeners.has(address)) throw new Error(`listen EADDRINUSE: address already in use ${address}`);
    this.#listeners.set(address, { actor, accept });
    this.#owners.set(address, name);
  }

  /**
   * @internal
   * Forwards connections to a port of 127.0.0.1 to the address that `where` returns when they are dialled.
   */
  forward(port: number, where: () => Address): void {
    this.#forwards.set(addressOf('', port), where);
  }

  /** @internal Stops listening there; open connections stay. */
  unlisten(host: string, port: number): void {
    this.#listeners.delete(addressOf(host, port));
  }

  /**
   * @internal
   * Does what the kernel does for a process that died: stops listening, delivers what was sent, and ends the
   * connections. A connection that the process has not accepted, or with a request that it has not read, is reset, which
   * is how a killed redis-server leaves its clients.
   * @param silent true when the machine lost power: nobody is notified
   */
  abandon(actor: Actor, silent = false): void {
    for (const [address, listener] of this.#listeners) {
      if (listener.actor === actor) this.#listeners.delete(address);
    }
    for (const pipes of [...this.#open]) {
      const [out, into] = pipes.dialler === actor ? [pipes.forward, pipes.back] : [pipes.back, pipes.forward];
      if (pipes.dialler !== actor && pipes.listener !== actor) continue;
      this.#open.delete(pipes);
      const { unread } = into;
      into.close();
      if (silent) continue;
      const isRead = !unread && (pipes.dialler === actor || pipes.accepted);
      if (!isRead) out.break();
      else out.leave();
    }
  }

  /** @internal Dials like a client program. The Duplex behaves like the socket of net.createConnection. */
  dial(actor: Actor, host: string, port: number): VirtualSocket {
    const socket = new VirtualSocket(actor, host, port);
    socket.begin(this.open(actor, host, port, false, socket.arrived));
    return socket;
  }

  /**
   * @internal
   * Opens a connection for an end of any kind. Its first message is 'accepted' or 'refused', or 'reset' if the connection breaks before.
   * @param inner true when the end is our own synchronous code
   */
  open(actor: Actor, host: string, port: number, inner: boolean, take: (message: PipeMessage) => void): Ends {
    const dialled = addressOf(host, port);
    const forwarded = this.#forwards.get(dialled)?.();
    const address = forwarded === undefined ? dialled : addressOf(forwarded.host, forwarded.port);
    const target = this.#owners.get(address) ?? address;
    const local = `127.0.0.1:${this.#nextPort++}`;
    const here = `${actor.name}:${local.slice(10)}`;
    const back = new Pipe(this.lane(target, actor.name), `${target}>${here}`, actor, inner, take);
    const forward = new Pipe(
      this.lane(actor.name, target),
      `${here}>${target}`,
      this.#kernel,
      true,
      (message) => {
        if (message === 'open') this.#answer(pipes, address, local);
      },
    );
    const pipes: PipePair = { forward, back, dialler: actor, listener: undefined, accepted: false };
    this.#sweep();
    this.#open.add(pipes);
    const meet = (what: 'lost' | 'last'): void => this.#meet(pipes, what);
    for (const pipe of [forward, back]) pipe.trouble = meet;
    forward.send('open');
    return { out: forward, in: back, local, remote: address, peer: target };
  }

  /**
   * After a lost message, the sender keeps retransmitting for a while. After the last message, nothing comes back any
   * more.
   */
  #meet(pipes: PipePair, what: 'lost' | 'last'): void {
    if (what === 'last') {
      this.#break(pipes, 'reset');
      return;
    }
    const giveUp = new Task(this.#kernel, true, () => {
      if (this.#open.has(pipes)) this.#break(pipes, 'timed out');
    });
    this.#world.schedule.arm(giveUp, this.#world.schedule.micros + PATIENCE);
  }

  /** A connection request has arrived. */
  #answer(pipes: PipePair, address: string, remote: string): void {
    const listener = this.#listeners.get(address);
    if (listener === undefined) {
      pipes.forward.close();
      pipes.back.send('refused');
      return;
    }
    const { actor, accept } = listener;
    pipes.listener = actor;
    const connection = new VirtualConnection({
      out: pipes.back,
      in: pipes.forward,
      local: address,
      remote,
      peer: pipes.dialler.name,
    });
    pipes.forward.handOver(actor, connection.take);
    const { schedule } = this.#world;
    // The kernel completes the handshake, also for a process that stands still. A process that runs answers in its turn: the
    // order of the events of one instant is part of every trace.
    const early = actor.paused;
    if (early) pipes.back.send('accepted');
    const admit = new Task(actor, true, () => {
      if (!early) pipes.back.send('accepted');
      pipes.accepted = true;
      const receiver = accept(connection);
      if (receiver !== undefined) connection.attach(receiver);
    });
    schedule.arm(admit, schedule.micros);
  }

  /** Removes connections that are gone. */
  #sweep(): void {
    for (const pipes of this.#open) {
      if (pipes.forward.closed && pipes.back.closed) this.#open.delete(pipes);
    }
  }
}

/** The domain of the nodes in URLs. It never resolves outside of a world (RFC 6761), where a port of 127.0.0.1 may be anybody's. */
const DOMAIN = '.lostlock.invalid';

/** A URL that leads to a port of the world, and nowhere outside of it. @param name the node's */
export function urlInWorld(name: string, port: number): string {
  return `redis://${name}${DOMAIN}:${port}`;
}

/** A name is an address of its own; the names of the local machine, and of nodes in URLs, are one address. */
function addressOf(host: string, port: number): string {
  const here =
    host === 'localhost' || host === '::1' || host === '0.0.0.0' || host === '' || host.endsWith(DOMAIN);
  return `${here ? '127.0.0.1' : host}:${port}`;
}
