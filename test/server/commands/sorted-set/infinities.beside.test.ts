/** Scores, weights and increments around the infinities: a product or sum that is NaN gives the result of redis-server. */
import { expect, test } from 'vitest';
import { Beside, labelled } from '../../../support/beside/beside.ts';
import { hasRedisServer } from '../../../support/redis-server.ts';

const SCORES = ['0', '-0', '1', '-1', 'inf', '-inf', '5e-324', '1.7e308'];
const WEIGHTS = ['0', '1', '-1', 'inf', '-inf', '1e-300', '1e300'];
const AGGREGATES = ['SUM', 'MIN', 'MAX'];

function* pairs<T>(items: readonly T[]): Iterable<[T, T]> {
  for (const a of items) for (const b of items) yield [a, b];
}

/** Every pair of scores with every pair of weights and each aggregate, stored and returned. */
function* combinations(): Iterable<string> {
  for (const [a, b] of pairs(SCORES)) {
    yield 'DEL a b';
    yield `ZADD a ${a} x 1 only-a`;
    yield `ZADD b ${b} x 2 only-b 3 other`;
    for (const [v, w] of pairs(WEIGHTS)) {
      for (const aggregate of AGGREGATES) {
        const words = `2 a b WEIGHTS ${v} ${w} AGGREGATE ${aggregate}`;
        yield `ZINTER ${words} WITHSCORES`;
        yield `ZUNIONSTORE stored ${words}`;
        yield 'ZRANGE stored 0 -1 WITHSCORES';
      }
    }
    yield 'ZDIFF 2 b a WITHSCORES';
  }
}

/** Three inputs, one of them a plain set, and the same key twice, for which Redis takes another path. */
function* threeInputs(): Iterable<string> {
  yield 'SADD s x y';
  for (const score of SCORES) {
    yield 'DEL a b';
    yield `ZADD a ${score} x 1 y`;
    yield `ZADD b 0 x inf y -inf z`;
    for (const [v, w] of pairs(WEIGHTS)) {
      for (const aggregate of AGGREGATES) {
        const rest = `WEIGHTS ${v} ${w} inf AGGREGATE ${aggregate}`;
        for (const keys of ['a b s', 's a b', 'a a s', 'a a a', 's s a']) {
          yield `ZINTERSTORE stored 3 ${keys} ${rest}`;
          yield 'ZRANGE stored 0 -1 WITHSCORES';
          yield `ZUNION 3 ${keys} ${rest} WITHSCORES`;
        }
      }
    }
  }
}

const INCREMENTS = [...SCORES, 'nan', '-nan', '1e400', '-1e400', 'infinity', '0x10'];

/** Increments that would give NaN, and invalid numbers. */
function* increments(): Iterable<string> {
  for (const [score, by] of pairs(INCREMENTS)) {
    yield 'DEL z h s';
    yield `ZADD z ${score} m`;
    yield `ZINCRBY z ${by} m`;
    yield `ZADD z INCR ${by} m`;
    yield `ZADD z XX GT INCR ${by} m`;
    yield 'ZSCORE z m';
    yield `ZRANGEBYSCORE z ${score} ${by} WITHSCORES`;
    yield `ZCOUNT z (${score} ${by}`;
    yield `HSET h f ${score}`;
    yield `HINCRBYFLOAT h f ${by}`;
    yield `SET s ${score}`;
    yield `INCRBYFLOAT s ${by}`;
    yield `ZUNION 1 z WEIGHTS ${by} WITHSCORES`;
    yield `GEOADD g ${score} ${by} place`;
    yield `GEOSEARCH g FROMLONLAT 0 0 BYRADIUS ${by} km`;
    yield `GEOADD g ${score} 200.0078125 place`;
    yield `GEOADD g -200.0234375 ${by} place`;
    yield `GEOSEARCH g FROMLONLAT 0 0 BYBOX ${score} ${by} km`;
  }
}

test.skipIf(!hasRedisServer).each([
  ['two sorted sets', combinations],
  ['three inputs, sets among them', threeInputs],
  ['increments', increments],
])('%s give the scores of redis-server (needs redis-server)', async (_what, lines) => {
  await using both = await Beside.start();
  const all = [...lines()];
  const { ours, theirs } = await both.ask(...all);
  const expected = labelled(all, theirs);
  expect(labelled(all, ours).filter((line, i) => line !== expected[i])).toEqual([]);
});
