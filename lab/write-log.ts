/** What a primary has promised to whom: every write with its offset, and whether its reply has reached the client. */
import { type Held, type TypeName, typeOf } from '../keyspace/value.ts';
import type { Bytes, Millis } from '../protocol/bytes.ts';
import { findKeys } from '../server/command-info.ts';
import type { Connection } from '../server/host.ts';
import type { Effect, Server } from '../server/server.ts';

/** One write, on one key. */
export interface Write {
  readonly db: number;
  readonly key: Bytes;
  /** What the key held afterwards; 'none' when it was gone. */
  readonly type: TypeName | 'none';
  /** The string's value or the hash's first field: who holds the lock, in every common layout. A string edited in place is no lock. */
  readonly holder: Bytes | undefined;
  /** As it entered the replication stream: with an absolute deadline, scripts by their effects. */
  readonly command: readonly Bytes[];
  /** The stream's offset behind it. */
  readonly offset: number;
  /** Whose connection it came in on; undefined for what the node did by itself, as when a key expires. */
  readonly client: string | undefined;
  /** The node's clock when it was executed. */
  readonly at: Millis;
}

/** A connection of a lab node: it knows who is at its far end, and what has been taken there. */
export interface Watched {
  /** The name of the party at the other end; undefined when it has none. */
  readonly peer: string | undefined;
  /** Calls back after the next `send`, with the position at which it ends. */
  afterNextSend(told: (position: number) => void): void;
  /** True when the far end has taken everything up to the position. */
  delivered(position: number): boolean;
}

function isWatched(connection: Connection | undefined): connection is Connection & Watched {
  return connection !== undefined && 'afterNextSend' in connection;
}

/** How to find out whether the reply to a write has arrived; not among what tests see of it. */
const answers = new WeakMap<Write, () => boolean>();

/** True when the client that asked for the write has its reply. */
export function isAnswered(write: Write): boolean {
  return answers.get(write)?.() ?? false;
}

/** More than this is not remembered. */
const KEPT = 50_000;

/** The writes of one primary's term, and those of earlier terms that it inherited. */
export class WriteLog {
  #writes: Write[] = [];

  /** The writes, oldest first. */
  get writes(): readonly Write[] {
    return this.#writes;
  }

  /** Notes every write that the server takes into its replication stream from now on. */
  watch(server: Server): void {
    const { replication } = server;
    const feed = replication.feed.bind(replication);
    replication.feed = (effects, atomic) => {
      feed(effects, atomic);
      this.#record(server, effects);
    };
    const adopt = replication.adopt.bind(replication);
    replication.adopt = (id, offset) => {
      adopt(id, offset);
      // A full resync has replaced the data, and with them all that the node ever took itself.
      this.#writes = [];
    };
  }

  /** Starts a term: with the former primary's writes up to the offset that both have, and our own behind it. */
  inherit(former: WriteLog, shared: number): void {
    const own = this.#writes.filter(({ offset }) => offset > shared);
    this.#writes = [...former.#writes.filter(({ offset }) => offset <= shared), ...own];
  }

  #record(server: Server, effects: readonly Effect[]): void {
    const answered = followReply(server);
    const client = server.running?.connection;
    const name = (isWatched(client) ? client.peer : undefined) ?? (server.running?.name || undefined);
    for (const { db, argv } of effects) {
      for (const key of keysOf(server, argv)) {
        const value = server.db(db).entries.get(key)?.held;
        const write: Write = {
          db,
          key,
          type: value === undefined ? 'none' : typeOf(value),
          holder: holderOf(value),
          command: argv,
          offset: server.replication.offset,
          client: name,
          at: server.now,
        };
        answers.set(write, answered);
        this.#writes.push(write);
      }
    }
    if (this.#writes.length > 2 * KEPT) this.#writes.splice(0, KEPT);
  }
}

/** A function that tells whether the reply to the running request has arrived. */
function followReply(server: Server): () => boolean {
  const connection = server.running?.connection;
  if (!isWatched(connection)) return () => false;
  let position: number | undefined;
  connection.afterNextSend((end) => {
    position = end;
  });
  return () => position !== undefined && connection.delivered(position);
}

function keysOf(server: Server, argv: readonly Bytes[]): Bytes[] {
  const command = server.commands.get(argv[0] as Bytes);
  const found = command === undefined ? undefined : findKeys(command, argv);
  return (found ?? []).map(({ at }) => argv[at] as Bytes);
}

function holderOf(value: Held | undefined): Bytes | undefined {
  if (value === undefined || typeof value === 'string') return value;
  if (value.type !== 'hash') return undefined;
  for (const [field] of value.entries()) return field;
  return undefined;
}
