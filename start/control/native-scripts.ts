/** TypeScript functions that replace Lua scripts; converts between text and byte strings. */

import { badOption, checkString } from '../../base/options.ts';
import { fromText } from '../../protocol/bytes.ts';
import { Double, type Reply, ReplyError, SimpleString } from '../../protocol/reply.ts';
import type { Server } from '../../server/server.ts';
import type { Text } from '../dataset.ts';
import { decodeText, encodeText, type TextLike } from '../text.ts';

/** The reply of a command to a native script, and what a native script may return. */
export type NativeReply = null | boolean | bigint | TextLike | readonly NativeReply[];

/**
 * A function that replaces a Lua script.
 * @param keys the script's KEYS
 * @param argv the script's ARGV
 * @param call runs a command and returns its reply; throws an Error with Redis' text when the command fails
 */
export type NativeScript = (
  keys: readonly Text[],
  argv: readonly Text[],
  call: (...words: TextLike[]) => NativeReply,
) => NativeReply;

/** Registers functions that replace Lua scripts on one server. */
export class ScriptRegistry {
  #server: Server;
  readonly #assertRunning: () => void;
  readonly #registered = new Map<string, NativeScript>();

  /** @internal @param assertRunning throws when the server has stopped */
  constructor(server: Server, assertRunning: () => void) {
    this.#server = server;
    this.#assertRunning = assertRunning;
  }

  /** @internal Registers the functions on another node, and later ones too. */
  attach(server: Server): void {
    this.#server = server;
    for (const [script, run] of this.#registered) this.#add(script, run);
  }

  /**
   * Runs the function whenever a client runs the script: EVAL with this text, or EVALSHA with its SHA-1. SCRIPT FLUSH
   * does not remove it. Throws TypeError for a wrong argument, and Error when the server has stopped.
   * @param script the script's text, or its SHA-1 in hexadecimal
   * @param run the function to call instead
   */
  register(script: string, run: NativeScript): void {
    this.#assertRunning();
    checkString('scripts.register', script);
    if (typeof run !== 'function') throw badOption('scripts.register', run, 'a function (keys, argv, call)');
    this.#registered.set(script, run);
    this.#add(script, run);
  }

  #add(script: string, run: NativeScript): void {
    this.#server.scripts.register(fromText(script), (keys, argv, call) =>
      toReply(
        run(keys.map(decodeText), argv.map(decodeText), (...words) =>
          fromReply(call(...words.map(encodeText))),
        ),
      ),
    );
  }
}

/** A reply as plain values. Throws ReplyError for an error. */
export function fromReply(reply: Reply): NativeReply {
  if (typeof reply === 'string') return decodeText(reply);
  if (reply === null || typeof reply !== 'object') return reply;
  if (reply instanceof ReplyError) throw reply;
  if (reply instanceof SimpleString) return decodeText(reply.text);
  if (reply instanceof Double) return reply.value;
  if ('items' in reply) return reply.items === null ? null : reply.items.map(fromReply);
  if (Array.isArray(reply)) return reply.map(fromReply);
  return 'text' in reply ? decodeText(reply.text) : null;
}

function toReply(reply: NativeReply): Reply {
  if (reply === null || typeof reply === 'bigint') return reply;
  // Results are converted as Lua's are: true becomes 1, false becomes null, and fractions are cut off.
  if (typeof reply === 'boolean') return reply ? 1 : null;
  if (typeof reply === 'number') return Math.trunc(reply);
  if (typeof reply === 'object' && !(reply instanceof Uint8Array)) return reply.map(toReply);
  return encodeText(reply);
}
