/** Postponed requests, whose clients are blocked until they run: CLIENT PAUSE, a slow script, MIGRATE. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { HasHost, Requests, Units } from '../ports.ts';
import type { Blocking } from './blocking.ts';
import type { Client } from './client.ts';

/** The node, as postponed requests see it. */
interface PostponingNode extends HasHost, Requests, Units {
  readonly blocking: Pick<Blocking, 'block' | 'forget'>;
}

/** A queue of postponed requests. Their clients are blocked until the requests run. */
export class PostponedRequests {
  readonly #server: PostponingNode;
  #requests: { readonly client: Client; readonly argv: Bytes[] }[] = [];
  /** How many requests that `runInTurn` has released have not run yet. */
  #due = 0;

  constructor(server: PostponingNode) {
    this.#server = server;
  }

  /** True while requests that `runInTurn` has released have not all run. */
  get running(): boolean {
    return this.#due > 0;
  }

  /** Postpones a request, and blocks its client. */
  keep(client: Client, argv: Bytes[]): void {
    this.#requests.push({ client, argv });
    this.#server.blocking.block(client, { kind: 'pause', timeout: 0, timeoutReply: null });
  }

  /** Runs all requests now, in order of arrival. Requests of closed connections are dropped. */
  run(): void {
    this.#release((client, argv) => this.#execute(client, argv));
  }

  /** Runs each request in an event of its own, in order of arrival. Requests of closed connections are dropped. */
  runInTurn(): void {
    const server = this.#server;
    this.#release((client, argv) => {
      this.#due++;
      server.host.clock.soon(() => {
        this.#due--;
        if (!client.gone) this.#execute(client, argv);
        server.settle();
      });
    });
  }

  #release(run: (client: Client, argv: Bytes[]) => void): void {
    const requests = this.#requests;
    this.#requests = [];
    for (const { client, argv } of requests) {
      if (client.gone) continue;
      this.#server.blocking.forget(client);
      run(client, argv);
    }
  }

  #execute(client: Client, argv: Bytes[]): void {
    this.#server.execute(client, argv);
    this.#server.unblocked(client);
  }
}
