/** What Sentinels on both clocks have in common: their events, the address that they announce, and a state on disk. */
import { badOption } from '../../embed/options.ts';
import { readSentinels, type SentinelsOptions, watch } from '../../embed/sentinel-options.ts';
import { forceFailover } from '../../sentinel/commands/sentinel.ts';
import { keepIn } from '../../sentinel/configuration.ts';
import type { SentinelEvent } from '../../sentinel/sentinel.ts';
import type { SentinelServer } from '../../sentinel/server.ts';
import type { DialectName } from '../../server/dialects/index.ts';
import type { DialectOptions } from './dialects.ts';
import type { FailoverOptions } from './roles.ts';

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

/** The plan's dialect, as options of a Sentinel. */
export function spokenBy({ dialect, strict }: SentinelsPlan): { dialect?: DialectName; strict?: boolean } {
  return { ...(dialect !== undefined && { dialect }), ...(strict !== undefined && { strict }) };
}

/** The options of a set about its Sentinels. */
export interface SentinelChoice {
  /**
   * How many Sentinels decide on failovers, or their options; default 0. They run on the same clock, behind the same
   * links, under the names sentinel-1, sentinel-2 and so on.
   */
  readonly sentinels?: number | SentinelsOptions;
}

/** The names of the Sentinels. */
export function sentinelNames({ sentinels }: SentinelChoice): string[] {
  return Array.from({ length: readSentinels(sentinels).count }, (_, i) => `sentinel-${i + 1}`);
}

/** The plan for the Sentinels of a set. @param options those of the set, which its Sentinels share */
export function planOf(
  options: SentinelChoice & DialectOptions,
  primary: SentinelsPlan['primary'],
): SentinelsPlan {
  const { dialect, strict } = options;
  return {
    options: readSentinels(options.sentinels),
    primary,
    ...(typeof dialect === 'string' && { dialect }),
    ...(strict !== undefined && { strict }),
  };
}

/** How long a failover by Sentinels may take, in milliseconds: they notice it, and try again once. */
export function patienceOf({ options }: SentinelsPlan): number {
  const { downAfter = 5000, failoverTimeout = 60_000 } = options;
  return downAfter + 4 * failoverTimeout + 60_000;
}

/** True when the last switch of a Sentinel was to the node at this port. */
export function hasSwitchedTo(events: readonly SentinelEvent[], port: number): boolean {
  const last = events.findLast(({ type }) => type === '+switch-master');
  return last?.text.endsWith(` ${port}`) === true;
}

/** The error when no replica was promoted in time, with what the Sentinels said last. */
export function notPromoted(sentinels: readonly AnySentinel[], ms: number): Error {
  const last = sentinels.map(({ name, events }) => {
    const event = events.at(-1);
    return event === undefined ? name : `${name}: ${event.type} ${event.text}`;
  });
  return new Error(
    `the Sentinels promoted no replica within ${ms} ms; their last events: ${last.join('; ')}`,
  );
}

/** A Sentinel on either clock. */
export abstract class AnySentinel {
  /** The Sentinel's name, as links and `pause` take it. */
  readonly name: string;
  /** The current process; after a crash, the one that died. */
  abstract server: SentinelServer;
  protected running = true;
  readonly #plan: SentinelsPlan;
  readonly #events: SentinelEvent[] = [];

  constructor(name: string, plan: SentinelsPlan) {
    this.name = name;
    this.#plan = plan;
  }

  /** False between a crash and the restart. */
  get up(): boolean {
    return this.running;
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

  /** True when it has heard from all other Sentinels and from so many replicas. */
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

  /** Starts to monitor, with the state that the disk still has. */
  protected begin(server: SentinelServer, noted: (event: SentinelEvent) => void): void {
    const { sentinel } = server;
    sentinel.onEvent = (event) => {
      this.#events.push(event);
      noted(event);
    };
    keepIn(sentinel, FILE);
    if (sentinel.primaries.size === 0) {
      watch(server, { ...this.#plan.primary(), password: undefined }, this.#plan.options);
      sentinel.flush();
    }
    server.start();
  }
}

/** Throws TypeError for options of `failover` that only the lab itself can follow. */
export function checkSentinelFailover({ to, after, demote }: FailoverOptions): void {
  const refused = { to, after, demote };
  for (const [name, value] of Object.entries(refused)) {
    if (value !== undefined)
      throw badOption(`failover.${name}`, value, 'nothing, because the Sentinels decide');
  }
}
