/** One client of a world: its process, its Redis clients, and the lives of the user's code in it. */
import { inspect } from 'node:util';
import type { Redis, RedisClusterOptions, RedisOptions } from '../lab/ioredis-types.ts';
import type { Actor } from '../lab/time/actor.ts';
import { needsReadyCheck } from '../lab/virtual/client.ts';
import type { World } from '../lab/virtual/world.ts';
import type { Ledger, LedgerClient } from './ledger.ts';
import { PROBE } from './names.ts';
import { type ClientSession, resourceFor } from './session.ts';
import type { Nodes } from './topology.ts';

/** Nodes of the lab never load anything slowly, so that INFO, by which ioredis looks for that, only costs time. */
export function lightOptions(): RedisOptions {
  return needsReadyCheck() ? {} : { enableReadyCheck: false };
}

/** The user's code. */
export type ClientCode = (session: ClientSession) => unknown;

/** What a player needs of its world. */
export interface PlayerStage {
  readonly world: World;
  readonly nodes: Nodes;
  readonly ledger: Ledger;
  readonly signal: AbortSignal;
  /** Milliseconds since the clients started. */
  now(): number;
  /** Notes what a client did, for the story. */
  note(who: string, what: string, kind: 'client' | 'trouble'): void;
}

/** How a life of the user's code ended. */
export type LifeEnd = 'returned' | 'threw' | 'died';

/** A client. Its process can be paused, killed and started again. */
export class Player implements LedgerClient {
  readonly name: string;
  readonly actor: Actor;
  life = 0;
  resumedAt = -1;
  /** How its last life ended; undefined while it lasts. */
  end: LifeEnd | undefined;
  /** How many of its lives ended by themselves. */
  returned = 0;
  readonly #stage: PlayerStage;
  #servers: readonly Redis[] = [];
  #died: (() => void) | undefined;

  constructor(stage: PlayerStage, name: string) {
    this.name = name;
    this.#stage = stage;
    for (const set of stage.nodes.sets) set.actor(name);
    this.actor = stage.world.actor(name);
  }

  get paused(): boolean {
    return this.actor.paused;
  }

  /** True while its process exists. */
  get alive(): boolean {
    return this.actor.alive;
  }

  /** Opens its first clients. Must run as the actor. */
  connect(): void {
    const { nodes } = this.#stage;
    this.#servers = Array.from({ length: nodes.entrances }, (_, i) =>
      nodes.open(this.name, lightOptions(), i),
    );
  }

  /** True when its first clients are connected. */
  get ready(): boolean {
    return this.#servers.every(({ status }) => status === 'ready');
  }

  /** Runs the user's code once. Settles when it has returned, thrown or died; never rejects. */
  live(code: ClientCode): Promise<void> {
    const { ledger } = this.#stage;
    this.end = undefined;
    this.life++;
    const life = this.life;
    ledger.started(this.name);
    const session = this.#session();
    const death = new Promise<void>((resolve) => {
      this.#died = resolve;
    });
    const done = this.actor
      .call(async () => await code(session))
      .then(
        () => this.#over(life, 'returned'),
        (error: unknown) => {
          if (this.life === life && this.end === undefined)
            this.#stage.note(this.name, `gives up: ${describe(error)}`, 'trouble');
          this.#over(life, 'threw');
        },
      );
    return Promise.race([done, death]);
  }

  #over(life: number, how: LifeEnd): void {
    if (life !== this.life || this.end !== undefined) return;
    this.end = how;
    this.returned++;
    for (const visit of this.#stage.ledger.inside) {
      if (visit.client === this.name) this.#stage.ledger.leave(visit, this);
    }
  }

  #session(): ClientSession {
    const { nodes, ledger, signal, world } = this.#stage;
    const servers = this.#servers;
    return {
      name: this.name,
      probe: this.name === PROBE,
      redis: servers[0] as Redis,
      servers,
      urls: nodes.urls,
      connect: (options?: RedisOptions | RedisClusterOptions, primary = 0) => {
        if (primary < 0 || primary >= nodes.entrances)
          throw new RangeError(`there is no primary ${primary}; there are ${nodes.entrances}`);
        return nodes.open(this.name, { ...lightOptions(), ...options }, primary);
      },
      sleep: (ms) => world.advance(ms),
      resource: (name, options) => resourceFor(ledger, this, name, options),
      signal,
    };
  }

  /** Stops the process for a while. */
  pause(): void {
    this.actor.pause();
  }

  /** Continues the process. */
  resume(): void {
    if (!this.paused) return;
    this.resumedAt = this.#stage.now();
    this.actor.resume();
  }

  /** Kills the process. */
  kill(): void {
    this.actor.kill();
    this.#stage.ledger.died(this.name);
    if (this.end === undefined) this.end = 'died';
    this.#died?.();
  }

  /** Starts a new process of the same name; its clients connect anew. */
  revive(): void {
    this.actor.revive();
    this.resumedAt = -1;
  }
}

/** An error on one line. @param longest in characters */
export function describe(error: unknown, longest = 160): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : inspected(error);
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > longest ? `${line.slice(0, longest - 3)}...` : line;
}

/** The text of a thrown value that is not an Error. Code may throw any value, even one that has no text. */
function inspected(thrown: unknown): string {
  return typeof thrown === 'object' ? inspect(thrown) : String(thrown);
}
