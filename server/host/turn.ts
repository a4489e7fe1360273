/**
 * One turn of the event loop, as all sockets of a thread share it: received chunks are handed over in order of arrival, and
 * output leaves at the end.
 */
import type { Receiver } from './host.ts';
import { realSoon } from './real-time.ts';

/** A connection with output that waits for the end of the turn. */
interface Unsent {
  /** Hands over the waiting output. */
  flush(): void;
}

/**
 * Connections whose output waits until every ready socket has been read, as in redis-server, so that a client wakes up
 * once for many replies. There is one list for each received chunk, in the order in which the server hands output over.
 * The lists are sent last in, first out (server/clients/outbox.ts).
 */
let unsent: Unsent[][] = [];

/** Those of them that belong to replicas. */
let streams: Unsent[] = [];

/** True when the next output belongs to a new chunk. */
let isNewChunk = true;

/** A chunk that waits, or the end of a connection behind such a chunk. */
interface Kept {
  readonly inlet: Inlet;
  readonly content: Uint8Array | (() => void);
  /** The turn in which it was read. */
  readonly turn: number;
}

/** What has been read and not handed over, in order of arrival. */
let kept: Kept[] = [];

/** The number of the current turn. Turns in which nothing is scheduled are not counted. */
let turn = 0;

/** The last turn in which a client was read that waits since then. Whether it has left is not known before the next turn. */
let waitingSince = -1;

let isScheduled = false;

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  realSoon(endTurn);
}

/**
 * A socket that is read: its chunks and its end reach the receiver in order.
 *
 * A client that waits, in BLPOP or for messages, may have left: its end was sent before another client's push, and libuv reads
 * it after the push. Its socket cannot be asked. (`fs.readSync` on its descriptor can tell, but takes 15 microseconds when
 * nothing has ended.) So while a client waits, chunks are kept until every ready socket has been read. If the waiting client's own
 * socket was read in this turn, they are kept for one turn more, because libuv reads a socket once in a turn.
 */
export class Inlet {
  readonly #receiver: Receiver;
  /** How many of its chunks are kept. */
  #kept = 0;
  #isClosed = false;

  constructor(receiver: Receiver) {
    this.#receiver = receiver;
  }

  /**
   * A chunk was read.
   * @param isShared whether the chunk's memory is written again after the call
   */
  read(chunk: Uint8Array, isShared: boolean): void {
    const { comesFirst, othersWait } = this.#receiver;
    if (this.#kept === 0 && (comesFirst === true || (kept.length === 0 && othersWait !== true))) {
      this.#pass(chunk, turn);
      return;
    }
    this.#kept++;
    kept.push({ inlet: this, content: isShared ? Buffer.from(chunk) : chunk, turn });
    schedule();
  }

  /**
   * Nothing more can be read. May be called more than once.
   * @param first is called once before the receiver learns of it, when what was read before has been handed over
   */
  closed(first = (): void => {}): void {
    if (this.#kept === 0) this.#end(first);
    else kept.push({ inlet: this, content: first, turn });
  }

  /** Hands over what was kept. */
  handOver({ content, turn }: Kept): void {
    if (typeof content === 'function') {
      this.#end(content);
      return;
    }
    this.#kept--;
    this.#pass(content, turn);
  }

  #pass(chunk: Uint8Array, readIn: number): void {
    isNewChunk = true;
    this.#receiver.receive(chunk);
    isNewChunk = true;
    if (this.#receiver.waits !== true) return;
    waitingSince = Math.max(waitingSince, readIn);
    if (readIn === turn) schedule();
  }

  #end(first: () => void): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    first();
    this.#receiver.closed();
  }
}

/** Runs when every ready socket has been read. */
function endTurn(): void {
  isScheduled = false;
  let at = 0;
  try {
    while (at < kept.length && waitingSince < turn) {
      const next = kept[at++]!;
      next.inlet.handOver(next);
    }
  } finally {
    kept = kept.slice(at);
    turn++;
    if (kept.length > 0) schedule();
    sendAll();
  }
}

/**
 * Takes a place in the order of writes. A connection's place is that of its first output.
 * @param isStream whether it belongs to a replica
 */
export function addOutput(connection: Unsent, isStream: boolean): void {
  if (unsent.length === 0) schedule();
  if (isNewChunk) unsent.push([]);
  isNewChunk = false;
  unsent.at(-1)!.push(connection);
  if (isStream) streams.push(connection);
}

/**
 * Sends all waiting output now. When several chunks were read, replicas come first: the reply to a later chunk would leave
 * before the stream that has its write, which waits in the list of an earlier chunk, and the client could read an old value
 * from a replica.
 */
export function sendAll(): void {
  const [lists, first] = [unsent, streams];
  unsent = [];
  streams = [];
  isNewChunk = true;
  if (lists.length > 1) for (const connection of first) connection.flush();
  for (let at = lists.length - 1; at >= 0; at--) for (const connection of lists[at]!) connection.flush();
}
