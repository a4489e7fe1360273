/** The stock: reads, deducts one and writes back, like a service that relies on its lock. */
import type { Redis } from 'ioredis';

/** Where the stock is stored: a server of its own, which never fails over. */
export class Stock {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  key(segment?: number): string {
    return segment === undefined ? 'stock' : `stock:${segment}`;
  }

  async read(segment?: number): Promise<number> {
    return Number((await this.#redis.get(this.key(segment))) ?? 0);
  }

  async write(units: number, segment?: number): Promise<boolean> {
    await this.#redis.multi().set(this.key(segment), units).incr('sold').exec();
    return true;
  }

  /** Writes unless a greater fence was seen: what the resource does for a fenced lock. */
  async writeFenced(units: number, fence: number): Promise<boolean> {
    const script = `
      if tonumber(ARGV[2]) < tonumber(redis.call('get', KEYS[2]) or 0) then return 0 end
      redis.call('set', KEYS[1], ARGV[1])
      redis.call('incr', KEYS[3])
      return 1`;
    return (await this.#redis.eval(script, 3, 'stock', 'fence', 'sold', units, fence)) === 1;
  }

  /** Announces a fence to the resource before the stock is read, so that smaller fences can no longer write. */
  async announce(fence: number): Promise<boolean> {
    const script = `
      if tonumber(ARGV[1]) < tonumber(redis.call('get', KEYS[1]) or 0) then return 0 end
      redis.call('set', KEYS[1], ARGV[1])
      return 1`;
    return (await this.#redis.eval(script, 1, 'fence', String(fence))) === 1;
  }
}

/** How one unit is sold. */
export interface Sale {
  work(): Promise<void>;
  dies(): boolean;
  /** Throws when the lock is no longer held. */
  check?(): void;
  fence?: number | undefined;
  segment?: number;
}

/** Sells one unit. */
export async function sellOne(stock: Stock, sale: Sale): Promise<'sold' | 'sold out' | 'refused' | 'died'> {
  if (sale.fence !== undefined && !(await stock.announce(sale.fence))) return 'refused';
  const units = await stock.read(sale.segment);
  if (units <= 0) return 'sold out';
  await sale.work();
  if (sale.dies()) return 'died';
  sale.check?.();
  const written =
    sale.fence === undefined
      ? await stock.write(units - 1, sale.segment)
      : await stock.writeFenced(units - 1, sale.fence);
  return written ? 'sold' : 'refused';
}
