/** Set commands for some of the members: SPOP, SRANDMEMBER and SSCAN. */
import type { SetValue } from '../../../keyspace/collections/set.ts';
import type { Bytes } from '../../../protocol/bytes.ts';
import { fail, NOT_POSITIVE, SYNTAX } from '../../../protocol/errors.ts';
import { type Reply, SetReply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { integerBetween } from '../../table/arguments.ts';
import type { Argv } from '../../table/command.ts';
import { randomNumbers, signedCount } from '../keys/picking.ts';
import { scanCursor, scanOptions } from '../keys/scanning.ts';

/** Returns random members: distinct ones for a positive count, independent ones for a negative count. */
function pick(client: Caller, set: SetValue, count: number): Bytes[] {
  if (count >= set.size) return [...set.values()];
  return randomNumbers(set.size, count, () => client.server.host.random()).map((number) => set.at(number)!);
}

/** The SREMs for members, each of which removes at most so many. */
function removals(name: Bytes, members: readonly Bytes[], most: number): Bytes[][] {
  const out: Bytes[][] = [];
  for (let i = 0; i < members.length; i += most) out.push(['SREM', name, ...members.slice(i, i + most)]);
  return out;
}

/** SPOP key [count]. Replicas receive SREMs for the popped members, or a DEL if the count covers the whole set. */
export function popMembers(client: Caller, argv: Argv<-2>): Reply {
  const { db, server } = client;
  const [, name, text] = argv;
  if (argv.length > 3) fail(SYNTAX);
  const count = text === undefined ? 1 : integerBetween(text, 0, 2 ** 63, NOT_POSITIVE, NOT_POSITIVE);
  const set = db.get(name, 'set');
  if (set === undefined || count === 0) return text === undefined ? null : new SetReply([]);
  const whole = count >= set.size;
  // Redis reads the whole set as SMEMBERS does, which counts as a hit.
  if (whole && text !== undefined) server.world.hits++;
  const members = pick(client, set, count);
  for (const member of members) set.delete(member);
  db.changed(name, 'spop', members.length);
  if (server.effects.feeding) {
    if (whole && text !== undefined)
      server.effects.propagateAs([server.settings['lazyfree-lazy-server-del'] ? 'UNLINK' : 'DEL', name]);
    else server.effects.propagateAs(...removals(name, members, server.dialect.poppedTogether));
  }
  return text === undefined ? members[0]! : new SetReply(members);
}

/** SRANDMEMBER key [count] (https://redis.io/docs/latest/commands/srandmember/). */
export function randomMembers(client: Caller, argv: Argv<-2>): Reply {
  const [, name, text] = argv;
  if (argv.length > 3) fail(SYNTAX);
  const count = text === undefined ? 1 : signedCount(text);
  const set = client.db.read(name, 'set');
  if (set === undefined) return text === undefined ? null : [];
  const members = count === 0 ? [] : pick(client, set, count);
  return text === undefined ? members[0]! : members;
}

/** SSCAN key cursor [MATCH pattern] [COUNT count]. An intset is returned in one step. */
export function setScan(client: Caller, argv: Argv<-3>): Reply {
  const cursor = scanCursor(client, argv[2]);
  const set = client.db.read(argv[1], 'set');
  if (set === undefined) return ['0', []];
  const { count, matches } = scanOptions(client, argv, 3, 'sscan');
  const { names, next } = set.scan(cursor, count);
  return [String(next), names.filter(matches)];
}
