/** WAIT and WAITAOF: clients that wait until enough replicas have acknowledged their writes. */

import type { Millis } from '../../protocol/bytes.ts';
import type { Reply } from '../../protocol/reply.ts';
import { BLOCKED, type Outcome } from '../table/outcome.ts';
import type { Blocking } from './blocking.ts';
import type { Client } from './client.ts';

interface AcknowledgementWaiter {
  readonly client: Client;
  /** What the client is blocked in; once that has timed out, it may be blocked in another WAIT. */
  readonly blocked: Client['blocked'];
  /** Answers when enough have acknowledged. */
  readonly ready: () => Reply | undefined;
}

/** The node, as WAIT sees it. */
interface WaitingNode {
  readonly blocking: Pick<Blocking, 'block' | 'release'>;
  readonly replication: { askForAcknowledgement(): void };
}

export class Waiting {
  readonly #server: WaitingNode;
  readonly #waiters = new Set<AcknowledgementWaiter>();

  constructor(server: WaitingNode) {
    this.#server = server;
  }

  /**
   * Answers at once when `ready` does, else waits for acknowledgements, at most `timeout` milliseconds (0: for ever);
   * then `count` is the answer.
   */
  wait(client: Client, timeout: Millis, ready: () => Reply | undefined, count: () => Reply): Outcome {
    const server = this.#server;
    const now = ready();
    if (now !== undefined) return now;
    const outcome = server.blocking.block(client, { kind: 'wait', timeout, timeoutReply: count });
    if (outcome !== BLOCKED) return outcome;
    this.#waiters.add({ client, blocked: client.blocked, ready });
    server.replication.askForAcknowledgement();
    return BLOCKED;
  }

  /** Answers those whose count is reached; called for every acknowledgement. */
  review(): void {
    for (const waiter of this.#waiters) {
      if (waiter.client.gone || waiter.client.blocked !== waiter.blocked) {
        this.#waiters.delete(waiter);
        continue;
      }
      const reply = waiter.ready();
      if (reply === undefined) continue;
      this.#waiters.delete(waiter);
      this.#server.blocking.release(waiter.client, reply);
    }
  }
}
