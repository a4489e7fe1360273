/** Sends the locks' requests to one Redis: scripts by SHA-1, with a reply timeout, and with errors sorted by outcome. */
import { isReplyError, type LockClient, type RedisCommand, type Settled } from '../clients/client.ts';
import { slotOf } from '../keys.ts';
import { type LockScript, type ScriptText, stamped } from '../scripts/define.ts';
import { elapsed } from '../timing/clock.ts';
import { CallbackDeadline, Deadlines } from '../timing/deadlines.ts';
import { NoReply, type ReplicatedReply, TryAgain, Unsendable } from './outcomes.ts';
import { Wakeups } from './wakeups.ts';

/** How many replicas must acknowledge a write (`all`: those connected, at least one), within how many ms, on disk or not. */
export interface ReplicaRequirement {
  replicas: number | 'all';
  timeoutMs: number;
  fsync: boolean;
}

/** Errors that soon pass: nothing was executed. */
const PASSING =
  /^(READONLY|MISCONF|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY |NOREPLICAS|ERR max number of clients)/;

/** The slot is on another node. The client of a cluster learns of that, and finds the node at the next try. */
const ELSEWHERE = /^(MOVED|ASK) /;

/** How WAIT fails on a server that became a replica before or during it. */
const DEMOTED = /^UNBLOCKED|replica instances/;

/** How a script is sent. */
export interface RunOptions {
  /** How long the reply may take, in milliseconds. Default: the request time-out. */
  readonly timeoutMs?: number;
  /** Sends the script's text at once, because the answer that its hash is unknown would come too late. */
  readonly byText?: boolean;
  /** Whether the process may end before the reply. */
  readonly background?: boolean;
}

const NO_OPTIONS: RunOptions = {};

/** One Redis server, as the locks use it. */
export class LockServer {
  readonly client: LockClient;
  readonly wakeups: Wakeups;
  readonly requestTimeoutMs: number;
  readonly #pending = new Deadlines(true);
  readonly #pendingInBackground = new Deadlines(false);
  /** The scripts that the server did not know, by SHA-1, when its answer came too late to send them again. */
  readonly #unknown = new Set<string>();
  /** How many replicas each slot's node had when it was last asked. */
  readonly #replicaCounts = new Map<number, number>();
  /** Whether to use EVALSHA, which some users may not run; undefined until a script has run by EVAL. */
  #byHash: boolean | undefined;

  constructor(client: LockClient, requestTimeoutMs: number) {
    this.client = client;
    this.requestTimeoutMs = requestTimeoutMs;
    this.wakeups = new Wakeups(client, requestTimeoutMs);
  }

  /**
   * Runs a script. Rejects with NoReply when the outcome is unknown, Unsendable when the client cannot send it, TryAgain for
   * a temporary error, and the server's own error otherwise.
   */
  run(
    script: LockScript,
    keys: readonly string[],
    args: readonly (string | number)[],
    { timeoutMs = this.requestTimeoutMs, byText = false, background = false }: RunOptions = NO_OPTIONS,
  ): Promise<unknown> {
    const text = this.#textOf(script);
    const command = evalsha(text, keys, args);
    const pending = background ? this.#pendingInBackground : this.#pending;
    const sendText = (): Promise<unknown> =>
      this.#answer(this.client.send(['eval', text.text, ...command.slice(2)]), timeoutMs, pending);
    return this.#mayUseHash(text, byText)
      ? this.#answer(this.client.send(command), timeoutMs, pending, { sha: text.sha, send: sendText })
      : sendText().then((reply) => this.#proved(reply, text.sha));
  }

  #mayUseHash({ sha }: ScriptText, byText: boolean): boolean {
    return this.#byHash === true && !byText && (this.#unknown.size === 0 || !this.#unknown.has(sha));
  }

  /**
   * Whether a script has run. A user without permission for EVAL must not take a lock by a plain command, since it could
   * not release it: so the first request is an EVAL.
   */
  get runsScripts(): boolean {
    return this.#byHash !== undefined;
  }

