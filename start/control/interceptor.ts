/** Rules that answer, delay or break chosen requests, so that a test can see how a client copes. */

import { badOption, checkInteger, checkNames, checkString } from '../../base/options.ts';
import { nearest } from '../../base/similar.ts';
import { asciiLower, type Bytes, fromText } from '../../protocol/bytes.ts';
import { type Reply, ReplyError } from '../../protocol/reply.ts';
import { REPLY_SKIP } from '../../server/clients/client.ts';
import type { Caller, Server } from '../../server/server.ts';
import { decodeText, encodeText, isText, type TextLike } from '../text.ts';
import { type InterceptedRequest, Recorder, type RequestRecording } from './recording.ts';
import { Replies } from './replies.ts';

/** Which requests a rule applies to. An omitted field matches every request. */
export interface RequestFilter {
  /**
   * The command's name in any case, with a subcommand as 'client list' or 'client|list'. A name with a dot is accepted
   * even if no such command exists: a rule can answer a module's command, such as 'json.get'.
   */
  readonly command?: string;
  /** A word that must be among the arguments, such as a key. */
  readonly argument?: string;
  /** The CLIENT SETNAME name of the connection. */
  readonly client?: string;
  /** A predicate that must return true. */
  readonly when?: (request: InterceptedRequest) => boolean;
  /** Act only on the n-th matching request, counted from 1. By default the rule acts on every match. */
  readonly nth?: number;
}

/**
 * What happens to a matching request:
 * - `{ reply }`: it is not executed, and the client receives this reply (null, a number, text, or an array of those).
 * - `{ error }`: it is not executed, and the client receives this error, code first ('OOM command not allowed').
 * - `{ delayMs }`: it is executed after this many milliseconds; later requests of the connection wait behind it.
 * - `'disconnect'`: it is not executed, and the connection is reset.
 * - `'drop-reply'`: it is executed, but the reply is never sent.
 * - `'disconnect-after'`: it is executed, and the connection is reset instead of replying.
 */
export type Intervention =
  | { readonly reply: InterceptedReply }
  | { readonly error: string }
  | { readonly delayMs: number }
  | 'disconnect'
  | 'drop-reply'
  | 'disconnect-after';

/** A reply that a rule gives: null, a number, text, bytes, or an array of those. */
export type InterceptedReply = null | TextLike | readonly InterceptedReply[];

/** A rule that has been added. */
export interface Interception {
  /** How many requests have matched so far. */
  readonly matches: number;
  /** How many requests the rule has acted on. */
  readonly hits: number;
  /** Removes the rule. */
  remove(): void;
}

interface InterceptRule {
  readonly filter: RequestFilter;
  /** The filter's command in ACL notation: 'client|list' for CLIENT LIST. */
  readonly command: Bytes | undefined;
  readonly act: Intervention;
  matches: number;
  hits: number;
}

const FILTERS = ['command', 'argument', 'client', 'when', 'nth'];
const WORDS: readonly unknown[] = ['disconnect', 'drop-reply', 'disconnect-after'];

/** The rules of one server, in the order in which they were added. The first rule that acts on a request wins. */
export class Interceptor {
  #server: Server;
  readonly #rules = new Set<InterceptRule>();
  readonly #recorders = new Set<Recorder>();
  readonly #replies = new Replies();

  constructor(server: Server) {
    this.#server = server;
  }

  /** Watches another node from now on, with the same rules and recordings. */
  attach(server: Server): void {
    this.#server = server;
    this.#update();
  }

  /** Begins to record the requests. @param most how many it keeps at least: the newest ones */
  record(most = Infinity): RequestRecording {
    const recorder = new Recorder(() => {
      this.#recorders.delete(recorder);
      this.#update();
    }, most);
    this.#recorders.add(recorder);
    this.#update();
    return recorder;
  }

