/** Runs a user's command on a node. */
import { inspect } from 'node:util';
import { OwnValue } from '../../keyspace/collections/own-value.ts';
import { dumpValue } from '../../keyspace/rdb/dump.ts';
import { allocate } from '../../protocol/allowance.ts';
import { type Bytes, fromText, toBuffer } from '../../protocol/bytes.ts';
import { fail, WRONGTYPE } from '../../protocol/errors.ts';
import { type Reply, ReplyError, traced } from '../../protocol/reply.ts';
import { propagateFrom } from '../../server/call.ts';
import type { Caller } from '../../server/server.ts';
import { fromReply } from '../control/native-scripts.ts';
import { encodeText, isText } from '../text.ts';
import type { OwnCommand, OwnCommandContext, OwnType } from './own-command.ts';
import { errorReply, isErrorLike, replyOf } from './replies.ts';
import { decodeValue, encodeValue } from './values.ts';

/** What a node needs to know of a command to run it. */
export interface Runnable {
  /** Its name in lower case, which is also the name of the event of its writes. */
  readonly name: Bytes;
  readonly command: OwnCommand;
  readonly type: OwnType;
  readonly isReadonly: boolean;
  /** Calls the user's function that finds the keys, if there is one. Throws what it throws. */
  readonly findKeys?: (argv: readonly Bytes[]) => void;
}

/** Answers a request. */
export function runOwnCommand(runnable: Runnable, client: Caller, argv: Bytes[]): Reply {
  const { scripts } = client.server;
  return scripts.runOwn(client, argv, runnable.isReadonly, () => {
    const raw = argv.slice(1).map(toBuffer);
    const args = raw.map((word) => word.toString());
    let isRunning = true;
    const context = contextOf(runnable, client, raw, () => {
      if (!isRunning)
        throw new Error(
          `lostlock: the command ${runnable.name} has ended; call, value and store work until its function returns`,
        );
    });
    try {
      runnable.findKeys?.(argv);
      return replyOf(runnable.command.run(args, context));
    } catch (error) {
      // Anything but a plain Error is a mistake in the command, not an answer.
      if (!(error instanceof ReplyError) && !(isErrorLike(error) && error.name === 'Error')) {
        const text = isErrorLike(error) ? (error.stack ?? error.message) : String(error);
        client.server.log('warning', fromText(`The command ${runnable.name} threw ${text}`));
      }
      throw errorReply(error);
    } finally {
      isRunning = false;
    }
  });
}

/** @param assertRunning throws when the command has ended */
function contextOf(
  runnable: Runnable,
  client: Caller,
  raw: readonly Buffer[],
  assertRunning: () => void,
): OwnCommandContext {
  const { server } = client;
  return {
    raw,
    now: server.now,
    random: () => server.host.random(),
    call: (...words) => {
      assertRunning();
      const reply = server.scripts.call(words.map((word) => bytesOf('a word for call', word)));
      if (reply instanceof ReplyError) throw traced(new ReplyError(reply.text, true));
      return fromReply(reply);
    },
    value: <V>(key: string | Uint8Array) => {
      assertRunning();
      return valueAt(runnable, client, bytesOf('a key', key)) as V | undefined;
    },
    store: (key, value, { keepTtl = false } = {}) => {
      assertRunning();
      storeAt(runnable, client, { key: bytesOf('a key', key), value, keepTtl });
    },
  };
}

function bytesOf(what: string, value: unknown): Bytes {
  if (!isText(value)) throw new TypeError(`${what} is ${inspect(value, { depth: 0 })}, not text or bytes`);
  return encodeText(value);
}

function valueAt({ type, isReadonly }: Runnable, client: Caller, key: Bytes): unknown {
  client.server.scripts.checkOwnKey(key, false);
  const entry = isReadonly ? client.db.lookup(key) : client.db.find(key);
  if (entry === undefined) return undefined;
  return decodeValue(type, ownIn(entry.held, type).data);
}

/** The value that an entry holds, if it has this type. Throws WRONGTYPE otherwise. */
function ownIn(held: unknown, type: OwnType): OwnValue {
  return held instanceof OwnValue && held.word === fromText(type.name) ? held : fail(WRONGTYPE);
}

function storeAt(
  { name, type }: Runnable,
  client: Caller,
  { key, value, keepTtl }: { readonly key: Bytes; readonly value: unknown; readonly keepTtl: boolean },
): void {
  const { db, server } = client;
  server.scripts.checkOwnKey(key, true);
  server.scripts.beginOwnWrite();
  const entry = db.find(key);
  if (entry !== undefined) ownIn(entry.held, type);
  if (value === undefined) {
    if (!db.remove(key)) return;
    db.changed(key, 'del');
    propagate(client, ['DEL', key]);
    return;
  }
  const encoded = encodeValue(type, value);
  allocate(2 * encoded.data.length);
  const stored = db.put(key, encoded, keepTtl);
  db.changed(key, name);
  const expiresAt = db.expiresAt(stored);
  const payload = dumpValue(encoded, server.rdbFormat);
  propagate(client, ['RESTORE', key, String(expiresAt ?? 0), payload, 'REPLACE', 'ABSTTL']);
}

/** Adds what the command has done to the replication stream, at once: its calls add theirs in the same order. */
function propagate(client: Caller, effect: readonly Bytes[]): void {
  if (client.server.effects.feeding) propagateFrom(client, effect);
}
