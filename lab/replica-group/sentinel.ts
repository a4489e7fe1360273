/** What Sentinels on both clocks have in common: their events, the address that they announce, and a state on disk. */

import { defined } from '../../base/defined.ts';
import { forceFailover } from '../../sentinel/commands/sentinel.ts';
import { keepIn } from '../../sentinel/configuration/directives.ts';
import type { SentinelOptions } from '../../sentinel/index.ts';
import type { SentinelEvent } from '../../sentinel/sentinel.ts';
import type { SentinelServer } from '../../sentinel/server.ts';
import type { DialectName } from '../../server/dialects/index.ts';
import { type SentinelsOptions, watch } from '../../start/sentinel-options.ts';
import { type Machine, Party } from './machine.ts';

/** The file with the configuration and the state of a Sentinel. */
const FILE = 'sentinel.conf';

/** What all Sentinels of a set are started with. */
export interface SentinelsPlan {
  readonly options: SentinelsOptions & { readonly count: number };
  /** The primary to monitor. */
  readonly primary: () => { readonly host: string; readonly port: number };
  readonly dialect?: DialectName;
  readonly strict?: boolean;
}

/** A Sentinel on either clock. */
export abstract class AnySentinel<C = unknown> extends Party<C> {
  /** @internal The current process; after a crash, the one that died. */
  abstract server: SentinelServer;
  /** @internal Called when it has promoted the node at this port, with the epoch in which it was elected for that. */
  onPromoted: (port: number, epoch: number) => void = () => {};
  readonly #plan: SentinelsPlan;
  readonly #events: SentinelEvent[] = [];

  /** @internal */
  constructor(machine: Machine<C>, plan: SentinelsPlan) {
    super(machine);
    this.#plan = plan;
  }

  /** The port at which clients reach the Sentinel. */
  abstract get port(): number;

  /** @internal Ends the process. */
  abstract crash(): unknown;

  /** The address at which clients reach the Sentinel. */
  get address(): { readonly host: string; readonly port: number } {
    return { host: '127.0.0.1', port: this.port };
  }

  /** @internal What a new process is started with. @param port that it shows, if it is known before */
  protected serverOptions(port?: number): SentinelOptions {
    const { dialect, strict, options } = this.#plan;
    const { password = '' } = options;
    return { settings: { ...defined({ port }), requirepass: password }, ...defined({ dialect, strict }) };
  }

  /** Every event since the first start, oldest first. */
  get events(): readonly SentinelEvent[] {
    return this.#events;
  }

  /** The name under which it monitors the primary. */
  get primaryName(): string {
    return this.#plan.options.name ?? 'mymaster';
  }

  /** The port of the node that it announces as the primary. */
  get announcedPort(): number | undefined {
    return this.server.sentinel.primaries.get(this.primaryName)?.announced.port;
  }

  /** @internal True when it has heard from all other Sentinels and from so many replicas. */
  knowsEverybody(replicas: number): boolean {
    const primary = this.server.sentinel.primaries.get(this.primaryName);
    if (primary?.sentinels.size !== this.#plan.options.count - 1) return false;
    const heard = [primary, ...primary.replicas.values()].filter(({ infoAt }) => infoAt > 0);
    return heard.length === replicas + 1;
  }

  /** SENTINEL FAILOVER: replaces the primary without asking others. Throws Redis' error if no replica is good enough. */
  forceFailover(): void {
    const { server } = this;
    server.unit(() => forceFailover(server, this.primaryName));
    server.settle();
  }

  /** @internal Starts to monitor, with the state that the disk still has. */
  protected begin(): void {
    const { server } = this;
    const { sentinel } = server;
    const crash = (): void => void this.crash();
    server.onShutdown = crash;
    const keep = (event: SentinelEvent): void => {
      this.#events.push(event);
      this.machine.note(event.type, event.text);
      const { promoted, epoch } = sentinel.primaries.get(this.primaryName)?.failover ?? {};
      if (event.type === '+promoted-slave' && promoted && epoch)
        this.onPromoted(promoted.address.port, epoch);
    };
    sentinel.onEvent = keep;
    keepIn(sentinel, FILE);
    if (sentinel.primaries.size === 0) {
      watch(server, { ...this.#plan.primary(), password: undefined }, this.#plan.options);
      sentinel.flush();
    }
    server.start();
  }
}
