/** The two Sentinels that get the same requests: lostlock's, and the real one of the dialect. */

import type { DialectName } from '../../../server/dialects/index.ts';
import { startSentinel } from '../../../start/sentinel.ts';
import { RawClient } from '../../support/raw-client.ts';
import { startRealSentinel } from '../../support/redis-sentinel.ts';
import { ordered, printed, printedEvent } from './compare.ts';

/** A primary that marks the end of a program's events. */
const FENCE = 'fence';

/** One Sentinel under test. */
export class Side {
  readonly #client: RawClient;
  readonly #subscriber: RawClient;
  readonly #stop: () => Promise<void>;

  private constructor(client: RawClient, subscriber: RawClient, stop: () => Promise<void>) {
    this.#client = client;
    this.#subscriber = subscriber;
    this.#stop = stop;
  }

  static async ours(dialect: DialectName): Promise<Side> {
    const place = { host: '127.0.0.1', port: 0, dialect, strict: true };
    const sentinel = await startSentinel(place, {});
    return Side.#of(sentinel.port, () => sentinel.stop());
  }

  static async real(program: string): Promise<Side> {
    const sentinel = await startRealSentinel(program, []);
    return Side.#of(sentinel.port, sentinel.stop);
  }

  static async #of(port: number, stop: () => Promise<void>): Promise<Side> {
    const [client, subscriber] = [await RawClient.connect({ port }), await RawClient.connect({ port })];
    await subscriber.ask('PSUBSCRIBE', '*');
    return new Side(client, subscriber, stop);
  }

  async ask(words: readonly string[]): Promise<string> {
    const [first = '', ...rest] = words;
    return printed(words, (await this.#client.ask(first, ...rest)).value);
  }

  /** The events since the last call, in order. */
  async events(): Promise<string[]> {
    await this.ask(['SENTINEL', 'MONITOR', FENCE, '127.0.0.1', '1', '1']);
    await this.ask(['SENTINEL', 'REMOVE', FENCE]);
    const events: string[] = [];
    for (;;) {
      const event = printedEvent((await this.#subscriber.read()).value);
      if (event?.startsWith(`-monitor master ${FENCE} `)) return ordered(events);
      if (event !== undefined && !event.includes(`master ${FENCE} `)) events.push(event);
    }
  }

  /** Brings it back to a known state. Epochs only grow, and are the same on both sides. */
  async reset(): Promise<void> {
    await this.ask(['HELLO', '2']);
    const reply = (await this.#client.ask('ROLE')).value[1];
    const names = (reply as unknown as [string, [string, string][]][])[1]![1].map(([, name]) => name);
    for (const name of names) await this.ask(['SENTINEL', 'REMOVE', name]);
    for (const name of ['resolve-hostnames', 'announce-hostnames']) {
      await this.ask(['SENTINEL', 'CONFIG', 'SET', name, 'no']);
    }
    await this.ask(['SENTINEL', 'CONFIG', 'SET', 'announce-ip', '']);
    await this.ask(['SENTINEL', 'CONFIG', 'SET', 'announce-port', '0']);
    await this.ask(['SENTINEL', 'CONFIG', 'SET', 'sentinel-user', '']);
    await this.ask(['SENTINEL', 'DEBUG', 'default-down-after', '30000', 'ask-period', '1000']);
    await this.ask(['ACL', 'DELUSER', 'u']);
    await this.ask(['CLIENT', 'SETNAME', '']);
  }

  async stop(): Promise<void> {
    this.#client.close();
    this.#subscriber.close();
    await this.#stop();
  }
}
