/** A client whose code runs in a process of its own, in any language, and takes part by messages. */

import { pass } from '../../../lab/real-clock/wait.ts';
import type { HandedWorld } from '../../../lab/remote/programs/desk.ts';
import { type ClientCode, type ClientRun, type Entrances, StageClient } from '../../client.ts';
import type { Carry, ClientSession } from '../../session.ts';
import { PROBE } from '../../visit.ts';
import type { Crew, WorldDesk } from './crew.ts';
import { ClientMessages, type Speaker } from './messages.ts';
import type { ProgramProcess, ReservedCall } from './process.ts';

/** How often a program that runs sends a beat at least, in milliseconds. */
const BEATS_EACH = 250;

/** What a client needs of its stage. */
export interface ProgramWorld {
  readonly desk: WorldDesk;
  readonly crew: Crew;
  readonly seed: number;
  readonly lease: number;
  /** The URLs of the primaries for a client. */
  urls(client: string): Promise<string[]>;
  /** A token that no other client has, or had. */
  token(client: string): string;
  /** Waits until a client may start: those before it have acted, or take too long. */
  turn(client: string): Promise<void>;
  /** A client has acted, or ended: the next one may start. */
  moved(client: string): void;
  /** A client has acted at a resource. Settles when faults that strike there have begun. */
  acted(client: string, what: string, resource: string): Promise<void>;
  readonly carry: (client: string, resource: string, arrive: () => boolean) => Promise<boolean>;
  printed(client: string, text: string): void;
  broken(client: string, text: string): void;
  beat(client: string, late: number, isStopped: boolean): void;
  /** Holds the links of a client whose process cannot be stopped, or lets them go. */
  holdLinks(client: string, hold: boolean): void;
}

/** A client. */
export class ProgramClient extends StageClient implements Speaker {
  alive = true;
  protected urls: readonly string[] = [];
  protected readonly carry: Carry;
  readonly #world: ProgramWorld;
  #process: ProgramProcess | undefined;
  #reserved: ReservedCall | undefined;
  #token: string | undefined;
  #messages: ClientMessages | undefined;
  /** How often its process has begun anew. */
  #begun = 0;
  /** True when the world has ended. */
  #left = false;
  #stopped = false;
  /** When its process last went on, in milliseconds. */
  #wentOn = -Infinity;
  /** When its process was last heard of, in milliseconds. */
  #heard = -Infinity;
  /** True from a stop until the client acts again: what it believed before does not count meanwhile. */
  #asleep = false;
  #waiting: (() => void)[] = [];

  constructor(run: ClientRun, nodes: Entrances, world: ProgramWorld, name: string, known?: string) {
    super(run, nodes, name, known);
    this.#world = world;
    this.carry = (resource, arrive) => world.carry(name, resource, arrive);
  }

  get paused(): boolean {
    return this.#stopped || this.#asleep;
  }

