/** What scripts need from the server that they run in. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Reply } from '../../protocol/reply.ts';
import type { Random48 } from './random48.ts';
import type { ScriptTexts } from './texts.ts';

/** The server, as a script sees it. */
export interface ScriptHost {
  /** Runs a command. An error is returned as a ReplyError, not thrown. Null arrays become null. */
  call(argv: Bytes[]): Reply;
  /** redis.log. @param level 0 (debug) to 3 (warning) */
  log(level: number, text: Bytes): void;
  /** redis.setresp: the protocol version of the replies of `call` from now on. */
  setProtocol(version: 2 | 3): void;
  /** redis.acl_check_cmd: whether the user may run the command, or how the error begins. */
  allowed(argv: Bytes[]): boolean | Bytes;
  /** redis.set_repl. @param targets a set of REPL_AOF (1) and REPL_REPLICA (2) */
  setReplication(targets: number): void;
  /** Prints doubles in replies for which RESP2 has no type. The default prints as Redis 7.0 does. */
  printDouble?(value: number): Bytes;
  /** Prints a number as a command's argument, unless it is an integer below 2^53. The default prints as Redis 7.0 does. */
  printArgument?(value: number): Bytes;
  /** What the server words in its own way. The default is as in Redis 7.0. */
  readonly texts?: ScriptTexts;
  /** The seconds of some clock, for os.clock. Scripts have no table `os` if it is missing. */
  seconds?: (() => number) | undefined;
  /** The node's generator behind math.random. As in Redis, it continues from one script to the next. */
  readonly random: Random48;
}
