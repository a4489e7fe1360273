/** Rules that answer, delay or break chosen requests, so that a test can see how a client copes. */

import { badOption, checkInteger, checkNames, checkString } from '../../base/options.ts';
import { nearest } from '../../base/similar.ts';
import { asciiLower, type Bytes, fromText } from '../../protocol/bytes.ts';
import { globTest } from '../../protocol/glob.ts';
import { type Reply, ReplyError } from '../../protocol/reply.ts';
import { PRIMARY_LINK, REPLY_OFF, REPLY_SKIP } from '../../server/clients/client.ts';
import type { Caller, Server } from '../../server/server.ts';
import { findKeys } from '../../server/table/info.ts';
import { commandOf } from '../../server/table/resolve.ts';
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
  /** A pattern as KEYS takes it, such as 'stock:*', which one of the request's keys must match. */
  readonly key?: string;
  /** The CLIENT SETNAME name of the connection; at a node of the lab also the name that the client has in the lab. */
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
 * - `'drop-reply'`: it is executed, but the reply is never sent. The client takes the next reply for it.
 * - `'reply-lost'`: it is executed, but the reply is lost. As in TCP, no later reply arrives on this connection either.
 * - `'disconnect-after'`: it is executed, and the connection is reset instead of replying.
 */
export type Intervention =
  | { readonly reply: InterceptedReply }
  | { readonly error: string }
  | { readonly delayMs: number }
  | 'disconnect'
  | 'drop-reply'
  | 'reply-lost'
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

const FILTERS = ['command', 'argument', 'key', 'client', 'when', 'nth'];
const WORDS: readonly unknown[] = ['disconnect', 'drop-reply', 'reply-lost', 'disconnect-after'];

/** A rule. Several servers may share it. */
export class InterceptRule {
  readonly filter: RequestFilter;
  readonly act: Intervention;
  matches = 0;
  hits = 0;
  /** The filter's command in ACL notation: 'client|list' for CLIENT LIST. */
  readonly #command: Bytes | undefined;
  readonly #isKey: ((key: Bytes) => boolean) | undefined;

  /** Throws TypeError for an unknown filter or intervention. @param server knows the names of commands */
  constructor(server: Pick<Server, 'commands'>, filter: RequestFilter, act: Intervention) {
    check(filter, act);
    this.filter = filter;
    this.act = act;
    this.#command = filter.command === undefined ? undefined : nameOf(server, filter.command);
    this.#isKey = filter.key === undefined ? undefined : globTest(fromText(filter.key));
  }

  /** True for a request that the rule acts on. Counts it if it matches. */
  hit(request: InterceptedRequest, keys: () => readonly Bytes[]): boolean {
    if (!this.#matches(request, keys)) return false;
    this.matches++;
    const { nth } = this.filter;
    if (nth !== undefined && nth !== this.matches) return false;
    this.hits++;
    return true;
  }

  #matches(request: InterceptedRequest, keys: () => readonly Bytes[]): boolean {
    const command = this.#command;
    if (command !== undefined && command !== request.command) {
      const [sub] = request.args;
      if (typeof sub !== 'string' || command !== `${request.command}|${asciiLower(fromText(sub))}`)
        return false;
    }
    const { argument, client, when } = this.filter;
    if (argument !== undefined && !request.args.includes(argument)) return false;
    if (client !== undefined && client !== request.client.name && client !== request.client.party)
      return false;
    if (this.#isKey !== undefined && !keys().some(this.#isKey)) return false;
    return when?.(request) ?? true;
  }
}

/** What a node of the lab knows of its clients. */
export interface InterceptPlace {
  /** The name of the node. */
  readonly node: string;
  /** The name that a client has in the lab; undefined when it has none. */
  partyOf(client: Caller): string | undefined;
  /** True for a request that no client has sent, such as one of a replica. */
  isInternal(client: Caller): boolean;
}

/** The rules of one server, in the order in which they were added. The first rule that acts on a request wins. */
export class Interceptor {
  #server: Server;
  readonly #place: InterceptPlace | undefined;
  readonly #rules = new Set<InterceptRule>();
  readonly #recorders = new Set<Recorder>();
  readonly #replies = new Replies();

  constructor(server: Server, place?: InterceptPlace) {
    this.#server = server;
    this.#place = place;
  }

  /** Watches another node from now on, with the same rules and recordings. */
  attach(server: Server): void {
    this.#server = server;
    this.#update();
  }

  /** Begins to record the requests. @param most how many it keeps at least: the newest ones */
  record(most = Infinity): RequestRecording {
    return recordAt([this], most);
  }

  /** Adds a rule. Throws TypeError for an unknown filter or intervention. */
  add(filter: RequestFilter, act: Intervention): Interception {
    return interceptAt([this], filter, act);
  }

  /** The commands whose names a rule may have. */
  get commands(): Server['commands'] {
    return this.#server.commands;
  }

  /** Adds a rule, or begins a recording, that other servers may share. Returns what ends it. */
  put(part: InterceptRule | Recorder): () => void {
    const parts: Set<unknown> = part instanceof InterceptRule ? this.#rules : this.#recorders;
    parts.add(part);
    this.#update();
    return () => {
      parts.delete(part);
      this.#update();
    };
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

  #intercept(client: Caller, argv: Bytes[]): boolean {
    const command = asciiLower(argv[0] ?? '');
    // LAB adds and removes the rules, so none of them applies to it.
    if (command === 'lab' || client.has(PRIMARY_LINK) || this.#place?.isInternal(client) === true)
      return false;
    const { id, name } = client;
    const party = this.#place?.partyOf(client);
    const request: InterceptedRequest = {
      command,
      args: argv.slice(1).map(decodeText),
      client: { id, name, ...(party !== undefined && { party }) },
      ...(this.#place !== undefined && { node: this.#place.node }),
    };
    if (this.#recorders.size > 0) this.#record(client, request);
    const keys = (): Bytes[] => keysOf(this.#server, argv);
    for (const rule of this.#rules) {
      if (rule.hit(request, keys)) return this.#apply(rule.act, client, argv);
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
    } else if (act === 'reply-lost') {
      client.mark(REPLY_OFF, true);
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

/** Adds one rule to several servers: it counts the requests of all of them. Throws TypeError for an unknown filter or intervention. */
export function interceptAt(
  interceptors: readonly Interceptor[],
  filter: RequestFilter,
  act: Intervention,
): Interception {
  const rule = new InterceptRule(interceptors[0] as Interceptor, filter, act);
  const ends = interceptors.map((each) => each.put(rule));
  return {
    get matches() {
      return rule.matches;
    },
    get hits() {
      return rule.hits;
    },
    remove: () => {
      for (const end of ends) end();
    },
  };
}

/** Begins to record the requests of several servers, in order. @param most how many it keeps at least: the newest ones */
export function recordAt(interceptors: readonly Interceptor[], most = Infinity): RequestRecording {
  const recorder = new Recorder(() => {
    for (const end of ends) end();
  }, most);
  const ends = interceptors.map((each) => each.put(recorder));
  return recorder;
}

/** The keys that a request names; none if it is no valid request. */
export function keysOf({ commands }: Pick<Server, 'commands'>, argv: readonly Bytes[]): Bytes[] {
  const command = commandOf(commands, argv);
  const found = command === undefined ? undefined : findKeys(command, argv);
  return (found ?? []).map(({ at }) => argv[at] ?? '');
}

/** The command's name in ACL notation. Throws TypeError for a name that the server does not know. */
function nameOf({ commands }: Pick<Server, 'commands'>, text: string): Bytes {
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
  for (const name of ['command', 'argument', 'key', 'client'] as const) {
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
