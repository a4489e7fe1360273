/** A script that outlives its first slice: the node runs it on between events, and answers BUSY meanwhile. */

import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { fail } from '../../protocol/errors.ts';
import { OK, type Reply, ReplyError } from '../../protocol/reply.ts';
import type { Execution } from '../../scripting/execution.ts';
import type { Blocking } from '../clients/blocking.ts';
import type { Client } from '../clients/client.ts';
import { PostponedRequests } from '../clients/postponed.ts';
import { GATE_BUSY } from '../gates.ts';
import type { Timer } from '../host/host.ts';
import type { Gated, HasHost, HasLog, HasNow, HasSettings, Mistakes, Requests, Units } from '../ports.ts';
import type { Outcome } from '../table/outcome.ts';

/** How long scripts run before others get a turn. A step is a call or a turn of a loop; a command counts for 20. */
export interface ScriptPace {
  /** Steps that a script may make before its first pause. */
  readonly start: number;
  /** Steps from one pause to the next. */
  readonly slice: number;
  /** How long a slice takes on the host's clock, in milliseconds; 0: it takes what it takes, on a clock that moves by itself. */
  readonly millis: Millis;
}

/** What remains to be done once a script's outcome is known: PAUSED when that was paused in turn. */
type Continuation = (outcome: Outcome) => Outcome;

/** The script under way. */
interface Running {
  /** undefined: something else that keeps the unit open (MIGRATE in a transaction). */
  readonly execution: Execution | undefined;
  readonly client: Client;
  /** The request that started it. */
  readonly argv: readonly Bytes[];
  readonly since: Millis;
  readonly kind: 'script' | 'function' | 'hold';
  /** Puts the scripts' own state back. */
  readonly leave: () => void;
}

const KILLED = 'ERR Script killed by user with SCRIPT KILL...';
const NO_MEMORY = 'ERR not enough memory';

/** A script is ended when so much of the process' memory is taken: beyond its end the process dies, and a table that grows doubles. */
const MEMORY_MAX = 0.5;

const NOT_BUSY = 'NOTBUSY No scripts in execution right now.';
const UNKILLABLE =
  'UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command.';

/** The node, as a slow script sees it. */
interface BusyNode extends Gated, HasHost, HasLog, HasNow, HasSettings, Mistakes, Requests, Units {
  /** How deep in execution units the node is; 0 between requests. */
  readonly depth: number;
  readonly blocking: Pick<Blocking, 'block' | 'forget'>;
  readonly scripts: { readonly wrote: boolean };
  /** The link to the primary, which a script keeps waiting. */
  readonly primary: { resume(): void } | undefined;
}

export class SlowScript {
  readonly #server: BusyNode;
  readonly #pace: ScriptPace;
  #running: Running | undefined;
  /** What waits for the script's reply, the innermost first. */
  #continuations: Continuation[] = [];
  /** Requests that came before the node was called busy. */
  readonly #postponed: PostponedRequests;
  #timer: Timer | undefined;
  #depth = 0;
  #killed = false;
  /** True once others are told BUSY; before, their requests wait. */
  #busy = false;

  constructor(server: BusyNode, pace: Partial<ScriptPace> = {}) {
    this.#server = server;
    this.#postponed = new PostponedRequests(server);
    this.#pace = { start: 2_000_000, slice: 200_000, millis: 0, ...pace };
  }

  /** Steps that a script may make before its first pause. */
  get firstSlice(): number {
    return this.#pace.start;
  }

  /** The script that has been paused. */
  get running(): Running | undefined {
    return this.#running;
  }

  /** True while a script has been paused. */
  get active(): boolean {
    return this.#running !== undefined;
  }

  /** True when it is this client's script that has been paused. */
  begun(client: Client): boolean {
    return this.#running?.client === client;
  }

  /** True between two slices: the unit stands open, and clients may be served what is allowed meanwhile. */
  get between(): boolean {
    return this.#running !== undefined && this.#server.depth === this.#depth;
  }

  /** True once others are told BUSY. */
  get busy(): boolean {
    return this.#busy;
  }

  /** What others are told meanwhile. */
  get busyText(): Bytes {
    const which = this.#running?.kind === 'function' ? 'FUNCTION' : 'SCRIPT';
    return `BUSY Redis is busy running a script. You can only call ${which} KILL or SHUTDOWN NOSAVE.`;
  }

