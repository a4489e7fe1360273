/**
 * A script that exceeds its first slice: the node continues it between events, and answers other clients BUSY
 * meanwhile.
 */

import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { fail } from '../../protocol/errors.ts';
import { OK, type Reply, ReplyError } from '../../protocol/reply.ts';
import type { Execution } from '../../scripting/execution.ts';
import type { Blocking } from '../clients/blocking.ts';
import type { Client } from '../clients/client.ts';
import { PostponedRequests } from '../clients/postponed.ts';
import { titleOf } from '../dialects/identity.ts';
import { GATE_BUSY } from '../gates.ts';
import type { Timer } from '../host/host.ts';
import type {
  Gated,
  HasDialect,
  HasHost,
  HasLog,
  HasNow,
  HasSettings,
  Mistakes,
  Requests,
  Units,
} from '../ports.ts';
import type { Outcome } from '../table/outcome.ts';

/**
 * How long scripts run before other clients are served. A step is a call or a loop iteration; a command counts as 20.
 */
export interface ScriptPace {
  /** The number of steps before a script's first pause. */
  readonly start: number;
  /** The number of steps between two pauses. */
  readonly slice: number;
  /** How long a slice takes on the host's clock, in milliseconds; 0 for a real clock, which moves by itself. */
  readonly millis: Millis;
}

/** The work that remains when a script's outcome is known. It returns PAUSED if it is paused in turn. */
type Continuation = (outcome: Outcome) => Outcome;

/** The paused script. */
interface Running {
  /** undefined: something else holds the unit open (MIGRATE in a transaction). */
  readonly execution: Execution | undefined;
  readonly client: Client;
  /** The request that started the script. */
  readonly argv: readonly Bytes[];
  readonly since: Millis;
  readonly kind: 'script' | 'function' | 'hold';
  /** Restores the state of `Scripts`. */
  readonly leave: () => void;
}

const NOT_BUSY = 'NOTBUSY No scripts in execution right now.';
const UNKILLABLE =
  'UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command.';

/** The node, as a slow script sees it. */
interface BusyNode
  extends Gated,
    HasDialect,
    HasHost,
    HasLog,
    HasNow,
    HasSettings,
    Mistakes,
    Requests,
    Units {
  /** The nesting depth of execution units; 0 between requests. */
  readonly depth: number;
  readonly blocking: Pick<Blocking, 'block' | 'forget'>;
  readonly scripts: { readonly wrote: boolean };
  /** The link to the primary. Its stream waits for the script. */
  readonly primary: { resume(): void } | undefined;
}

/** The paused script of a node, if any, and the requests that wait for it. */
export class SlowScript {
  readonly #server: BusyNode;
  /** How long scripts run before they pause. It may change while no script runs. */
  pace: ScriptPace;
  #running: Running | undefined;
  /** The work that waits for the script's reply, innermost first. */
  #continuations: Continuation[] = [];
  /** Requests that arrived before the node was declared busy. */
  readonly #postponed: PostponedRequests;
  #timer: Timer | undefined;
  #depth = 0;
  #killed = false;
  /** True when other clients are answered BUSY. Before that their requests wait. */
  #busy = false;

  constructor(server: BusyNode, pace: Partial<ScriptPace> = {}) {
    this.#server = server;
    this.#postponed = new PostponedRequests(server);
    this.pace = { start: 2_000_000, slice: 200_000, millis: 0, ...pace };
  }

  /** The number of steps before a script's first pause. */
  get firstSlice(): number {
    return this.pace.start;
  }

  /** The script that is paused. */
  get running(): Running | undefined {
    return this.#running;
  }

  /** True while a script is paused. */
  get active(): boolean {
    return this.#running !== undefined;
  }

  /** True if the paused script is this client's. */
  begun(client: Client): boolean {
    return this.#running?.client === client;
  }

  /** True between two slices: the unit is open, and requests that are allowed during a slow script may run. */
  get between(): boolean {
    return this.#running !== undefined && this.#server.depth === this.#depth;
  }

  /** True when other clients are answered BUSY. */
  get busy(): boolean {
    return this.#busy;
  }

  /** The error for other clients while the script runs. */
  get busyText(): Bytes {
    const which = this.#running?.kind === 'function' ? 'FUNCTION' : 'SCRIPT';
    return `BUSY ${titleOf(this.#server)} is busy running a script. You can only call ${which} KILL or SHUTDOWN NOSAVE.`;
  }

  /** Called when a script reaches its first pause. Work that must follow its reply is added with `afterwards`. */
  begin(beginning: Omit<Running, 'since'>): void {
    this.#open(beginning);
    this.#schedule();
  }

  /**
   * Holds the client's unit open for work that takes time. All other requests wait; none is answered BUSY.
   * @returns a function that ends the work with the reply
   */
  hold(client: Client): (reply: Reply) => void {
    this.#open({ client, argv: [], execution: undefined, kind: 'hold', leave: () => {} });
    return (reply) => this.#end(reply);
  }

  /** Holds the client's unit open for `millis` milliseconds. `conclude` then makes the reply. */
  holdFor(client: Client, millis: Millis, conclude: () => Reply): void {
    const end = this.hold(client);
    const { clock } = this.#server.host;
    this.#timer = clock.at(clock.now() + millis, () => {
      end(conclude());
      this.#server.settle();
    });
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

  /** Adds work that follows the script's reply. The calling unit stays open until then. */
  afterwards(continuation: Continuation): void {
    this.#continuations.push(continuation);
  }

  /** Postpones a request. Returns false if the node is already busy, so that the request must be refused. */
  postpone(client: Client, argv: Bytes[]): boolean {
    if (this.#busy) return false;
    this.#postponed.keep(client, argv);
    return true;
  }

  /** SCRIPT KILL and FUNCTION KILL. Throws ReplyError if nothing runs, it has written, or it is of the other kind. */
  kill(kind: Running['kind']): Reply {
    if (this.#running === undefined) fail(NOT_BUSY);
    if (this.#server.scripts.wrote) fail(UNKILLABLE);
    if (this.#running.kind !== kind) fail(this.busyText);
    this.#killed = true;
    return OK;
  }

  /** Called when the node stops: the script is never continued. */
  stop(): void {
    this.#timer?.cancel();
  }

  #schedule(): void {
    const { clock } = this.#server.host;
    const { millis } = this.pace;
    const task = (): void => this.#slice();
    this.#timer = millis > 0 ? clock.at(clock.now() + millis, task) : clock.soon(task);
  }

  #slice(): void {
    const { execution, since } = this.#running as Running & { execution: Execution };
    const reply = this.#killed ? execution.kill(this.#killedText) : this.#step(execution);
    if (reply !== undefined) this.#end(reply);
    else {
      const threshold = this.#server.settings['busy-reply-threshold'];
      const elapsed = this.#server.host.clock.now() - since;
      if (!this.#busy && threshold > 0 && elapsed >= threshold) this.#callBusy(elapsed);
      this.#schedule();
    }
    this.#server.settle();
  }

  get #killedText(): Bytes {
    return this.#server.dialect.killed[this.#running?.kind === 'function' ? 'function' : 'script'];
  }

  #step(execution: Execution): Reply | undefined {
    try {
      return execution.step(this.pace.slice);
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

  /**
   * Passes the reply to the continuations. One of them may start another slow script, as EXEC with two scripts does.
   */
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
