/** When a primary sends its replicas a PING down the stream, so that they know that it is alive. */
import type { Millis } from '../../protocol/bytes.ts';
import type { Dialect } from '../dialects/dialect.ts';

/** The node, as its pings see it. */
interface PingingNode {
  readonly now: Millis;
  readonly dialect: Pick<Dialect, 'pings'>;
  readonly settings: { readonly 'repl-ping-replica-period': number };
}

/** The pings of one primary. */
export class Pings {
  readonly #server: PingingNode;
  #beganAt: Millis = 0;
  /** When the stream grew last; 0: never. */
  #grewAt: Millis = 0;

  constructor(server: PingingNode) {
    this.#server = server;
  }

  /** A period begins: the first replica has come, or a PING is sent. */
  begin(now: Millis): void {
    this.#beganAt = now;
  }

  /** The stream has grown, or its place is taken by a primary's. */
  grew(): void {
    this.#grewAt = this.#server.now;
  }

  get due(): boolean {
    const { dialect, now, settings } = this.#server;
    const since = dialect.pings === 'when idle' ? this.#grewAt : this.#beganAt;
    return now - since >= settings['repl-ping-replica-period'] * 1000;
  }
}
