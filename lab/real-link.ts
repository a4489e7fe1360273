/** The way from a primary to a replica on the real clock: what arrives at the replica's end passes a gate in each direction. */
import type { Bytes } from '../protocol/bytes.ts';
import type { Connection, Host, Receiver } from '../server/host.ts';

/** One direction. What is held waits, in order. */
export class Gate {
  #held = false;
  #cut = false;
  #waiting: (() => void)[] = [];

  /** Messages that wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  hold(): void {
    this.#held = true;
  }

  release(): void {
    this.#held = false;
    this.#open();
  }

  partition(): void {
    this.#cut = true;
  }

  heal(): void {
    this.#cut = false;
    this.#open();
  }

  #open(): void {
    while (!this.#held && !this.#cut) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      next();
    }
  }

  /** Lets a message through, now or when the gate opens. */
  pass(message: () => void): void {
    this.#waiting.push(message);
    this.#open();
  }
}

/** Commands travel one way, acknowledgements the other. */
export class RealLink {
  readonly commands = new Gate();
  readonly acks = new Gate();

  /** Replication stops reaching the replica; what is sent waits. */
  hold(): void {
    this.commands.hold();
  }

  /** Everything that was held arrives. */
  release(): void {
    this.commands.release();
  }

  /** Nothing passes in either direction, dialling included. */
  partition(): void {
    this.commands.partition();
    this.acks.partition();
  }

  heal(): void {
    this.commands.heal();
    this.acks.heal();
  }

  /** The host, with its outward connections led over this link. */
  around(host: Host): Host {
    return {
      ...host,
      connect: (address, port, receiver, opened) => {
        this.acks.pass(() => {
          host.connect(address, port, this.#arriving(receiver), (connection) =>
            opened(this.#leaving(connection)),
          );
        });
      },
    };
  }

  #arriving(receiver: Receiver): Receiver {
    return {
      receive: (chunk) => {
        const kept = Uint8Array.from(chunk);
        this.commands.pass(() => receiver.receive(kept));
      },
      closed: () => this.commands.pass(() => receiver.closed()),
    };
  }

  #leaving(connection: Connection): Connection {
    return {
      remote: connection.remote,
      local: connection.local,
      pending: 0,
      send: (bytes: Bytes) => this.acks.pass(() => connection.send(bytes)),
      close: () => connection.close(),
      abort: () => connection.abort(),
      pause: () => connection.pause(),
      resume: () => connection.resume(),
    };
  }
}