  /** A script has come to its first pause. What must follow its reply is added with `afterwards`. */
  begin(beginning: Omit<Running, 'since'>): void {
    this.#open(beginning);
    this.#schedule();
  }

  /**
   * Keeps the client's unit open for something that takes time: every other request waits, and nobody is told BUSY.
   * @returns what ends it, with the reply
   */
  hold(client: Client): (reply: Reply) => void {
    this.#open({ client, argv: [], execution: undefined, kind: 'hold', leave: () => {} });
    return (reply) => this.#end(reply);
  }

  #open(beginning: Omit<Running, 'since'>): void {
    const server = this.#server;
    const { client } = beginning;
    this.#running = { ...beginning, since: server.now };
    this.#killed = false;
    this.#depth = server.depth;
    server.gate(GATE_BUSY, true);
    server.blocking.block(client, { kind: 'script', timeout: 0, timeoutReply: null });
  }

  /** Notes what follows the script's reply. The unit that has called it stays open until then. */
  afterwards(continuation: Continuation): void {
    this.#continuations.push(continuation);
  }

  /** Keeps a request for later: the node is not yet called busy. */
  postpone(client: Client, argv: Bytes[]): boolean {
    if (this.#busy) return false;
    this.#postponed.keep(client, argv);
    return true;
  }

  /** SCRIPT KILL and FUNCTION KILL. Throws when nothing runs, when it has written, or when it is of the other kind. */
  kill(kind: Running['kind']): Reply {
    if (this.#running === undefined) fail(NOT_BUSY);
    if (this.#server.scripts.wrote) fail(UNKILLABLE);
    if (this.#running.kind !== kind) fail(this.busyText);
    this.#killed = true;
    return OK;
  }

  /** The node ends: the script is never continued. */
  stop(): void {
    this.#timer?.cancel();
  }

  #schedule(): void {
    const { clock } = this.#server.host;
    const { millis } = this.#pace;
    const task = (): void => this.#slice();
    this.#timer = millis > 0 ? clock.at(clock.now() + millis, task) : clock.soon(task);
  }

  #slice(): void {
    const { execution, since } = this.#running as Running & { execution: Execution };
    const end = this.#killed ? KILLED : this.#outOfMemory() ? NO_MEMORY : undefined;
    const reply = end === undefined ? this.#step(execution) : execution.kill(end);
    if (reply !== undefined) this.#end(reply);
    else {
      const threshold = this.#server.settings['busy-reply-threshold'];
      const elapsed = this.#server.host.clock.now() - since;
      if (!this.#busy && threshold > 0 && elapsed >= threshold) this.#callBusy(elapsed);
      this.#schedule();
    }
    this.#server.settle();
  }

  #outOfMemory(): boolean {
    return (this.#server.host.memoryTaken?.() ?? 0) > MEMORY_MAX;
  }

  #step(execution: Execution): Reply | undefined {
    try {
      return execution.step(this.#pace.slice);
    } catch (error) {
      if (error instanceof ReplyError) return error;
      return this.#server.internalError(this.#running?.client.lastCommand, error);
    }
  }

  #callBusy(elapsed: Millis): void {
    this.#server.log('warning', `Slow script: still running after ${elapsed} milliseconds`);
    this.#busy = true;
    this.#postponed.run();
  }

  #end(reply: Reply): void {
    const server = this.#server;
    const { client, leave } = this.#running as Running;
    this.#running = undefined;
    this.#busy = false;
    server.gate(GATE_BUSY, false);
    leave();
    server.blocking.forget(client);
    this.#continue(reply);
    if (this.active) return;
    server.unblocked(client);
    server.primary?.resume();
    this.#postponed.run();
  }

  /** Hands the reply outwards; a continuation may come upon another slow script (EXEC with two of them). */
  #continue(reply: Reply): void {
    const outer = this.#continuations;
    let value: Outcome = reply;
    for (let next = outer.shift(); next !== undefined; next = outer.shift()) {
      this.#continuations = [];
      value = next(value);
      if (!this.active) continue;
      this.#continuations.push(...outer);
      return;
    }
  }
}
