/**
 * GEOSEARCH, GEORADIUS and similar commands: the members near a place
 * (https://redis.io/docs/latest/commands/geosearch/).
 */

import { SortedSet } from '../../../keyspace/collections/sorted-set.ts';
import { MEMBER_BYTES } from '../../../keyspace/footprint.ts';
import { type Found, nearestFirst, search } from '../../../keyspace/geo/search.ts';
import { allocate } from '../../../protocol/allowance.ts';
import { asciiUpper, type Bytes } from '../../../protocol/bytes.ts';
import type { Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { wordAt } from '../../table/arguments.ts';
import { type Argv, type EntryChange, incomplete, type KeySpec, key } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import { sortPart } from '../keys/partial-sort.ts';
import { distanceReply, placeReply } from './geo-parts.ts';
import { GeoRequest, type GeoVariant } from './geo-request.ts';
import { storeResult } from './parts.ts';

function geosearch(client: Caller, argv: Argv<-5>, kind: GeoVariant): Reply {
  const set = client.db.read(argv[kind.source], 'zset');
  const request = new GeoRequest(kind, argv, set, client.server.dialect);
  const { center, extent, target } = request;
  if (set === undefined || center === undefined || extent === undefined) {
    return target === undefined ? [] : storeResult(client, target, new SortedSet(), '');
  }
  const found = search(set, { center, extent }, request.any ? request.count : 0);
  const wanted = request.count === 0 ? found.length : Math.min(request.count, found.length);
  sort(found, request, wanted);
  found.length = wanted;
  if (target === undefined) return found.map((each) => reply(client, each, request));
  return keep(client, target, found, request, kind);
}

function sort(found: Found[], { sort, count, any }: GeoRequest, wanted: number): void {
  // With a count and without ANY, the nearest members are returned.
  const order = sort ?? (count > 0 && !any ? 'ASC' : undefined);
  if (order === undefined) return;
  const compare = order === 'ASC' ? nearestFirst : (a: Found, b: Found) => nearestFirst(b, a);
  if (wanted === found.length) found.sort(compare);
  else sortPart(found, compare, 0, wanted - 1);
}

function reply(client: Caller, found: Found, request: GeoRequest): Reply {
  const { member, score, place } = found;
  const { withDistance, withHash, withPlace, unit } = request;
  if (!withDistance && !withHash && !withPlace) return member;
  const items: Reply[] = [member];
  if (withDistance) items.push(distanceReply(found.distance / unit));
  if (withHash) items.push(Math.trunc(score));
  if (withPlace) items.push(placeReply(client, place));
  return items;
}

function keep(client: Caller, target: Bytes, found: Found[], request: GeoRequest, kind: GeoVariant): Reply {
  const { storesDistance, unit } = request;
  allocate(2 * found.length * MEMBER_BYTES);
  const result = new SortedSet(client.server.encoding, found.length);
  for (const each of found) result.set(each.member, storesDistance ? each.distance / unit : each.score);
  const event = kind.from === 'options' ? 'geosearchstore' : 'georadiusstore';
  return storeResult(client, target, result, event);
}

/** Returns the key specifications for the options STORE and STOREDIST of GEORADIUS. */
function storeSpecs(from: number): KeySpec[] {
  return ['STORE', 'STOREDIST'].map((keyword) => ({
    flags: 'OW UPDATE',
    begin: { keyword, from },
    find: { last: 0, step: 1, limit: 0 },
  }));
}

/** With the fix, the last STORE or STOREDIST counts, as when the request runs. */
function lastStore(specs: readonly KeySpec[], from: number): EntryChange {
  return {
    since: '8.0.2',
    fix: 'keys of repeated options',
    keys: [...key('RO ACCESS'), ...incomplete('Of several STORE and STOREDIST, the last one counts', specs)],
    getKeys: (argv) => keysWithLastStore(argv, from),
  };
}

/** The positions of the source and of the key behind the last STORE or STOREDIST. */
function keysWithLastStore(argv: readonly Bytes[], from: number): number[] {
  let stored: number | undefined;
  for (let i = from; i + 1 < argv.length; i++) {
    if (['STORE', 'STOREDIST'].includes(asciiUpper(wordAt(argv, i)))) stored = ++i;
  }
  return stored === undefined ? [1] : [1, stored];
}

/** The same in Valkey 9, whose specifications say that the request decides. */
function lastStoreOfValkey(from: number): EntryChange {
  const specs = storeSpecs(from).map((spec) => ({ ...spec, flags: `${spec.flags} VARIABLE_FLAGS` }));
  return {
    since: { valkey: '9.0.0' },
    keys: [...key('RO ACCESS'), ...specs],
    // Valkey looks from the fifth word on, also where the unit stands there.
    getKeys: (argv) => keysWithLastStore(argv, 5),
  };
}

const SEARCH: GeoVariant = { from: 'options', options: 2, source: 1, stores: 'never' };
const SEARCH_STORE: GeoVariant = { from: 'options', options: 3, source: 2, stores: 'always' };
const RADIUS: GeoVariant = { from: 'place', options: 6, source: 1, stores: 'asked' };
const BY_MEMBER: GeoVariant = { from: 'member', options: 5, source: 1, stores: 'asked' };
const COMPLEXITY = 'O(N+log(M)), N members in the cells around, M found';

export const geoSearchCommands = defineCommands('geo', {
  geosearch: {
    summary: 'Returns the members within a circle, a rectangle or a polygon.',
    since: '6.2.0',
    complexity: COMPLEXITY,
    arity: -7,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    run: (client, argv) => geosearch(client, argv, SEARCH),
  },
  geosearchstore: {
    summary: 'Stores the members within a circle, a rectangle or a polygon.',
    since: '6.2.0',
    complexity: COMPLEXITY,
    arity: -8,
    flags: ['write', 'denyoom'],
    keys: [...key('OW UPDATE'), ...key('RO ACCESS', 2)],
    run: (client, argv) => geosearch(client, argv, SEARCH_STORE),
  },
  georadius: {
    summary: 'Returns or stores the members within a circle around a place.',
    since: '3.2.0',
    complexity: COMPLEXITY,
    arity: -6,
    flags: ['write', 'denyoom', 'movablekeys'],
    keys: [...key('RO ACCESS'), ...storeSpecs(6)],
    changes: [lastStore(storeSpecs(6), 6), lastStoreOfValkey(6)],
    run: (client, argv) => geosearch(client, argv, RADIUS),
  },
  georadius_ro: {
    summary: 'Returns the members within a circle around a place.',
    since: '3.2.10',
    complexity: COMPLEXITY,
    arity: -6,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    run: (client, argv) => geosearch(client, argv, { ...RADIUS, stores: 'never' }),
  },
  georadiusbymember: {
    summary: 'Returns or stores the members within a circle around a member.',
    since: '3.2.0',
    complexity: COMPLEXITY,
    arity: -5,
    flags: ['write', 'denyoom', 'movablekeys'],
    keys: [...key('RO ACCESS'), ...storeSpecs(5)],
    changes: [lastStore(storeSpecs(5), 5), lastStoreOfValkey(5)],
    run: (client, argv) => geosearch(client, argv, BY_MEMBER),
  },
  georadiusbymember_ro: {
    summary: 'Returns the members within a circle around a member.',
    since: '3.2.10',
    complexity: COMPLEXITY,
    arity: -5,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    run: (client, argv) => geosearch(client, argv, { ...BY_MEMBER, stores: 'never' }),
  },
});
