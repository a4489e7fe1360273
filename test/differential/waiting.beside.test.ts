/** Waiting list commands among pushes, moves and transactions of several connections: the same on redis-server. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sampleOf } from '../support/long.ts';
import { INSTALLED } from '../support/oracles.ts';
import { hasRedisServer, type RealRedis, startRedisServer } from '../support/redis-server.ts';
import { printReply } from '../support/reply-text.ts';
import { OwnTarget } from '../transcripts/own.ts';
import { RECORDABLE, RedisTarget } from '../transcripts/redis.ts';
import type { Target } from '../transcripts/transcript.ts';

/** A generator of repeatable choices. */
class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  below(end: number): number {
    this.#state = (this.#state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((this.#state / 2 ** 31) * end);
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  some(one: () => string, most: number): string[] {
    return Array.from({ length: 1 + this.below(most) }, one);
  }
}

const CLIENTS = ['A', 'B', 'C', 'D', 'E', 'F'];
const ENDS = ['LEFT', 'RIGHT'];
const SCRIPT = "redis.call('RPUSH', KEYS[1], 'a') redis.call('LPUSH', KEYS[2], 'b', 'c') return 1";

function waitingCommand(chance: Chance): string[] {
  const key = (): string => chance.of(['k1', 'k2', 'k3', 'k4']);
  const names = chance.some(key, 3);
  return chance.of([
    ['BLPOP', ...names, '0'],
    ['BRPOP', ...names, '0'],
    ['BRPOPLPUSH', key(), key(), '0'],
    ['BLMOVE', key(), key(), chance.of(ENDS), chance.of(ENDS), '0'],
    ['BLMPOP', '0', `${names.length}`, ...names, chance.of(ENDS), 'COUNT', chance.of(['1', '2', '5'])],
  ]);
}

function otherCommand(chance: Chance): string[] {
  const key = (): string => chance.of(['k1', 'k2', 'k3', 'k4']);
  const value = (): string => chance.of(['a', 'b', '1', '']);
  return chance.of([
    ['LPUSH', key(), ...chance.some(value, 4)],
    ['RPUSH', key(), ...chance.some(value, 4)],
    ['RPUSH', key(), value()],
    ['LMOVE', key(), key(), chance.of(ENDS), chance.of(ENDS)],
    ['LPOP', key()],
    ['LRANGE', key(), '0', '-1'],
    ['LINSERT', key(), 'BEFORE', value(), value()],
    ['LTRIM', key(), '0', '1'],
    ['DEL', key()],
    ['DEL', 'k1', 'k2', 'k3', 'k4'],
    ['RENAME', key(), key()],
    ['COPY', key(), key(), 'REPLACE'],
    ['MOVE', key(), '1'],
    ['SET', key(), value()],
    ['SADD', key(), value()],
    ['EXPIRE', key(), '-1'],
    ['EVAL', SCRIPT, '2', key(), key()],
    ['SELECT', chance.of(['0', '0', '1'])],
    ['WATCH', key()],
    ['MULTI'],
    ['EXEC'],
    ['EXEC'],
  ]);
}

/** Which clients wait for a reply and which queue a transaction: both targets must agree at every step. */
class Conversation {
  readonly #chance: Chance;
  readonly #waiting = new Set<string>();
  readonly #queueing = new Set<string>();

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  /** The next client and its request; the last free client never sends a blocking request. */
  next(): { name: string; words: string[] } {
    const free = CLIENTS.filter((name) => !this.#waiting.has(name));
    const name = this.#chance.of(free);
    const mayWait = free.length > 1 || this.#queueing.has(name);
    const words =
      mayWait && this.#chance.below(3) === 0 ? waitingCommand(this.#chance) : otherCommand(this.#chance);
    if (words[0] === 'MULTI') this.#queueing.add(name);
    if (words[0] === 'EXEC') this.#queueing.delete(name);
    return { name, words };
  }

  heard(speaker: string, replies: ReadonlyMap<string, string>): void {
    if (!replies.has(speaker)) this.#waiting.add(speaker);
    for (const name of replies.keys()) this.#waiting.delete(name);
  }
}

/** Sends a request. Returns what each client has received since, and what was replicated. */
async function say(target: Target, client: string, argv: string[]) {
  const step = { kind: 'request', client, argv, sorted: false, held: false, awaited: false } as const;
  const { replies, effects } = await target.perform(step);
  const heard = new Map<string, string>();
  for (const { client: name, reply } of replies) {
    heard.set(name, `${heard.get(name) ?? ''}${printReply(reply)}`);
  }
  return { heard, effects: effects.map((words) => words.join(' ')) };
}

describe.skipIf(!hasRedisServer)(
  'waiters are served as redis-server serves them (needs redis-server)',
  () => {
    const own = new OwnTarget({ dialect: INSTALLED });
    let redis: RealRedis;
    let real: RedisTarget;
    beforeAll(async () => {
      redis = await startRedisServer(RECORDABLE);
      real = await RedisTarget.open(redis.path);
    });
    afterAll(async () => {
      real.close();
      await redis.stop();
    });

    // Each step takes some round trips, which a busy machine delays.
    const limit = 240_000;
    const seeds = Array.from({ length: sampleOf(40, 2) }, (_, i) => i + 1);
    test.each(seeds)(
      'in conversation %i',
      async (seed) => {
        await own.begin();
        await real.begin();
        const conversation = new Conversation(new Chance(seed));
        const said: string[] = [];
        for (let step = 0; step < 800; step++) {
          const { name, words } = conversation.next();
          said.push(`${name}> ${words.join(' ')}`);
          const [ours, theirs] = [await say(own, name, words), await say(real, name, words)];
          expect([...ours.heard].sort(), said.slice(-30).join('\n')).toEqual([...theirs.heard].sort());
          expect(ours.effects, said.slice(-30).join('\n')).toEqual(theirs.effects);
          conversation.heard(name, theirs.heard);
        }
      },
      limit,
    );
  },
);
