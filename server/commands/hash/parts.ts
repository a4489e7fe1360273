/** Hash commands that return a part of the fields: HRANDFIELD and HSCAN. */
import type { HashValue } from '../../../keyspace/collections/hash.ts';
import { asciiUpper, type Bytes } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import { PairsReply, type Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import type { Argv } from '../../table/command.ts';
import { randomNumbers, signedCount } from '../keys/picking.ts';
import { scanCursor, scanOptions } from '../keys/scanning.ts';
import { readHash } from './access.ts';

/** HRANDFIELD key [count [WITHVALUES]] (https://redis.io/docs/latest/commands/hrandfield/). */
export function randomFields(client: Caller, argv: Argv<-2>): Reply {
  const [, name, text, option] = argv;
  const random = (): number => client.server.host.random();
  if (text === undefined) {
    const hash = readHash(client, name, argv);
    return hash === undefined ? null : hash.at(Math.floor(random() * hash.size))!;
  }
  const withValues = option !== undefined;
  const count = signedCount(text);
  if (argv.length > 4 || (withValues && asciiUpper(option) !== 'WITHVALUES')) fail(SYNTAX);
  if (withValues && Math.abs(count) > 2 ** 62) fail('ERR value is out of range');
  const hash = readHash(client, name, argv);
  if (hash === undefined || count === 0) return [];
  const fields = pick(hash, count, random);
  return withValues ? new PairsReply(fields.flatMap((field) => [field, hash.get(field)!])) : fields;
}

function pick(hash: HashValue, count: number, random: () => number): Bytes[] {
  if (count >= hash.size) return [...hash.keys()];
  return randomNumbers(hash.size, count, random).map((number) => hash.at(number)!);
}

/** HSCAN key cursor [MATCH pattern] [COUNT count]. A hash in a listpack is returned in one step. */
export function hashScan(client: Caller, argv: Argv<-3>): Reply {
  const cursor = scanCursor(client, argv[2]);
  const hash = readHash(client, argv[1], argv);
  if (hash === undefined) return ['0', []];
  const { count, matches, namesOnly } = scanOptions(client, argv, 3, 'hscan');
  const { names, next } = hash.scan(cursor, count);
  if (namesOnly) return [String(next), names.filter(matches)];
  return [String(next), names.filter(matches).flatMap((field) => [field, hash.get(field)!])];
}
