/**
 * The execution unit: one request, one transaction or one internal step, during which time stands still and after which
 * the effects are propagated together.
 */
import type { KeyspaceWorld } from '../keyspace/keyspace.ts';
import { allowance, type MemoryRule, UNLIMITED_MEMORY } from '../protocol/allowance.ts';
import type { Bytes, Millis } from '../protocol/bytes.ts';
import { type Client, PRIMARY_LINK } from './clients/client.ts';
import type { Effects } from './effects.ts';
import type { Effect, HasDialect, HasHost } from './ports.ts';

/** Commands that may touch keys the client did not name. Their removals of expired keys do not belong together. */
const MEETS_ARBITRARY_KEYS: ReadonlySet<Bytes> = new Set(['scan', 'randomkey']);

/** The node that runs units. */
interface UnitNode extends HasHost, HasDialect {
  readonly memory: MemoryRule;
  readonly world: KeyspaceWorld;
  readonly effects: Effects;
  readonly expiry: { expireDue(): void };
  readonly observer: { readonly slow: Millis; suspect(now: Millis): void };
  readonly replication: { feed(effects: readonly Effect[], atomic: boolean, limited: boolean): void };
}

/** Splits effects: a hash that went with its last expired fields is one part, every other effect another. */
function* keptTogether(effects: readonly Effect[]): Iterable<readonly Effect[]> {
  for (let i = 0; i < effects.length; i++) {
    const [first, second] = effects.slice(i, i + 2) as [Effect, Effect | undefined];
    const isPair =
      first.argv[0] === 'HDEL' &&
      /^(UNLINK|DEL)$/.test(second?.argv[0] ?? '') &&
      second?.argv[1] === first.argv[1];
    yield isPair && second !== undefined ? [first, second] : [first];
    if (isPair) i++;
  }
}

/** The current execution unit of a node. Units nest: a script's commands belong to the unit of EVAL. */
export class ExecutionUnit {
  /** The nesting depth; 0 between units. */
  depth = 0;
  /** The client whose request is running; undefined between requests and in internal steps. */
  client: Client | undefined;
  /**
   * True while the next unit may keep the time of the last: within one batch of requests, after a quick command. A pipeline
   * of GETs reads the clock once. That costs 45 ns, a tenth of a GET.
   */
  fresh = false;
  /** True if the last unit was a script that took hardly any time. */
  wasBrief = false;
  readonly #node: UnitNode;

  constructor(node: UnitNode) {
    this.#node = node;
  }

  /** Runs work as one unit, or as part of the current one. */
  run<T>(work: () => T, client?: Client): T {
    if (this.depth === 0) this.begin(client);
    this.depth++;
    try {
      return work();
    } finally {
      this.depth--;
      if (this.depth === 0) this.end();
    }
  }

  /** Starts a unit: reads the clock, unless the time is fresh, and removes the keys that expired before it. The caller counts `depth`. */
  begin(client: Client | undefined): void {
    const node = this.#node;
    const isRefusable = client === undefined || !client.has(PRIMARY_LINK);
    allowance.begin(isRefusable ? node.memory : UNLIMITED_MEMORY);
    this.client = client;
    this.wasBrief = false;
    if (this.fresh) return;
    const now = node.host.clock.now();
    if (now - node.world.now >= node.observer.slow) node.observer.suspect(now);
    node.world.now = now;
    const { wheel } = node.world;
    if (!wheel.mayBeDue(now)) return;
    const next = wheel.next();
    if (next === undefined || next >= now) return;
    // Keys that expired earlier are not part of the unit.
    node.expiry.expireDue();
    if (!node.effects.isEmpty) this.#feed(false);
  }

  /** Ends a unit and propagates its effects. */
  end(): void {
    if (!this.#node.effects.isEmpty) {
      this.#feed(!MEETS_ARBITRARY_KEYS.has(this.client?.lastCommand?.name ?? ''));
    }
    this.client = undefined;
  }

  #feed(atomic: boolean): void {
    // The client takes its place in the order of writes now, because replicas are sent the effects before its reply.
    this.client?.output.reserve();
    const { limited } = this.#node.effects;
    const effects = this.#node.effects.take();
    const { replication, dialect } = this.#node;
    if (atomic || dialect.lastFields === 'HDEL')
      replication.feed(effects, atomic && effects.length > 1, limited);
    else for (const part of keptTogether(effects)) replication.feed(part, part.length > 1, limited);
  }
}
