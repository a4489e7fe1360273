/** What a script may ask of the server it runs in. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Reply } from '../../protocol/reply.ts';
import type { Random48 } from './random48.ts';

/** The server, as a script sees it. */
export interface ScriptHost {
  /** Runs a command; a failure comes back as a ReplyError, it is not thrown. Null arrays count as null. */
  call(argv: Bytes[]): Reply;
  /** redis.log: the level is 0 (debug) to 3 (warning). */
  log(level: number, text: Bytes): void;
  /** redis.setresp: the protocol that `call` shall answer in from here on. */
  setProtocol(version: 2 | 3): void;
  /** redis.acl_check_cmd: whether the user may run it; undefined for an unknown command. */
  allowed(argv: Bytes[]): boolean | undefined;
  /** redis.set_repl: a set of REPL_AOF (1) and REPL_REPLICA (2). */
  setReplication(targets: number): void;
  /** How doubles are printed in replies that RESP2 has no type for; as Redis 7.0 does by default. */
  printDouble?(value: number): Bytes;
  /** How a number becomes a command's argument, unless it is a whole one below 2^53; as in Redis 7.0 by default. */
  printArgument?(value: number): Bytes;
  /** The node's own generator behind math.random; it goes on from script to script, as in Redis. */
  readonly random: Random48;
}
