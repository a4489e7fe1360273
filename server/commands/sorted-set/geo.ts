/** Places in sorted sets: adding, reading, measuring (https://redis.io/docs/latest/commands/?group=geo). */
import { distance, geohashText, placeOf, scoreOf } from '../../../keyspace/geo/geohash.ts';
import { asciiUpper, type Bytes } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import { NULL_ARRAY, type Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { wordAt } from '../../table/arguments.ts';
import { type Argv, key } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import { add } from './add.ts';
import { distanceReply, placeFrom, placeReply, unitOf } from './geo-parts.ts';

const ADD_OPTIONS = new Set(['NX', 'XX', 'CH']);

/** GEOADD is propagated as the ZADD of the places' scores. */
function geoadd(client: Caller, argv: Argv<-5>): Reply {
  let at = 2;
  const options = new Set<Bytes>();
  for (; at < argv.length; at++) {
    const option = asciiUpper(wordAt(argv, at));
    if (!ADD_OPTIONS.has(option)) break;
    options.add(option);
  }
  if ((argv.length - at) % 3 !== 0 || (options.has('NX') && options.has('XX'))) fail(SYNTAX);
  const zadd: [Bytes, Bytes, ...Bytes[]] = [client.server.dialect.geoaddAs, argv[1], ...argv.slice(2, at)];
  for (; at < argv.length; at += 3) {
    const score = scoreOf(placeFrom(client.server.dialect, wordAt(argv, at), wordAt(argv, at + 1)));
    zadd.push(String(score), wordAt(argv, at + 2));
  }
  const { world } = client.server;
  const before = world.dirty;
  const reply = add(client, zadd);
  if (world.dirty !== before && client.server.effects.feeding) client.server.effects.propagateAs(zadd);
  return reply;
}

function geodist(client: Caller, argv: Argv<-4>): Reply {
  const [, name, first, second, unit = 'm'] = argv;
  const metres = argv.length === 5 ? unitOf(unit) : 1;
  if (argv.length > 5) fail(SYNTAX);
  const set = client.db.read(name, 'zset');
  const a = set?.score(first);
  const b = set?.score(second);
  if (a === undefined || b === undefined) return null;
  return distanceReply(distance(placeOf(a), placeOf(b)) / metres);
}

/** Answers `tell` for each member's score; `none` for a missing member. */
function each(client: Caller, argv: Argv<-2>, tell: (score: number) => Reply, none: Reply): Reply {
  const set = client.db.read(argv[1], 'zset');
  return argv.slice(2).map((member) => {
    const score = set?.score(member);
    return score === undefined ? none : tell(score);
  });
}

export const geoCommands = defineCommands('geo', {
  geoadd: {
    summary: 'Adds members with their coordinates to a sorted set.',
    since: '3.2.0',
    complexity: 'O(log(N)) per member, N members',
    arity: -5,
    flags: ['write', 'denyoom'],
    keys: key('RW UPDATE'),
    run: geoadd,
  },
  geopos: {
    summary: "Returns members' longitudes and latitudes.",
    since: '3.2.0',
    complexity: 'O(1) per member',
    arity: -2,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    run: (client, argv) => each(client, argv, (score) => placeReply(client, placeOf(score)), NULL_ARRAY),
  },
  geodist: {
    summary: 'Returns the distance between two members.',
    since: '3.2.0',
    complexity: 'O(log(N)), N members',
    arity: -4,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    run: geodist,
  },
  geohash: {
    summary: "Returns members' coordinates as standard geohashes.",
    since: '3.2.0',
    complexity: 'O(1) per member',
    arity: -2,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    run: (client, argv) => each(client, argv, (score) => geohashText(placeOf(score)), null),
  },
});
