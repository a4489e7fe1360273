/** Random programs give the same results in both forms of execution, and in redis-server where it is installed. */
import { expect, test } from 'vitest';
import { sampleOf } from '../support/long.ts';
import { hasRedisServer } from '../support/redis-server.ts';
import { LuaOracle } from './lua-golden.ts';
import { Generator, type Program, shrink, textOf } from './lua-programs.ts';
import { evaluate, evaluateInSlices, FakeHost } from './script-host.ts';

const seed = +(process.env.LOSTLOCK_SEED ?? 1);
const count = +(process.env.LOSTLOCK_COUNT ?? sampleOf(20_000, 150));

/** The sign of a NaN and the address of an object differ from Redis (docs/differences.md). */
function comparable(reply: string): string {
  return reply
    .replaceAll('-nan', 'nan')
    .replace(/: 0x[0-9a-f]+/g, ': 0x')
    .replace(/([\xc0\xf8])\xff/g, '$1\x7f')
    .replace(/\xff([\xc0\xf8])/g, '\x7f$1');
}

/** Each form has its own host, and both hosts give the same random numbers. */
function ours(source: string): string {
  return comparable(evaluate(source, new FakeHost()));
}

test(`${count} programs give the same results when they are interrupted every few steps`, () => {
  const generator = new Generator(seed + 1_000_000);
  for (let i = 0; i < count; i++) {
    const source = textOf(generator.program());
    const sliced = comparable(evaluateInSlices(source, new FakeHost(), 3));
    expect(sliced, source).toBe(ours(source));
  }
});

test.skipIf(!hasRedisServer)(
  `${count} programs answer as redis-server does (needs redis-server)`,
  { timeout: 600_000 },
  async () => {
    const oracle = await LuaOracle.start();
    const generator = new Generator(seed);
    const differs = async (program: Program): Promise<boolean> => {
      const source = `redis.call('del', 'k') math.randomseed(1) ${textOf(program)}`;
      return ours(source) !== comparable(await oracle.evaluate(source));
    };
    const found: string[] = [];
    for (let i = 0; i < count && found.length < 5; i++) {
      const program = generator.program();
      if (!(await differs(program))) continue;
      const least = await shrink(program, differs);
      const source = `redis.call('del', 'k') math.randomseed(1) ${textOf(least)}`;
      found.push(
        `${least.statements.join('\n')}\n ours: ${ours(source)}\nredis: ${await oracle.evaluate(source)}`,
      );
    }
    await oracle.stop();
    expect(found).toEqual([]);
  },
);