  #proved<T>(reply: T, sha: string): T {
    this.#byHash ??= true;
    this.#unknown.delete(sha);
    return reply;
  }

  /**
   * Runs a script, and waits on the same connection until enough replicas acknowledge its effects or time is up. Rejects as
   * run() does. With `renews`, the number of `all` replicas is asked for together with the script, and WAIT waits for as many
   * as there were before: a renewal can be repeated, and has no time for two round trips.
   * @param options the time-out is for the reply to the script
   */
  async runReplicated(
    script: LockScript,
    keys: readonly string[],
    args: readonly (string | number)[],
    replication: ReplicaRequirement,
    options: RunOptions & { readonly renews?: boolean } = NO_OPTIONS,
  ): Promise<ReplicatedReply> {
    const text = stamped(this.#textOf(script));
    const hashed = evalsha(text, keys, args);
    const whole: RedisCommand = ['eval', text.text, ...hashed.slice(2)];
    const request = this.#mayUseHash(text, options.byText ?? false)
      ? { command: hashed, whole, sha: text.sha }
      : { command: whole, sha: text.sha };
    return this.#replicated(request, keys[0]!, replication, options);
  }

  /** Sends one plain command that writes, and whose first argument is its key, with runReplicated()'s errors. */
  commandReplicated(command: RedisCommand, replication: ReplicaRequirement): Promise<ReplicatedReply> {
    return this.#replicated({ command }, command[1]!, replication);
  }

  async #replicated(
    { command, whole, sha }: { command: RedisCommand; whole?: RedisCommand; sha?: string },
    key: string,
    { replicas, timeoutMs, fsync }: ReplicaRequirement,
    options: RunOptions & { readonly renews?: boolean } = NO_OPTIONS,
  ): Promise<ReplicatedReply> {
    const { background = false, renews = false } = options;
    const pending = background ? this.#pendingInBackground : this.#pending;
    const known = renews && replicas === 'all' ? this.#replicaCounts.get(this.#nodeOf(key)) : undefined;
    let needed = replicas === 'all' ? (known ?? (await this.#replicasOf(key))) : replicas;
    const waitMs = Math.max(1, Math.ceil(timeoutMs)); // 0 means forever.
    const wait = fsync
      ? ['WAITAOF', '1', String(needed), String(waitMs)]
      : ['WAIT', String(needed), String(waitMs)];
    const limitMs = (options.timeoutMs ?? this.requestTimeoutMs) + waitMs;
    const all = (first: RedisCommand): Promise<Settled[]> => {
      const commands = known === undefined ? [first, wait] : [first, COUNT_REPLICAS, wait];
      const sent = this.client.sendAll(commands).then((outcomes) => {
        // Noted even if it comes too late.
        if (whole && sha !== undefined && this.#isUnknown(outcomes[0])) this.#unknown.add(sha);
        return outcomes;
      });
      return this.#answer(sent, limitMs, pending);
    };
    let settled = await all(command);
    if (whole && this.#isUnknown(settled[0])) settled = await all(whole);
    const [granted] = settled;
    const waited = settled[known === undefined ? 1 : 2];
    if (granted?.status !== 'fulfilled') throw this.#asOutcome(granted?.reason);
    if (sha !== undefined) this.#proved(granted, sha);
    if (known !== undefined) needed = this.#countOf(key, settled[1]);
    const reply = granted.value;
    if (waited?.status !== 'fulfilled')
      return { reply, copies: 0, needed, cause: this.#noCount(waited?.reason) };
    const copies = Number(Array.isArray(waited.value) ? waited.value[1] : waited.value);
    return { reply, copies, needed };
  }

  /** Why WAIT failed. After a demotion the outcome of the grant before it is unknown (NoReply). */
  #noCount(reason: unknown): Error {
    const outcome = this.#asOutcome(reason);
    const demoted = outcome instanceof TryAgain || DEMOTED.test(outcome.message);
    return demoted ? new NoReply(outcome.message, { cause: reason }) : outcome;
  }

  #textOf(script: LockScript): ScriptText {
    return this.client.sharded ? script.sharded : script;
  }

  /** Sends one plain command, with run()'s errors. @param now the present time on the monotonic clock, if known */
  command(command: RedisCommand, now?: number): Promise<unknown> {
    return this.#answer(this.client.send(command), this.requestTimeoutMs, this.#pending, undefined, now);
  }

  #isUnknown(settled: Settled | undefined): boolean {
    return settled?.status === 'rejected' && this.#wantsText(settled.reason);
  }

  /** Distinguishes the nodes of a cluster, by one of their slots. */
  #nodeOf(key: string): number {
    return this.client.cluster ? slotOf(key) : 0;
  }

  /** How many replicas are needed for all of those connected to the key's node, which has replied to INFO. */
  #countOf(key: string, info: Settled | undefined): number {
    if (info?.status !== 'fulfilled') throw this.#asOutcome(info?.reason);
    return this.#noteReplicas(key, info.value);
  }

  #noteReplicas(key: string, info: unknown): number {
    const connected = Number(/connected_slaves:(\d+)/.exec(String(info))?.[1] ?? 0);
    const needed = Math.max(1, connected);
    this.#replicaCounts.set(this.#nodeOf(key), needed);
    return needed;
  }

  /**
   * How many replicas are connected to the key's node, but at least one. INFO has no key, and a cluster's client sends it to any
   * node.
   */
  async #replicasOf(key: string): Promise<number> {
    const info = this.client.cluster
      ? await this.#besideKey(key, COUNT_REPLICAS)
      : await this.command(COUNT_REPLICAS);
    return this.#noteReplicas(key, info);
  }

  /** Sends a command without a key to the key's node, with run()'s errors. */
  async #besideKey(key: string, command: RedisCommand): Promise<unknown> {
    const all = await this.#answer(this.client.sendAll([['EXISTS', key], command]), this.requestTimeoutMs);
    for (const settled of all) if (settled.status === 'rejected') throw this.#asOutcome(settled.reason);
    const reply = all[1];
    return reply?.status === 'fulfilled' ? reply.value : undefined;
  }

  /** Splits items into groups that one command may use: by the slot of their key on a cluster, otherwise one group. */
  groupBySlot<T>(items: readonly T[], key: (item: T) => string): T[][] {
    if (items.length === 0) return [];
    if (!this.client.cluster) return [[...items]];
    const groups = new Map<number, T[]>();
    for (const item of items) {
      const slot = slotOf(key(item));
      const group = groups.get(slot);
      if (group) group.push(item);
      else groups.set(slot, [item]);
    }
    return [...groups.values()];
  }

  /** Closes the Pub/Sub connection. Requests under way can still complete, but do not keep the process alive. */
  close(): void {
    this.wakeups.close();
    this.#pending.close();
    this.#pendingInBackground.close();
  }

  /** The reply, or NoReply after `limitMs` milliseconds. `text` sends the script's text if its hash is refused. */
  #answer<T>(
    reply: Promise<T>,
    limitMs: number,
    pending = this.#pending,
    text?: { sha: string; send(): Promise<T> },
    now = elapsed(),
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const deadline = new CallbackDeadline(now + limitMs, () =>
        reject(new NoReply(`no reply within ${limitMs} ms`)),
      );
      pending.add(deadline);
      reply.then(
        (value) => {
          pending.remove(deadline);
          resolve(value);
        },
        (error: unknown) => {
          const inTime = pending.remove(deadline);
          if (text === undefined || !this.#wantsText(error)) reject(this.#asOutcome(error));
          else if (inTime) resolve(text.send());
          else this.#unknown.add(text.sha); // Nothing is sent again, but the next request is sent as text.
        },
      );
    });
  }

  #wantsText(error: unknown): boolean {
    if (!isReplyError(error)) return false;
    if (NO_HASHES.test(error.message)) this.#byHash = false;
    return this.#byHash === false || NO_SCRIPT.test(error.message);
  }

  /** Keeps the server's own errors, except temporary ones (TryAgain). All others become NoReply or Unsendable. */
  #asOutcome(error: unknown): Error {
    if (error instanceof NoReply || error instanceof Unsendable) return error;
    if (!isReplyError(error)) {
      const Kind = this.client.unusable?.(error) ? Unsendable : NoReply;
      return new Kind(error instanceof Error ? error.message : String(error), { cause: error });
    }
    const passes = PASSING.test(error.message) || (this.client.cluster && ELSEWHERE.test(error.message));
    return passes ? new TryAgain(error.message, { cause: error }) : error;
  }
}

function evalsha(
  script: ScriptText,
  keys: readonly string[],
  args: readonly (string | number)[],
): readonly string[] {
  // In lower case, the form in which clients and servers look up command names.
  const command = ['evalsha', script.sha, String(keys.length)];
  for (const key of keys) command.push(key);
  for (const arg of args) command.push(String(arg));
  return command;
}

const COUNT_REPLICAS: RedisCommand = ['INFO', 'replication'];

/** The server does not know the script. */
const NO_SCRIPT = /^NOSCRIPT/;
/** The user may not run EVALSHA. */
const NO_HASHES = /^NOPERM .*'evalsha'/;
