/** The generated commands that a primary of a pair gets: those that change data, alone, in transactions, in scripts and in functions. */
import { asciiLower, type Bytes } from '../../../protocol/bytes.ts';
import { allCommands } from '../../../server/commands/index.ts';
import { breaksServer, isHuge, storesDistances } from '../compare/unspecified.ts';
import type { Random } from '../random.ts';
import { type Family, type Grammar, limit } from '../requests.ts';
import { callsOf, scripted } from '../scripts.ts';

/** Families whose commands touch no data, or only this connection. */
const WITHOUT_DATA = new Set<Family>([
  ...(['transactions', 'messages', 'connection', 'server', 'caching', 'cluster', 'access'] as const),
]);

const BLOCKING = new Set(
  allCommands.filter(({ spec }) => spec.flags?.includes('blocking')).map(({ fullName }) => fullName),
);

/** Commands whose result the servers leave open, although they replicate them as they are. */
function isOpen([name = '', ...words]: readonly Bytes[]): boolean {
  const has = (pattern: RegExp): boolean => words.some((word) => pattern.test(word));
  // A range of bytes among members of different scores.
  if (/^zremrangebylex$/i.test(name) || (/^zrangestore$/i.test(name) && has(/^bylex$/i))) return true;
  // The nearest places, some of which are the same place.
  if (/^geo(radius|search)/i.test(name) && has(/^count$/i) && (has(/^store$/i) || /store$/i.test(name)))
    return true;
  // A listpack keeps a score of -0 as 0, a skiplist as -0.
  return has(/^-0(\.0*)?$/);
}

/** Whether a request can be sent: it ends, and what it does to the data is decided. */
function isFit(argv: readonly Bytes[], dialect: string, mayBlock: boolean): boolean {
  const calls = callsOf(argv) ?? [argv];
  if (!mayBlock && BLOCKING.has(asciiLower(argv[0] ?? ''))) return false;
  return !calls.some(
    (call) => isHuge(call) || storesDistances(call) || isOpen(call) || breaksServer(call, dialect),
  );
}

/**
 * The requests of one round, of which most are about two families. A blocking command comes within transactions and scripts
 * only, where it does not wait.
 */
export function* requestsOf(
  random: Random,
  grammar: Grammar,
  dialect: string,
  count: number,
): Generator<readonly Bytes[]> {
  const families = grammar.families.filter((family) => !WITHOUT_DATA.has(family));
  const main = [random.pick(families), random.pick(families)];
  yield ['FLUSHALL'];
  yield ['FUNCTION', 'FLUSH'];
  yield ['SCRIPT', 'FLUSH'];
  for (const family of main) {
    for (const { argv } of grammar.begin(random, family)) if (isFit(argv, dialect, false)) yield argv;
  }
  let open = 0;
  for (let i = 0; i < count; i++) {
    if (open === 0 && random.percent(3)) {
      open = random.between(1, 4);
      yield ['MULTI'];
    }
    const family = random.percent(70) ? random.pick(main) : random.pick(families);
    const next = () =>
      (random.percent(25) ? grammar.filler(random, family) : undefined) ?? grammar.request(random, family);
    const { argv } = random.percent(8) ? scripted(random, next) : next();
    if (isFit(argv, dialect, open > 0)) yield argv;
    if (open > 0 && --open === 0) yield ['EXEC'];
  }
}

/** Parameters of listpacks and their like, which a round begins with on both servers. */
export function limitsOf(random: Random): readonly (readonly Bytes[])[] {
  return [limit(random), limit(random)].map((pair) => ['CONFIG', 'SET', ...pair]);
}
