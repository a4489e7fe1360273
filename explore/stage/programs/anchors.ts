/** The events of a world as they happen: requests at the links of clients, and acts at resources. Faults wait for them. */
import type { ConnectionTap, NetworkConnection } from '../../../lab/real-clock/network.ts';
import { ReplyScanner } from '../../../lab/real-servers/replies.ts';
import { fromBuffer } from '../../../protocol/bytes.ts';
import { RequestDecoder } from '../../../protocol/decode.ts';
import { type Anchor, isSameEvent } from '../../anchors/anchor.ts';
import { counter, labelOf } from '../../anchors/landmarks.ts';

/** By these, clients introduce themselves and look after their connections. Nothing is struck there. */
const SERVICE =
  /^(HELLO|AUTH|CLIENT|INFO|PING|SELECT|COMMAND|QUIT|ECHO|SUBSCRIBE|UNSUBSCRIBE|PSUBSCRIBE|SCRIPT)$/;

/** Behind these, replies cannot be told from messages. */
const LISTENS = /^(SUBSCRIBE|PSUBSCRIBE|SSUBSCRIBE|MONITOR)$/;

/** The events of one world. */
export class LiveAnchors {
  /** The events so far, in order. */
  readonly seen: Anchor[] = [];
  readonly #isClient: (name: string) => boolean;
  readonly #count = counter();
  #waiting: { readonly anchor: Anchor; readonly reached: () => void }[] = [];

  constructor(isClient: (name: string) => boolean) {
    this.#isClient = isClient;
  }

  /** Resolves when the event happens. */
  wait(anchor: Anchor): Promise<void> {
    return new Promise((reached) => this.#waiting.push({ anchor, reached }));
  }

  /** A client has acted at a resource. Settles when the faults that wait for that have begun. */
  acted(client: string, what: string, of: string): Promise<void> {
    const nth = this.#count(`${client} ${what} ${of}`);
    return this.#reached({ client, what, of, nth, side: '', later: 0 }) ?? Promise.resolve();
  }

  #reached(anchor: Anchor): Promise<void> | undefined {
    this.seen.push(anchor);
    const struck = this.#waiting.filter((each) => isSameEvent(each.anchor, anchor));
    if (struck.length === 0) return undefined;
    this.#waiting = this.#waiting.filter((each) => !struck.includes(each));
    for (const { reached } of struck) reached();
    return begun();
  }

  /** What watches a connection: requests and replies wait while a fault begins. */
  holder(connection: NetworkConnection): Pick<ConnectionTap, 'asking' | 'answering'> | undefined {
    const { from: client } = connection;
    if (!this.#isClient(client)) return undefined;
    const decoder = new RequestDecoder({ maxBulk: Number.MAX_SAFE_INTEGER, authenticated: true });
    const scanner = new ReplyScanner();
    const open: (Anchor | undefined)[] = [];
    let listens = false;
    const all = (waits: readonly (Promise<void> | undefined)[]): Promise<void> | undefined =>
      waits.every((each) => each === undefined) ? undefined : Promise.all(waits).then(() => {});
    return {
      asking: (bytes) => {
        if (listens) return undefined;
        const waits: (Promise<void> | undefined)[] = [];
        decoder.write(bytes);
        for (let argv = decoder.next(); argv !== undefined; argv = decoder.next()) {
          const { what, of } = labelOf(argv);
          if (LISTENS.test(what)) listens = true;
          if (SERVICE.test(what)) {
            open.push(undefined);
            continue;
          }
          const nth = this.#count(`${client} ${what} ${of}`);
          const anchor: Anchor = { client, what, of, nth, side: 'sent', later: 0 };
          open.push(anchor);
          waits.push(this.#reached(anchor));
        }
        return all(waits);
      },
      answering: (bytes) => {
        if (listens) return undefined;
        const replies = scanner.take(fromBuffer(bytes));
        return all(
          replies.map(() => {
            const anchor = open.shift();
            return anchor === undefined ? undefined : this.#reached({ ...anchor, side: 'executed' });
          }),
        );
      },
    };
  }
}

/** Settles when what waited for an event has begun: its promises run before the next turn of the event loop but one. */
function begun(): Promise<void> {
  return new Promise((done) => setImmediate(() => setImmediate(done)));
}
