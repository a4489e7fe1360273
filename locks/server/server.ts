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
  /^(READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY |NOREPLICAS|ERR max number of clients)/;

/** The slot is on another node. The client of a cluster learns of that, and finds the node at the next try. */
const ELSEWHERE = /^(MOVED|ASK) /;

/** How WAIT fails on a server that became a replica before or during it. */
const DEMOTED = /^UNBLOCKED|replica instances/;

/** One Redis server, as the locks use it. */
export class LockServer {
  readonly client: LockClient;
  readonly wakeups: Wakeups;
  readonly requestTimeoutMs: number;
  readonly #pending = new Deadlines(true);
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
    timeoutMs: number = this.requestTimeoutMs,
  ): Promise<unknown> {
    const text = this.#textOf(script);
    const command = evalsha(text, keys, args);
    const byText = (): Promise<unknown> =>
      this.#answer(this.client.send(['eval', text.text, ...command.slice(2)]), timeoutMs);
    return this.#byHash === true
      ? this.#answer(this.client.send(command), timeoutMs, byText)
      : byText().then((reply) => this.#proved(reply));
  }

  /**
   * Whether a script has run. A user without permission for EVAL must not take a lock by a plain command, since it could
   * not release it: so the first request is an EVAL.
   */
  get runsScripts(): boolean {
    return this.#byHash !== undefined;
  }

  #proved<T>(reply: T): T {
    this.#byHash ??= true;
    return reply;
  }

  /**
   * Runs a script, and waits on the same connection until enough replicas acknowledge its effects or time is up. Rejects as
   * run() does.
   * @param timeoutMs how long the reply to the script may take, in milliseconds
   */
  async runReplicated(
    script: LockScript,
    keys: readonly string[],
    args: readonly (string | number)[],
    replication: ReplicaRequirement,
    timeoutMs: number = this.requestTimeoutMs,
  ): Promise<ReplicatedReply> {
    const text = stamped(this.#textOf(script));
    const command = evalsha(text, keys, args);
    const byText = (): RedisCommand => ['eval', text.text, ...command.slice(2)];
    return this.#replicated(command, keys[0]!, replication, timeoutMs, byText);
  }

  /** Sends one plain command that writes, and whose first argument is its key, with runReplicated()'s errors. */
  commandReplicated(command: RedisCommand, replication: ReplicaRequirement): Promise<ReplicatedReply> {
    return this.#replicated(command, command[1]!, replication, this.requestTimeoutMs);
  }

  async #replicated(
    command: RedisCommand,
    key: string,
    { replicas, timeoutMs, fsync }: ReplicaRequirement,
    replyTimeoutMs: number,
    byText?: () => RedisCommand,
  ): Promise<ReplicatedReply> {
    const needed = replicas === 'all' ? Math.max(1, await this.#replicasOf(key)) : replicas;
    const waitMs = Math.max(1, Math.ceil(timeoutMs)); // 0 means forever.
    const wait = fsync
      ? ['WAITAOF', '1', String(needed), String(waitMs)]
      : ['WAIT', String(needed), String(waitMs)];
    const all = (first: RedisCommand): Promise<Settled[]> =>
      this.#answer(this.client.sendAll([first, wait]), replyTimeoutMs + waitMs);
    let settled = await all(byText === undefined || this.#byHash === true ? command : byText());
    if (byText && settled[0]?.status === 'rejected' && this.#wantsText(settled[0].reason)) {
      settled = await all(byText());
    }
    const [granted, waited] = settled;
    if (granted?.status !== 'fulfilled') throw this.#asOutcome(granted?.reason);
    if (byText) this.#proved(granted);
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
    return this.#answer(this.client.send(command), this.requestTimeoutMs, undefined, now);
  }

  /** How many replicas are connected to the key's node. INFO has no key, and a cluster's client sends it to any node. */
  async #replicasOf(key: string): Promise<number> {
    const ask: RedisCommand = ['INFO', 'replication'];
    const info = this.client.cluster ? await this.#besideKey(key, ask) : await this.command(ask);
    return Number(/connected_slaves:(\d+)/.exec(String(info))?.[1] ?? 0);
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
    this.#pending.unref();
  }

  /** The reply, or NoReply after `limitMs` milliseconds. `byText` sends the script's text if its hash is refused. */
  #answer<T>(reply: Promise<T>, limitMs: number, byText?: () => Promise<T>, now = elapsed()): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const deadline = new CallbackDeadline(now + limitMs, () =>
        reject(new NoReply(`no reply within ${limitMs} ms`)),
      );
      this.#pending.add(deadline);
      reply.then(
        (value) => {
          this.#pending.remove(deadline);
          resolve(value);
        },
        (error: unknown) => {
          if (!this.#pending.remove(deadline)) return; // Too late: nothing is sent again.
          if (byText && this.#wantsText(error)) resolve(byText());
          else reject(this.#asOutcome(error));
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

/** The server does not know the script. */
const NO_SCRIPT = /^NOSCRIPT/;
/** The user may not run EVALSHA. */
const NO_HASHES = /^NOPERM .*'evalsha'/;
