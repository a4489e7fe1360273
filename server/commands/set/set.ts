/** Commands on sets (https://redis.io/docs/latest/commands/?group=set). */
import { SetValue } from '../../../keyspace/collections/set.ts';
import { type Reply, SetReply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { wordAt } from '../../table/arguments.ts';
import { type Argv, countedKeys, type Flag, key, keys } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import { countIntersection, difference, intersection, storing, union } from './algebra.ts';
import { popMembers, randomMembers, setScan } from './parts.ts';

const READS: readonly Flag[] = ['readonly', 'fast'];
const STORES: readonly Flag[] = ['write', 'denyoom'];
const UNORDERED = ['nondeterministic_output_order'];

function addMembers(client: Caller, argv: Argv<-2>): Reply {
  const { db } = client;
  const name = argv[1];
  let set = db.get(name, 'set');
  if (set === undefined) db.put(name, (set = new SetValue(client.server.encoding)));
  set.expect(argv[2] ?? '', argv.length - 2);
  let added = 0;
  for (let i = 2; i < argv.length; i++) if (set.add(wordAt(argv, i))) added++;
  if (added > 0) db.changed(name, 'sadd', added);
  return added;
}

function removeMembers(client: Caller, argv: Argv<-2>): Reply {
  const name = argv[1];
  const set = client.db.get(name, 'set');
  if (set === undefined) return 0;
  let removed = 0;
  for (let i = 2; i < argv.length; i++) if (set.delete(wordAt(argv, i))) removed++;
  if (removed > 0) client.db.changed(name, 'srem', removed);
  return removed;
}

function moveMember(client: Caller, [, source, target, member]: Argv<4>): Reply {
  const { db } = client;
  const from = db.get(source, 'set');
  if (from === undefined) return 0;
  let to = db.get(target, 'set');
  if (from === to) return from.has(member) ? 1 : 0;
  if (!from.delete(member)) return 0;
  db.changed(source, 'srem');
  if (to === undefined) {
    db.put(target, (to = new SetValue(client.server.encoding)));
    to.expect(member, 1);
  }
  if (to.add(member)) db.changed(target, 'sadd');
  return 1;
}

export const setCommands = defineCommands('set', {
  sadd: {
    summary: 'Adds members to a set and counts the new ones.',
    since: '1.0.0',
    complexity: 'O(N) with N the number of members added',
    arity: -3,
    flags: ['write', 'denyoom', 'fast'],
    keys: key('RW INSERT'),
    run: addMembers,
  },
  srem: {
    summary: 'Removes members, and the set with its last one.',
    since: '1.0.0',
    complexity: 'O(N) with N the number of members removed',
    arity: -3,
    flags: ['write', 'fast'],
    keys: key('RW DELETE'),
    run: removeMembers,
  },
  smembers: {
    summary: 'Returns all members.',
    since: '1.0.0',
    complexity: 'O(N) with N the size of the set',
    arity: 2,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    tips: UNORDERED,
    run: (client, argv) => new SetReply([...(client.db.read(argv[1], 'set')?.values() ?? [])]),
  },
  sismember: {
    summary: 'Checks whether a member is in the set.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 3,
    flags: READS,
    keys: key('RO'),
    run: (client, argv) => (client.db.read(argv[1], 'set')?.has(argv[2]) ? 1 : 0),
  },
  smismember: {
    summary: 'Checks for several members whether they are in the set.',
    since: '6.2.0',
    complexity: 'O(N) with N the number of members asked for',
    arity: -3,
    flags: READS,
    keys: key('RO ACCESS'),
    run(client, argv) {
      const set = client.db.read(argv[1], 'set');
      return argv.slice(2).map((member) => (set?.has(member) ? 1 : 0));
    },
  },
  scard: {
    summary: 'Counts the members of a set.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 2,
    flags: READS,
    keys: key('RO'),
    run: (client, argv) => client.db.read(argv[1], 'set')?.size ?? 0,
  },
  spop: {
    summary: 'Removes and returns random members.',
    since: '1.0.0',
    complexity: 'O(N) with N the number of members taken',
    arity: -2,
    flags: ['write', 'fast'],
    keys: key('RW ACCESS DELETE'),
    tips: ['nondeterministic_output'],
    run: popMembers,
  },
  srandmember: {
    summary: 'Returns random members.',
    since: '1.0.0',
    complexity: 'O(N) with N the number of members answered',
    arity: -2,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    tips: ['nondeterministic_output'],
    run: randomMembers,
  },
  smove: {
    summary: 'Moves a member from one set to another.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 4,
    flags: ['write', 'fast'],
    keys: [...key('RW ACCESS DELETE'), ...key('RW INSERT', 2)],
    run: moveMember,
  },
  sinter: {
    summary: 'Returns the members that all sets share.',
    since: '1.0.0',
    complexity: 'O(N*M) with N the size of the smallest set and M the number of sets',
    arity: -2,
    flags: ['readonly'],
    keys: keys('RO ACCESS'),
    tips: UNORDERED,
    run: (client, argv) => new SetReply([...intersection(client, argv.slice(1)).values()]),
  },
  sintercard: {
    summary: 'Counts the members that all sets share, up to a limit.',
    since: '7.0.0',
    complexity: 'O(N*M) with N the size of the smallest set and M the number of sets',
    arity: -3,
    flags: ['readonly', 'movablekeys'],
    keys: countedKeys('RO ACCESS', 1),
    run: countIntersection,
  },
  sinterstore: {
    summary: 'Stores the members that all sets share.',
    since: '1.0.0',
    complexity: 'O(N*M) with N the size of the smallest set and M the number of sets',
    changes: [{ since: '7.2.0', keys: [...key('OW UPDATE'), ...keys('RO ACCESS', 2)] }],
    arity: -3,
    flags: STORES,
    keys: [...key('RW UPDATE'), ...keys('RO ACCESS', 2)],
    run: storing(intersection, 'sinterstore'),
  },
  sunion: {
    summary: 'Returns the members of any of the sets.',
    since: '1.0.0',
    complexity: 'O(N) with N the number of members of all sets',
    arity: -2,
    flags: ['readonly'],
    keys: keys('RO ACCESS'),
    tips: UNORDERED,
    run: (client, argv) => new SetReply([...union(client, argv.slice(1)).values()]),
  },
  sunionstore: {
    summary: 'Stores the members of any of the sets.',
    since: '1.0.0',
    complexity: 'O(N) with N the number of members of all sets',
    arity: -3,
    flags: STORES,
    keys: [...key('OW UPDATE'), ...keys('RO ACCESS', 2)],
    run: storing(union, 'sunionstore'),
  },
  sdiff: {
    summary: 'Returns the members of the first set that no other has.',
    since: '1.0.0',
    complexity: 'O(N) with N the number of members of all sets',
    arity: -2,
    flags: ['readonly'],
    keys: keys('RO ACCESS'),
    tips: UNORDERED,
    run: (client, argv) => new SetReply([...difference(client, argv.slice(1)).values()]),
  },
  sdiffstore: {
    summary: 'Stores the members of the first set that no other has.',
    since: '1.0.0',
    complexity: 'O(N) with N the number of members of all sets',
    arity: -3,
    flags: STORES,
    keys: [...key('OW UPDATE'), ...keys('RO ACCESS', 2)],
    run: storing(difference, 'sdiffstore'),
  },
  sscan: {
    summary: 'Iterates over the members by a cursor.',
    since: '2.8.0',
    complexity: 'O(1) per call, O(N) for a whole walk',
    arity: -3,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    tips: ['nondeterministic_output'],
    run: setScan,
  },
});
