/** The processes that play the clients of one world at a time, and live on from world to world. */

import { availableParallelism } from 'node:os';
import { comesTrue, pass } from '../../../lab/real-clock/wait.ts';
import type { HandedWorld, JudgedWorld, ProgramDesk } from '../../../lab/remote/programs/desk.ts';
import { type ProgramPort, ProgramPorts } from '../../../lab/remote/programs/port.ts';
import type { ClientMessages } from './messages.ts';
import { type ProgramCommand, ProgramProcess } from './process.ts';

/** How long a process may take to come back from a world, in milliseconds. Then it is replaced. */
const BACK_WITHIN = 1500;
/** How long a process that starts keeps others from starting at most, in milliseconds: some wait for something else than a processor. */
const STARTS_ALONE = 500;

/** Hands played worlds to the processes that judge them. */
export interface JudgesAtDesk {
  next(isThere: () => boolean): Promise<JudgedWorld | undefined>;
  decided(token: string, verdict: string): boolean;
}

/** The desk at which all processes call. */
export class WorldDesk implements ProgramDesk {
  readonly ports: ProgramPorts = new ProgramPorts(this);
  readonly #processes = new Map<number, ProgramProcess>();
  readonly #conversations = new Map<string, ClientMessages>();
  readonly #judges: JudgesAtDesk;
  /** How many more processes may start now. */
  #starts = availableParallelism();
  readonly #queue: (() => void)[] = [];
  #shut = false;

  constructor(judges: JudgesAtDesk) {
    this.#judges = judges;
  }

  /**
   * Starts a process with a port of its own. Only as many processes start at a time as there are processors: more of them would make
   * the worlds late that are being played. Rejects when the exploration has ended.
   */
  async start(command: ProgramCommand): Promise<ProgramProcess> {
    // A process that somebody else has started runs already.
    const isOurs = command.command.length > 0;
    if (isOurs) await this.#turn();
    let port: ProgramPort | undefined;
    let started: ProgramProcess | undefined;
    try {
      if (this.#shut) throw new Error('the exploration has ended');
      port = await this.ports.open();
      started = new ProgramProcess(command, port);
      this.#processes.set(port.port, started);
      return started;
    } catch (error) {
      await port?.close();
      throw error;
    } finally {
      if (isOurs) void Promise.race([started?.hasStarted, pass(STARTS_ALONE)]).then(() => this.#nextTurn());
    }
  }

  /** Waits until one more process may start. */
  async #turn(): Promise<void> {
    if (this.#starts > 0) this.#starts--;
    else await new Promise<void>((go) => this.#queue.push(go));
  }

  #nextTurn(): void {
    const next = this.#queue.shift();
    if (next !== undefined) next();
    else this.#starts++;
  }

  /** From now on no process starts. */
  shut(): void {
    this.#shut = true;
    for (const go of this.#queue.splice(0)) go();
  }

  /** Ends a process. */
  async end(ended: ProgramProcess): Promise<void> {
    this.#processes.delete(ended.port.port);
    await ended.close();
  }

  /** From now on, messages with this token reach the client. */
  open(token: string, conversation: ClientMessages): void {
    this.#conversations.set(token, conversation);
  }

  /** The world of the token has ended, or the client's life has. */
  over(token: string): void {
    this.#conversations.delete(token);
  }

  next(port: number, within: number | undefined): Promise<HandedWorld | undefined> {
    const asking = this.#processes.get(port);
    return asking === undefined ? Promise.resolve(undefined) : asking.next(within);
  }

  judge(isThere: () => boolean): Promise<JudgedWorld | undefined> {
    return this.#judges.next(isThere);
  }

  decided(token: string, verdict: string): boolean {
    return this.#judges.decided(token, verdict);
  }

  clientOf(token: string): ClientMessages | undefined {
    return this.#conversations.get(token);
  }

  /** Ends all connections. The processes have ended before. */
  close(): void {
    this.ports.close();
  }
}

/** The processes of one world at a time, by the names of clients. Where clients are threads, they all have one process. */
export class Crew {
  readonly #desk: WorldDesk;
  readonly #command: ProgramCommand;
  readonly #threads: ProgramProcess | true | undefined;
  readonly #processes = new Map<string, Promise<ProgramProcess>>();
  readonly #running = new Set<ProgramProcess>();
  /** What those have used that have ended. */
  #endedMs = 0;

  /** @param threads true when the clients are threads of one process; or that process, when somebody else has started it */
  constructor(desk: WorldDesk, command: ProgramCommand, threads?: ProgramProcess | true) {
    this.#desk = desk;
    this.#command = command;
    this.#threads = threads;
  }

  /** The time of the processor that its processes have used, in milliseconds. */
  get usedMs(): number {
    return [...this.#running].reduce((sum, each) => sum + each.usedMs, this.#endedMs);
  }

  /** True when its clients are threads, which cannot be stopped or killed. */
  get ofThreads(): boolean {
    return this.#threads !== undefined;
  }

  /** The process for a client: the one of the last world, or a new one. */
  processFor(client: string): Promise<ProgramProcess> {
    if (typeof this.#threads === 'object') return Promise.resolve(this.#threads);
    const name = this.#threads === undefined ? client : '';
    // Clients that share a process ask for it at the same time: the second one waits for the process of the first.
    const found = this.#goOn(this.#processes.get(name));
    this.#processes.set(name, found);
    found.catch(() => this.#forget(name, found));
    return found;
  }

  /** The last process if it runs, else a new one. */
  async #goOn(last: Promise<ProgramProcess> | undefined): Promise<ProgramProcess> {
    const known = await last;
    if (known?.alive === true) return known;
    if (known !== undefined) await this.#end(known);
    const started = await this.#desk.start(this.#command);
    this.#running.add(started);
    return started;
  }

  #forget(name: string, process: Promise<ProgramProcess>): void {
    if (this.#processes.get(name) === process) this.#processes.delete(name);
  }

  async #end(each: ProgramProcess): Promise<void> {
    this.#endedMs += each.usedMs;
    this.#running.delete(each);
    await this.#desk.end(each);
  }

  /** After a world: ends the processes that do not come back from it. @param fresh ends all of them */
  async back(fresh: boolean): Promise<void> {
    const all = [...this.#processes];
    await Promise.all(
      all.map(async ([name, starting]) => {
        const each = await starting.catch(() => undefined);
        if (each === undefined) return;
        const isBack = fresh || (await comesTrue(() => each.asks || !each.alive, BACK_WITHIN));
        if (!fresh && isBack && each.alive) return;
        this.#forget(name, starting);
        await this.#end(each);
      }),
    );
  }

  /** Ends all processes. */
  async close(): Promise<void> {
    const all = [...this.#processes.values()];
    this.#processes.clear();
    await Promise.all(
      all.map((starting) =>
        starting.then(
          (each) => this.#end(each),
          () => {},
        ),
      ),
    );
  }
}
