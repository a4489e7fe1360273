/** The link from a Sentinel to one node: a connection for commands, one for hello messages, and what is known of its health. */
import type { Bytes, Millis } from '../protocol/bytes.ts';
import type { Reply } from '../protocol/reply.ts';
import type { Outgoing } from './connection.ts';

/** A link. Sentinels that monitor several primaries together share one link; other nodes have one each. */
export class Link {
  /** How many instances share the link. */
  users = 1;
  /** True until both connections are being established, and when one is lost. */
  disconnected = true;
  /** Requests without a reply so far. */
  pending = 0;
  command: Outgoing | undefined;
  hello: Outgoing | undefined;
  /** When the connections were dialled. */
  commandSince: Millis = 0;
  helloSince: Millis = 0;
  /** When the connection for hello messages last received anything. */
  helloHeardAt: Millis = 0;
  /** When the node last gave an acceptable reply to PING. */
  availableAt: Millis;
  /** When the first PING without a reply was sent; 0 if every PING was answered. */
  unansweredSince: Millis;
  pingedAt: Millis = 0;
  /** When the node last answered a PING, in whatever way. */
  pongAt: Millis;
  dialledAt: Millis = 0;

  /** @param now the time counts as the last sign of life, so that a node that never answers is noticed */
  constructor(now: Millis) {
    this.availableAt = now;
    this.unansweredSince = now;
    this.pongAt = now;
  }

  /** Forgets what is known of the node's health. */
  reset(now: Millis): void {
    this.availableAt = now;
    this.unansweredSince = now;
    this.pingedAt = 0;
    this.pongAt = now;
  }

  /** Sends a request on the connection for commands. Returns false if there is none. */
  send(argv: readonly Bytes[], answered?: (reply: Reply) => void): boolean {
    const { command } = this;
    if (command === undefined) return false;
    this.pending++;
    command.send(argv, (reply) => {
      this.pending--;
      answered?.(reply);
    });
    return true;
  }

  /** Closes the connection for commands. It is dialled again. */
  closeCommand(): void {
    if (this.command === undefined) return;
    this.command.close();
    this.command = undefined;
    this.pending = 0;
    this.disconnected = true;
  }

  /** Closes the connection for hello messages. It is dialled again. */
  closeHello(): void {
    if (this.hello === undefined) return;
    this.hello.close();
    this.hello = undefined;
    this.disconnected = true;
  }

  /** Closes both connections. They are dialled again if the instance is still monitored. */
  close(): void {
    this.closeCommand();
    this.closeHello();
  }

  /** One instance no longer uses the link. Closes it if nobody else does. */
  release(): void {
    this.users--;
    if (this.users === 0) this.close();
  }
}
