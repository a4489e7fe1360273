/**
 * The setting client-output-buffer-limit: closes clients that do not read their output fast enough, without a reply.
 */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Statistics } from '../figures/statistics.ts';
import { silence } from '../host/silence.ts';
import type { HasHost, HasLog, HasSettings } from '../ports.ts';
import {
  defaultOutputLimits,
  OUTPUT_CLASSES,
  OUTPUT_LIMITS,
  type OutputClass,
  type OutputLimit,
  parseOutputLimits,
} from '../settings/output-limits.ts';
import { BadSetting } from '../settings/parameters.ts';
import { type Client, PRIMARY_LINK, REPLICA_LINK } from './client.ts';

function print(limits: ReadonlyMap<OutputClass, OutputLimit>): Bytes {
  return OUTPUT_CLASSES.map((name) => {
    const { hard, soft, seconds } = limits.get(name) ?? { hard: 0, soft: 0, seconds: 0 };
    return `${name} ${hard} ${soft} ${seconds}`;
  }).join(' ');
}

/** The node, as its output limits see it. */
interface LimitingNode extends HasHost, HasLog, HasSettings {
  readonly stats: Statistics;
}

/** The output limits of a node's clients, by class (https://redis.io/docs/latest/develop/reference/clients/). */
export class OutputLimits {
  readonly #server: LimitingNode;
  readonly #limits = defaultOutputLimits();
  /** What the limits are as a setting. */
  #applied: Bytes = OUTPUT_LIMITS;
  /** When each client exceeded its soft limit, in milliseconds since the epoch. */
  readonly #above = new Map<Client, number>();

  constructor(server: LimitingNode) {
    this.#server = server;
  }

  /**
   * Applies the classes that the setting names, and writes all classes back into it. Other classes keep their limits.
   */
  configure(): void {
    const { settings } = this.#server;
    const text = settings['client-output-buffer-limit'];
    if (text === this.#applied) return;
    const changes = parseOutputLimits(text);
    if (changes instanceof BadSetting) throw new RangeError(changes.why);
    for (const [name, limit] of changes) this.#limits.set(name, limit);
    this.#applied = print(this.#limits);
    settings['client-output-buffer-limit'] = this.#applied;
  }

  /**
   * Checks a client's undelivered output. If it exceeds the limit, the connection is closed after the current event.
   */
  check(client: Client): void {
    const limit = client.has(PRIMARY_LINK) ? undefined : this.#limits.get(classOf(client));
    if (limit === undefined) return;
    const bytes = client.output.pending;
    let { hard } = limit;
    if (hard > 0 && client.has(REPLICA_LINK))
      hard = Math.max(hard, this.#server.settings['repl-backlog-size']);
    if (hard > 0 && bytes > hard) this.#cutOff(client);
    else if (limit.soft > 0 && bytes > limit.soft) this.#watch(client, limit);
    else this.#above.delete(client);
  }

  /** Forgets a client whose connection is closed. */
  forget(client: Client): void {
    this.#above.delete(client);
  }

  // The soft limit must be exceeded without a break; the output is checked again at the end of that time, and once a second after
  // that if this node itself stood still during that time.
  #watch(client: Client, { seconds }: OutputLimit): void {
    const { host } = this.#server;
    const { clock } = host;
    const since = this.#above.get(client);
    if (since === undefined) {
      const now = clock.now();
      this.#above.set(client, now);
      const checkAgain = (): void => {
        if (this.#above.get(client) === now) this.check(client);
        if (this.#above.get(client) === now) clock.at(clock.now() + 1000, checkAgain);
      };
      clock.at(now + (seconds + 1) * 1000, checkAgain);
    } else if (silence(host, clock.now(), since, seconds * 1000) > seconds * 1000) this.#cutOff(client);
  }

  #cutOff(client: Client): void {
    this.#above.delete(client);
    this.#server.stats.outputBufferDisconnections++;
    this.#server.log(
      'warning',
      `Client ${client.id} is closed: its output exceeded client-output-buffer-limit`,
    );
    client.output.mute();
    this.#server.host.clock.soon(() => client.abort());
  }
}

function classOf(client: Client): OutputClass {
  if (client.has(REPLICA_LINK)) return 'slave';
  return client.subscriptions.total > 0 ? 'pubsub' : 'normal';
}