  /** True while its process stands still. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Resolves when a process asks for this client. */
  async connect(): Promise<void> {
    this.urls = await this.#world.urls(this.name);
    if (this.#reserved !== undefined || this.#left) return;
    const begun = this.#begun;
    const isLate = (): boolean => this.#left || !this.alive || this.#begun !== begun;
    const found = await this.#world.crew.processFor(this.name);
    if (isLate()) return;
    this.#process = found;
    const reserved = await found.reserve();
    // Kept by a world that has ended, the call would be missing in the next one.
    if (isLate()) reserved.release();
    else this.#reserved = reserved;
  }

  protected call<T>(code: () => Promise<T>): Promise<T> {
    return code();
  }

  override live(_code: ClientCode): Promise<void> {
    return super.live((session) => this.#play(session));
  }

  /** Hands the client to its process. Settles with DONE. */
  async #play(session: ClientSession): Promise<void> {
    const { name } = this;
    const world = this.#world;
    const begun = this.#begun;
    if (this.#reserved === undefined) await this.connect();
    if (this.life === 1 && name !== PROBE) await world.turn(name);
    const reserved = this.#reserved;
    // Meanwhile the world has ended, or the process has begun anew.
    if (reserved === undefined || this.#begun !== begun) return;
    this.#reserved = undefined;
    const process = this.#process as ProgramProcess;
    if (!this.alive) return reserved.release();
    const token = world.token(name);
    this.#token = token;
    const { life } = this;
    try {
      await new Promise<void>((resolve, reject) => {
        const ended = (error: string | undefined): void =>
          error === undefined ? resolve() : reject(errorOf(error));
        this.#messages = new ClientMessages(this, session, () => this.run.now(), ended);
        world.desk.open(token, this.#messages);
        process.onLine = (text) => world.printed(name, text);
        process.onEnd = (how) => {
          if (this.life !== life || !this.alive) return;
          this.alive = false;
          this.ended({ how: 'exception', text: how, error: new Error(how) });
        };
        const handed: HandedWorld = {
          ...{ token, client: session.name, urls: this.urls, seed: world.seed, lease: world.lease },
          probe: name === PROBE,
        };
        this.#heard = this.run.now();
        reserved.give(handed);
      });
    } finally {
      world.moved(name);
      world.desk.over(token);
    }
  }

  /** The world has ended: its messages reach nothing any more, those that wait are answered, and its process goes on. */
  leave(): void {
    this.#left = true;
    this.#noteSilence();
    this.#messages?.end();
    if (this.#token !== undefined) this.#world.desk.over(this.#token);
    this.#reserved?.release();
    this.#reserved = undefined;
    if (this.#process !== undefined) {
      this.#process.onLine = () => {};
      this.#process.onEnd = () => {};
    }
    this.continueProcess();
  }

  /** A process that should have sent a beat stands still, or did so too late for it. */
  #noteSilence(): void {
    if (this.#process?.beats !== true || this.end !== undefined || !this.alive || this.#stopped) return;
    const silent = this.run.now() - Math.max(this.#heard, this.#wentOn) - BEATS_EACH;
    this.#world.beat(this.name, silent, false);
  }

  protected async sleep(ms: number): Promise<void> {
    await pass(ms);
  }

  protected block(): void {}

  pause(): void {
    this.#stopped = true;
    this.#asleep = true;
    if (this.#world.crew.ofThreads) this.#world.holdLinks(this.name, true);
    else this.#process?.stop();
  }

  protected continueProcess(): void {
    if (!this.#stopped) return;
    this.#stopped = false;
    this.#wentOn = this.run.now();
    if (this.#world.crew.ofThreads) this.#world.holdLinks(this.name, false);
    else this.#process?.proceed();
    for (const wake of this.#waiting.splice(0)) wake();
  }

  protected endProcess(): void {
    this.alive = false;
    this.#stopped = false;
    if (this.#token !== undefined) this.#world.desk.over(this.#token);
    this.#process?.kill();
    this.#waiting = [];
    this.#world.moved(this.name);
  }

  protected beginProcess(): void {
    this.#begun++;
    this.alive = true;
    this.#asleep = false;
    this.#process = undefined;
    this.#reserved = undefined;
  }

  acted(what: 'enters' | 'writes' | 'leaves', resource: string): Promise<void> {
    return this.#world.acted(this.name, what, resource);
  }

  awake(): void {
    this.#asleep = false;
  }

  async free(): Promise<void> {
    while (this.#stopped) await new Promise<void>((wake) => this.#waiting.push(wake));
  }

  moved(): void {
    this.#world.moved(this.name);
  }

  noted(text: string): void {
    this.run.note(this.name, text);
  }

  broken(text: string): void {
    this.#world.broken(this.name, text);
  }

  beat(late: number): void {
    this.#heard = this.run.now();
    if (this.#process !== undefined) this.#process.beats = true;
    // A beat that is late because we stopped the process is no stall of the machine.
    const isOurs = this.#stopped || this.run.now() - this.#wentOn < late + 50;
    this.#world.beat(this.name, late, isOurs);
  }
}

/** The error of a program, from its text such as `LockError: not owned`. */
function errorOf(text: string): Error {
  const [, name = 'Error', message = text] = /^(\w[\w.]*): (.*)$/s.exec(text) ?? [];
  return Object.assign(new Error(message), { name });
}
