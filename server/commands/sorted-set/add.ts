/** ZADD and ZINCRBY: set members and scores, under conditions. */
import { asciiUpper, type Bytes } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import { Double, type Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { readScore, wordAt } from '../../table/arguments.ts';
import type { Argv } from '../../table/command.ts';
import { emptySet } from './parts.ts';

const NX = 1;
const XX = 2;
const GT = 4;
const LT = 8;
const CH = 16;
const INCR = 32;
/** The code of the letter A. */
const FIRST_LETTER = 65;
const ADD_OPTIONS: ReadonlyMap<Bytes, number> = new Map([
  ['NX', NX],
  ['XX', XX],
  ['GT', GT],
  ['LT', LT],
  ['CH', CH],
  ['INCR', INCR],
]);

/** ZADD key [NX|XX] [GT|LT] [CH] [INCR] score member … (https://redis.io/docs/latest/commands/zadd/) */
export function add(client: Caller, argv: Argv<-2>): Reply {
  let at = 2;
  let bits = 0;
  for (; at < argv.length; at++) {
    const option = wordAt(argv, at);
    // Every score but `inf` begins with a digit, a sign or a point. They come before the letters.
    if (option.charCodeAt(0) < FIRST_LETTER) break;
    const bit = ADD_OPTIONS.get(option) ?? ADD_OPTIONS.get(asciiUpper(option));
    if (bit === undefined) break;
    bits |= bit;
  }
  const pairs = (argv.length - at) / 2;
  if (pairs === 0 || !Number.isInteger(pairs)) fail(SYNTAX);
  if ((bits & NX) !== 0 && (bits & XX) !== 0) {
    fail('ERR XX and NX options at the same time are not compatible');
  }
  const exclusive = bits & (NX | GT | LT);
  if ((exclusive & (exclusive - 1)) !== 0) {
    fail('ERR GT, LT, and/or NX options at the same time are not compatible');
  }
  if ((bits & INCR) !== 0 && pairs > 1) fail('ERR INCR option supports a single increment-element pair');
  return addPairs(client, argv, at, bits);
}

/** ZINCRBY key increment member (https://redis.io/docs/latest/commands/zincrby/) */
export function increment(client: Caller, argv: Argv<4>): Reply {
  return addPairs(client, argv, 2, INCR);
}

function addPairs(client: Caller, argv: Argv<-2>, from: number, bits: number): Reply {
  const { db } = client;
  const name = argv[1];
  const scores: number[] = [];
  for (let i = from; i < argv.length; i += 2) scores.push(readScore(client.server.dialect, wordAt(argv, i)));
  let set = db.get(name, 'zset');
  if (set === undefined) {
    if ((bits & XX) !== 0) return (bits & INCR) !== 0 ? null : 0;
    db.put(name, (set = emptySet(client)));
  }
  // A skiplist stays one, whatever it is to expect.
  if (set.encoding() === 'listpack') {
    set.expect(
      scores.length,
      client.server.dialect.longestOfZadd === 'counts' ? longestMember(argv, from) : 0,
    );
  }
  let added = 0;
  let updated = 0;
  let result: number | undefined;
  for (let i = 0; i < scores.length; i++) {
    const member = wordAt(argv, from + 2 * i + 1);
    const old = set.score(member);
    const score = nextScore(old, scores[i]!, bits);
    if (score === undefined) continue;
    const change = set.set(member, score, old);
    if (change === 'added') added++;
    else if (change === 'updated') updated++;
    result = score;
  }
  if (added + updated > 0) db.changed(name, (bits & INCR) !== 0 ? 'zincr' : 'zadd', added + updated);
  if ((bits & INCR) !== 0) return result === undefined ? null : new Double(result);
  return (bits & CH) !== 0 ? added + updated : added;
}

/** The length of the longest member among scores and members. */
function longestMember(argv: readonly Bytes[], from: number): number {
  return argv.reduce(
    (most, word, i) => (i > from && (i - from) % 2 === 1 ? Math.max(most, word.length) : most),
    0,
  );
}

/** Returns the score to set; undefined if the options forbid it. Throws if the sum is not a number (inf - inf). */
function nextScore(old: number | undefined, given: number, bits: number): number | undefined {
  if (old === undefined) return (bits & XX) !== 0 ? undefined : given;
  if ((bits & NX) !== 0) return undefined;
  const score = (bits & INCR) !== 0 ? old + given : given;
  if (Number.isNaN(score)) fail('ERR resulting score is not a number (NaN)');
  if ((bits & GT) !== 0 && score <= old) return undefined;
  return (bits & LT) !== 0 && score >= old ? undefined : score;
}