  /** Looks at requests only while somebody asks for it. */
  #update(): void {
    const isNeeded = this.#rules.size + this.#recorders.size > 0;
    this.#server.interceptor = isNeeded ? (client, argv) => this.#intercept(client, argv) : undefined;
    this.#server.observer.watcher = this.#recorders.size > 0 ? this.#replies : undefined;
  }

  #record(client: Caller, request: InterceptedRequest): void {
    const entry = this.#replies.open(client, request, this.#server.host.clock.now());
    for (const recorder of this.#recorders) recorder.add(entry);
  }

  /** Adds a rule. Throws TypeError for an unknown filter or intervention. */
  add(filter: RequestFilter, act: Intervention): Interception {
    check(filter, act);
    const command = filter.command === undefined ? undefined : nameOf(this.#server, filter.command);
    const rule: InterceptRule = { filter, command, act, matches: 0, hits: 0 };
    this.#rules.add(rule);
    this.#update();
    return {
      get matches() {
        return rule.matches;
      },
      get hits() {
        return rule.hits;
      },
      remove: () => {
        this.#rules.delete(rule);
        this.#update();
      },
    };
  }

  #intercept(client: Caller, argv: Bytes[]): boolean {
    const request: InterceptedRequest = {
      command: asciiLower(argv[0] ?? ''),
      args: argv.slice(1).map(decodeText),
      client: { id: client.id, name: client.name },
    };
    if (this.#recorders.size > 0) this.#record(client, request);
    for (const rule of this.#rules) {
      if (!matches(rule, request)) continue;
      rule.matches++;
      if (rule.filter.nth !== undefined && rule.filter.nth !== rule.matches) continue;
      rule.hits++;
      return this.#apply(rule.act, client, argv);
    }
    return false;
  }

  #apply(act: Intervention, client: Caller, argv: Bytes[]): boolean {
    const server = this.#server;
    if (act === 'disconnect') {
      client.abort();
    } else if (act === 'drop-reply') {
      client.mark(REPLY_SKIP, true);
      return false;
    } else if (act === 'disconnect-after') {
      client.mark(REPLY_SKIP, true);
      server.host.clock.soon(() => client.abort());
      return false;
    } else if ('delayMs' in act) {
      this.#later(act.delayMs, client, argv);
    } else {
      client.reply('error' in act ? new ReplyError(fromText(act.error)) : toReply(act.reply));
    }
    return true;
  }

  #later(delay: number, client: Caller, argv: Bytes[]): void {
    const server = this.#server;
    const { clock } = server.host;
    server.blocking.block(client, { kind: 'pause', timeout: 0, timeoutReply: null });
    clock.at(clock.now() + delay, () => {
      if (client.gone) return;
      server.blocking.forget(client);
      const interceptor = server.interceptor;
      server.interceptor = undefined;
      server.execute(client, argv);
      server.interceptor = interceptor;
      server.unblocked(client);
      server.settle();
    });
  }
}

function matches({ filter, command }: InterceptRule, request: InterceptedRequest): boolean {
  if (command !== undefined && command !== request.command) {
    const [sub] = request.args;
    if (typeof sub !== 'string' || command !== `${request.command}|${asciiLower(fromText(sub))}`)
      return false;
  }
  if (filter.argument !== undefined && !request.args.includes(filter.argument)) return false;
  if (filter.client !== undefined && filter.client !== request.client.name) return false;
  return filter.when?.(request) ?? true;
}

/** The command's name in ACL notation. Throws TypeError for a name that the server does not know. */
function nameOf({ commands }: Server, text: string): Bytes {
  const word = asciiLower(fromText(text)).replace(' ', '|');
  const [name = '', sub] = word.split('|');
  const command = commands.get(name);
  const known = sub === undefined ? command : command?.subcommands?.get(sub);
  if (known !== undefined || name.includes('.')) return word;
  const names = [...commands.values()].flatMap((each) => [
    each.name,
    ...[...(each.subcommands?.keys() ?? [])].map((subcommand) => `${each.name}|${subcommand}`),
  ]);
  const meant = nearest(word, names);
  const hint = meant === undefined ? '' : `; did you mean '${meant.replace('|', ' ')}'?`;
  throw badOption('intercept.command', text, `the name of a command${hint}`);
}

function toReply(reply: InterceptedReply): Reply {
  if (reply === null) return null;
  if (typeof reply === 'number' && Number.isInteger(reply)) return reply;
  if (typeof reply === 'object' && !(reply instanceof Uint8Array)) return reply.map(toReply);
  return encodeText(reply);
}

function check(filter: RequestFilter, act: Intervention): void {
  checkNames(filter, FILTERS, 'intercept');
  if (filter.nth !== undefined) checkInteger('intercept.nth', filter.nth, 1, Number.MAX_SAFE_INTEGER);
  for (const name of ['command', 'argument', 'client'] as const) {
    if (filter[name] !== undefined) checkString(`intercept.${name}`, filter[name], false);
  }
  if (filter.when !== undefined && typeof filter.when !== 'function') {
    throw badOption('intercept.when', filter.when, 'a function that is given the request');
  }
  checkAct(act);
}

function checkAct(act: Intervention): void {
  if (WORDS.includes(act)) return;
  const object = typeof act === 'object' && act !== null;
  if (object && 'delayMs' in act) {
    checkInteger('intercept.delayMs', act.delayMs, 0, Number.MAX_SAFE_INTEGER);
  } else if (object && 'error' in act) {
    checkString('intercept.error', act.error);
  } else if (object && 'reply' in act) {
    if (!isReply(act.reply)) throw badOption('intercept.reply', act.reply, REPLIES);
  } else {
    throw badOption('intercept', act, `{ reply }, { error }, { delayMs }, '${WORDS.join("', '")}'`);
  }
}

const REPLIES = 'null, a number, text, a Buffer, or an array of those';

function isReply(reply: unknown): boolean {
  if (Array.isArray(reply)) return reply.every(isReply);
  return reply === null || isText(reply);
}
