/** The simple lock: a string with a random token, taken, renewed and given back by that token only. */
import { ServerAcquisition } from './acquisition.ts';
import type { Core } from './core.ts';
import type { Held } from './held.ts';
import { abandonedKey, prefixed } from './keys.ts';
import { Lock, type Wish } from './lock.ts';
import { simpleAcquireScript, simpleReleaseScript } from './scripts/simple.ts';
import type { LockServer } from './server.ts';
import { insistOnRelease } from './taking.ts';
import type { Acquisition, Attempt } from './waiting.ts';
import { chooseFirst } from './wakeups.ts';

export { MARKER_MS, renewOne } from './acquisition.ts';

export class SimpleLock extends Lock<Held> {
  protected prepare(wish: Wish): Acquisition<Held> {
    return new SimpleAcquisition(this.core, this.name, wish);
  }
}

/** The channel on which a simple lock's release is told. */
export const simpleChannel = (name: string): string => prefixed('lostlock_lock__channel', name);

/** Releases by token until an answer comes or the lease is over. */
export function releaseByToken(
  server: LockServer,
  name: string,
  token: string,
  validUntil: number,
  markerMs = 0,
  background = false,
): Promise<boolean> {
  const channel = simpleChannel(name);
  const keys = [name, channel, ...(markerMs > 0 ? [abandonedKey(name, token)] : [])];
  const release = async (): Promise<boolean> => {
    const reply = Number(await server.run(simpleReleaseScript, keys, [token, server.publish, markerMs]));
    if (reply > 1) server.wakeups.heardBy(channel, reply - 1);
    return reply >= 1;
  };
  return insistOnRelease(server, release, validUntil, background);
}

class SimpleAcquisition extends ServerAcquisition {
  readonly channel = simpleChannel(this.lock);
  readonly choose = chooseFirst;
  readonly ordered = true;
  readonly handsOver = true;
  readonly #token: string;

  constructor(core: Core, name: string, wish: Wish) {
    super(core, name, wish);
    this.#token = core.owners.token();
  }

  async attempt(): Promise<Attempt<Held>> {
    const sentAt = Date.now();
    const reply = await this.take({
      script: simpleAcquireScript,
      keys: [this.lock, abandonedKey(this.lock, this.#token)],
      args: [this.#token, this.ttlMs],
      granted: (answer) => answer === null,
      undo: () => this.#giveBack(Date.now() + this.wish.leaseMs),
    });
    if (reply !== null) return { retryInMs: Number(reply) };
    const renewal = { kind: 'string', keys: [this.lock], token: this.#token } as const;
    return { held: this.held(sentAt, renewal, (validUntil) => this.#giveBack(validUntil)) };
  }

  /** A request that may be under way is marked, so that it takes nothing if it is late. */
  #giveBack(validUntil: number, background = false): Promise<boolean> {
    return releaseByToken(this.core.server, this.lock, this.#token, validUntil, this.markerMs, background);
  }

  async abandon(unknown: boolean): Promise<void> {
    if (unknown) this.#giveBack(Date.now() + this.wish.leaseMs, true).catch(() => {});
  }
}
