/** Commands of a user's own: how they are declared, and what they are given when they run. */
import type { NativeReply } from '../control/native-scripts.ts';
import type { TextLike } from '../text.ts';

/** What a command may have among its flags, with Redis' meanings. */
export type OwnFlag =
  | 'write'
  | 'readonly'
  | 'denyoom'
  | 'admin'
  | 'pubsub'
  | 'noscript'
  | 'loading'
  | 'stale'
  | 'skip_monitor'
  | 'skip_slowlog'
  | 'fast'
  | 'no_auth'
  | 'no_multi';

/**
 * Where the keys of a request are. Positions count as in COMMAND INFO: the command's name is at 0. A number is the position of
 * the only key. Three numbers are the first key, the last one (negative: from the end), and the step. `{ count }` is the position
 * of a number of keys, which follow it. A function returns the positions of the keys of one request, the name first among its words;
 * an Error that it throws is the command's answer.
 */
export type OwnKeys =
  | number
  | readonly [first: number, last: number, step: number]
  | { readonly count: number }
  | ((words: readonly string[]) => readonly number[]);

/** A type of values. Values are kept as bytes: what a command is given is a new value each time. */
export interface OwnType<V = unknown> {
  /** The word that TYPE reports, such as 'ReJSON-RL'. */
  readonly name: string;
  /** Returns a value as text or bytes. By default JSON, which takes plain values alone. */
  encode?(value: V): string | Uint8Array;
  /** Returns the value of what `encode` has returned. */
  decode?(data: Buffer): V;
}

/**
 * What a command answers: text or bytes (a bulk string), a whole number (an integer), another number (a double), true or false,
 * null or undefined (nil), a status (`{ ok: 'OK' }`), an Error (an error reply), or an array, a Set or a Map of these.
 */
export type OwnReply =
  | undefined
  | null
  | boolean
  | bigint
  | TextLike
  | Error
  | { readonly ok: string }
  | readonly OwnReply[]
  | ReadonlySet<OwnReply>
  | ReadonlyMap<OwnReply, OwnReply>;

/** What a command has while it runs. */
export interface OwnCommandContext {
  /**
   * Runs another command, as redis.call does in a script, and returns its reply of RESP2. Throws an Error with Redis' text when the
   * command fails or is not allowed.
   */
  readonly call: (name: string, ...words: TextLike[]) => NativeReply;
  /** Returns the value at a key; undefined if there is none. Throws WRONGTYPE if the key has another type than the command's. */
  readonly value: <V = unknown>(key: string | Uint8Array) => V | undefined;
  /**
   * Stores a value of the command's type at a key; undefined removes the key. A key that has a TTL loses it, unless `keepTtl` is
   * true. Throws WRONGTYPE if the key has another type, READONLY on a replica, and so on, and Error for a value that the type
   * cannot encode.
   */
  readonly store: (
    key: string | Uint8Array,
    value: unknown,
    options?: { readonly keepTtl?: boolean },
  ) => void;
  /** The arguments as bytes. */
  readonly raw: readonly Buffer[];
  /** The server's time in milliseconds since 1970. It stands still while the command runs. */
  readonly now: number;
  /** Returns a random number from 0 up to, but not including, 1. In a world of the lab the seed decides it. */
  readonly random: () => number;
}

/** A command that a user registers. */
export interface OwnCommand {
  /** The number of words with the command's name; negative: at least this many. */
  readonly arity: number;
  /** Where the keys are; by default a request has none. */
  readonly keys?: OwnKeys;
  /**
   * Redis' flags. By default none: then the command may read and write, and a write is refused where it is not allowed, for
   * example on a replica. With 'readonly' it cannot write, and with 'write' it is refused before it runs.
   */
  readonly flags?: readonly OwnFlag[];
  /** ACL categories besides those that follow from the flags, without the at sign: Redis' or others. */
  readonly categories?: readonly string[];
  /** The type of its values, or the word for it. By default the part of the command's name before the first dot. */
  readonly type?: string | OwnType;
  /** One sentence, for COMMAND DOCS. */
  readonly summary?: string;
  /** Since which version of what it copies, for COMMAND DOCS; default '1.0.0'. */
  readonly since?: string;
  /** Its time complexity, for COMMAND DOCS. */
  readonly complexity?: string;
  /**
   * Answers a request, at once: it may not be async. An Error that it throws becomes an error reply; the code ERR is added to a
   * message without one.
   * @param args the words after the command's name, as text
   */
  run(args: readonly string[], context: OwnCommandContext): OwnReply;
}

/** Commands by their names, such as 'json.get'. */
export type OwnCommands = Readonly<Record<string, OwnCommand>>;
