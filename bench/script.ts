/**
 * Measures how fast the engine alone runs lock scripts and loops, beside redis-server's own figures: `npx tsx
 * bench/script.ts`.
 */
import { type Bytes, parseDouble } from '../protocol/bytes.ts';
import type { Reply } from '../protocol/reply.ts';
import { compile } from '../scripting/registry.ts';
import type { ScriptHost } from '../scripting/runtime/host.ts';
import { Random48 } from '../scripting/runtime/random48.ts';
import { RawClient } from '../test/support/raw-client.ts';
import { hasRedisServer, startRedisServer } from '../test/support/redis-server.ts';

const ROUNDS = 9;

const SCRIPTS: Record<string, { source: Bytes; keys: Bytes[]; argv: Bytes[]; times: number }> = {
  're-entrant lock': {
    source: `
if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
  redis.call('hincrby', KEYS[1], ARGV[2], 1)
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
return redis.call('pttl', KEYS[1])`,
    keys: ['lock'],
    argv: ['30000', 'client:1'],
    times: 100_000,
  },
  'unlock of another lock': {
    source:
      "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end",
    keys: ['none'],
    argv: ['token'],
    times: 100_000,
  },
  'fib(24)': {
    source:
      'local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end return fib(24)',
    keys: [],
    argv: [],
    times: 5,
  },
  'loop of 1,000,000': {
    source: 'local x = 0 for i = 1, 1000000 do x = x + i % 7 end return x',
    keys: [],
    argv: [],
    times: 5,
  },
  'table of 100,000: insert, sort, concat': {
    source: `
local t, seed = {}, 42
for i = 1, 100000 do seed = (seed * 1103515245 + 12345) % 2147483648 table.insert(t, seed) end
table.sort(t)
return #table.concat(t, ',')`,
    keys: [],
    argv: [],
    times: 1,
  },
};

/** A minimal store with the commands that the two lock scripts call. */
class BenchHost implements ScriptHost {
  readonly random = new Random48();
  readonly #locks = new Map<Bytes, Map<Bytes, number>>();

  call(argv: Bytes[]): Reply {
    const [name, key = '', field = ''] = argv;
    switch (name) {
      case 'exists':
        return this.#locks.has(key) ? 1 : 0;
      case 'hexists':
        return this.#locks.get(key)?.has(field) ? 1 : 0;
      case 'hincrby': {
        const lock = this.#locks.get(key) ?? new Map<Bytes, number>();
        const count = (lock.get(field) ?? 0) + 1;
        this.#locks.set(key, lock.set(field, count));
        return count;
      }
      case 'pexpire':
        return 1;
      default:
        return null;
    }
  }

  log(): void {
    // nobody reads it
  }

  setProtocol(): void {
    // always 2
  }

  setReplication(): void {
    // nothing to replicate
  }

  allowed(): boolean {
    return true;
  }
}

/** Microseconds per run, in the best round. */
function ours(name: string): number {
  const { source, keys, argv, times } = SCRIPTS[name]!;
  const script = compile(source);
  const input = { argv: [...keys, ...argv], firstKey: 0, keys: keys.length };
  const host = new BenchHost();
  let best = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const started = performance.now();
    for (let i = 0; i < times; i++) script.run(input, host);
    best = Math.min(best, ((performance.now() - started) * 1000) / times);
  }
  return best;
}

/** Microseconds per run as redis-server measures them, without network and parsing. */
async function theirs(client: RawClient, name: string): Promise<number> {
  const { source, keys, argv, times } = SCRIPTS[name]!;
  await client.ask('config', 'resetstat');
  for (let i = 0; i < Math.min(times, 20_000); i++) {
    await client.ask('eval', source, `${keys.length}`, ...keys, ...argv);
  }
  const { raw } = await client.ask('info', 'commandstats');
  return parseDouble(/cmdstat_eval:.*?usec_per_call=([\d.]+)/.exec(raw)?.[1] ?? '') ?? Number.NaN;
}

const server = hasRedisServer ? await startRedisServer() : undefined;
const client = server && (await RawClient.connect({ path: server.path }));
console.log('microseconds per run: ours, redis-server, how many times as fast');
for (const name of Object.keys(SCRIPTS)) {
  const mine = ours(name);
  const other = client === undefined ? Number.NaN : await theirs(client, name);
  const columns = [
    mine.toFixed(2).padStart(10),
    other.toFixed(2).padStart(10),
    (other / mine).toFixed(1).padStart(6),
  ];
  console.log(name.padEnd(40), ...columns);
}
client?.close();
await server?.stop();
