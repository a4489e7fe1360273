/** The processes that play the clients of one world at a time, and live on from world to world. */

import { comesTrue } from '../../../lab/real-clock/wait.ts';
import type { HandedWorld, JudgedWorld, ProgramDesk } from '../../../lab/remote/programs/desk.ts';
import { ProgramPorts } from '../../../lab/remote/programs/port.ts';
import { cpuOf } from './cpu.ts';
import type { ClientMessages } from './messages.ts';
import { type ProgramCommand, ProgramProcess } from './process.ts';

/** How long a process may take to come back from a world, in milliseconds. Then it is replaced. */
const BACK_WITHIN = 1500;

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

  constructor(judges: JudgesAtDesk) {
    this.#judges = judges;
  }

  /** Starts a process with a port of its own. */
  async start(command: ProgramCommand): Promise<ProgramProcess> {
    const port = await this.ports.open();
    try {
      const started = new ProgramProcess(command, port);
      this.#processes.set(port.port, started);
      return started;
    } catch (error) {
      await port.close();
      throw error;
    }
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

  /** @param threads true when the clients are threads of one process; or that process, when somebody else has started it */
  constructor(desk: WorldDesk, command: ProgramCommand, threads?: ProgramProcess | true) {
    this.#desk = desk;
    this.#command = command;
    this.#threads = threads;
  }

  /** The ids of its processes. */
  get pids(): number[] {
    return [...this.#running].flatMap(({ pid }) => pid ?? []);
  }

  /** The time of the processor that its processes have used that have ended, in milliseconds. */
  usedMs = 0;

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
    this.usedMs += cpuOf(each.pid) ?? 0;
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
