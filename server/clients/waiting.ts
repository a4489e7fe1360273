/** WAIT and WAITAOF: clients that wait until enough replicas have acknowledged their writes. */

import type { Millis } from '../../protocol/bytes.ts';
import type { Reply } from '../../protocol/reply.ts';
import { GATE_PAUSED } from '../gates.ts';
import type { Gated } from '../ports.ts';
import { BLOCKED, type Outcome } from '../table/outcome.ts';
import type { Blocking } from './blocking.ts';
import type { Client } from './client.ts';

interface AcknowledgementWaiter {
  readonly client: Client;
  /** The wait that the client is blocked in. After a timeout the client may be blocked in another WAIT. */
  readonly blocked: Client['blocked'];
  /** Returns the reply once enough replicas have acknowledged. */
  readonly ready: () => Reply | undefined;
}

/** The node, as WAIT sees it. */
interface WaitingNode extends Pick<Gated, 'state'> {
  readonly role: 'primary' | 'replica';
  readonly blocking: Pick<Blocking, 'block' | 'release'>;
  readonly replication: { askForAcknowledgement(): void };
  readonly pausing: { readonly releasing: boolean };
}

/** The clients that wait for acknowledgements (https://redis.io/docs/latest/commands/wait/). */
export class Waiting {
  readonly #server: WaitingNode;
  readonly #waiters = new Set<AcknowledgementWaiter>();
  // A client has begun to wait, and the replicas have not been asked yet.
  #asks = false;

  constructor(server: WaitingNode) {
    this.#server = server;
  }

  /**
   * Waits for acknowledgements.
   * @param timeout the longest wait in milliseconds; 0: no limit
   * @param ready returns the reply once enough replicas have acknowledged; asked first, so the reply may come at once
   * @param count returns the reply on timeout
   */
  wait(client: Client, timeout: Millis, ready: () => Reply | undefined, count: () => Reply): Outcome {
    const server = this.#server;
    const now = ready();
    if (now !== undefined) return now;
    const outcome = server.blocking.block(client, { kind: 'wait', timeout, timeoutReply: count });
    if (outcome !== BLOCKED) return outcome;
    this.#waiters.add({ client, blocked: client.blocked, ready });
    this.#asks = true;
    return BLOCKED;
  }

  /**
   * Asks the replicas if a client has begun to wait. Called at the end of every event, so that the question is asked once
   * for all, and comes after the offset that each of them waits for. It is put off while the node is paused, and until the
   * requests that the pause held have run: those among them that wait must not wait for the question itself.
   */
  askOnce(): void {
    const server = this.#server;
    if (!this.#asks || (server.state & GATE_PAUSED) !== 0 || server.pausing.releasing) return;
    this.#asks = false;
    if (server.role === 'primary') server.replication.askForAcknowledgement();
  }

  /** Answers the clients whose replies are ready. Called for every acknowledgement. */
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
