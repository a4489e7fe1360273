/**
 * HEXPIRE, HTTL, HPERSIST and the other commands for fields with a TTL, which redis-server 7.0 does not have. They
 * follow the documentation of 7.4 (https://redis.io/docs/latest/commands/hexpire/).
 */
import { asciiUpper, type Bytes, type Millis } from '../../../protocol/bytes.ts';
import type { Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { wordAt } from '../../table/arguments.ts';
import { type Argv, type CommandSpec, key } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import { readHash, writeHash } from './access.ts';
import { type ExpiryArguments, expiryArguments, takesAnyOrder } from './arguments.ts';
import { FieldEffects, fieldEnd, fieldsAt } from './fields.ts';
import { expireFields, persistFields, tellFields } from './valkey.ts';

const NO_FIELD = -2;
const NO_TTL = -1;
const REFUSED = 0;
const DONE = 1;
const DELETED = 2;

/** Whether a condition allows a field's old expiry time to be replaced. No expiry time counts as the latest of all. */
const CONDITIONS: ReadonlyMap<Bytes, (old: Millis | undefined, at: Millis) => boolean> = new Map([
  ['NX', (old) => old === undefined],
  ['XX', (old) => old !== undefined],
  ['GT', (old, at) => old !== undefined && at > old],
  ['LT', (old, at) => old === undefined || at < old],
]);

function expire(client: Caller, argv: Argv<-6>, command: Bytes, unit: 1 | 1000, relative: boolean): Reply {
  if (client.server.dialect.fieldCommands === 'valkey')
    return expireFields(client, argv, command, unit, relative);
  const [, name, text] = argv;
  const hash = writeHash(client, name, argv);
  const at = fieldEnd(text, unit, relative ? client.server.now : 0, command);
  const { place, fields, condition } = takesAnyOrder(client) ? expiryArguments(argv) : placedArguments(argv);
  if (hash === undefined) return fields.map(() => NO_FIELD);
  hash.keepTimes();
  const effects = new FieldEffects();
  const isAllowed = CONDITIONS.get(condition ?? '');
  const replies = fields.map((field) => {
    if (!hash.has(field)) return NO_FIELD;
    if (isAllowed !== undefined && !isAllowed(hash.times?.endOf(field), at)) return REFUSED;
    const deleted = effects.deleted.length;
    effects.end(client, hash, field, at);
    return effects.deleted.length > deleted ? DELETED : DONE;
  });
  effects.report(client, name, expiryEffect(argv, at, place, effects.timed, fields.length));
  return replies;
}

/** The arguments of HEXPIRE and its kin behind the time, where each has its place. */
function placedArguments(argv: Argv<-6>): ExpiryArguments {
  const condition = asciiUpper(argv[3]);
  const place = CONDITIONS.has(condition) ? 4 : 3;
  const fields = fieldsAt(argv, place, 'ERR Parameter `numFields` should be greater than 0');
  return { place, fields, condition };
}

/** What replicas receive: the request with an absolute time, and only with the fields that it has changed. */
function expiryEffect(
  argv: Argv<-6>,
  at: Millis,
  place: number,
  changed: readonly Bytes[],
  count: number,
): readonly Bytes[] {
  const [command, name, text] = argv;
  const before =
    asciiUpper(command) === 'HPEXPIREAT' ? [command, name, text] : ['HPEXPIREAT', name, String(at)];
  const number = changed.length === count ? wordAt(argv, place + 1) : String(changed.length);
  const after = argv.slice(place + 2 + count);
  return [...before, ...argv.slice(3, place + 1), number, ...changed, ...after];
}

function persist(client: Caller, argv: Argv<-5>): Reply {
  if (client.server.dialect.fieldCommands === 'valkey') return persistFields(client, argv);
  const name = argv[1];
  const hash = writeHash(client, name, argv);
  const fields = fieldsAt(argv, 2);
  if (hash === undefined) return fields.map(() => NO_FIELD);
  const effects = new FieldEffects();
  const replies = fields.map((field) => {
    if (!hash.has(field)) return NO_FIELD;
    return effects.persist(hash, field) ? DONE : NO_TTL;
  });
  effects.report(client, name, argv);
  return replies;
}

/** Answers a number for each field, computed from its expiry time. */
function tell(client: Caller, argv: Argv<-2>, of: (at: Millis, now: Millis) => number): Reply {
  const hash = readHash(client, argv[1], argv);
  const fields = fieldsAt(argv, 2);
  return fields.map((field) => {
    if (hash === undefined || !hash.has(field)) return NO_FIELD;
    const at = hash.times?.endOf(field);
    return at === undefined ? NO_TTL : of(at, client.server.now);
  });
}

/** Converts milliseconds to whole seconds, rounded up. */
function seconds(millis: Millis): number {
  return Math.floor((millis + 999) / 1000);
}

const COMPLEXITY = 'O(N), N fields';
const UNSURE = ['nondeterministic_output'];
const SINCE = { redis: '7.4.0', valkey: '9.0.0' };

function writing(summary: string, run: (client: Caller, argv: Argv<-6>) => Reply): CommandSpec<-6, Caller> {
  return {
    summary,
    since: SINCE,
    extra: true,
    complexity: COMPLEXITY,
    arity: -6,
    flags: ['write', 'fast'],
    keys: key('RW UPDATE'),
    run,
  };
}

function reading(
  summary: string,
  of: (at: Millis, now: Millis) => number,
  [unit, relative]: readonly [unit: 1 | 1000, relative: boolean],
): CommandSpec<-5, Caller> {
  return {
    summary,
    since: SINCE,
    extra: true,
    complexity: COMPLEXITY,
    arity: -5,
    flags: ['readonly', 'fast'],
    keys: key('RO ACCESS'),
    tips: relative ? UNSURE : [],
    changes: [{ since: { valkey: '9.0.0' }, tips: [] }],
    run: (client, argv) =>
      client.server.dialect.fieldCommands === 'valkey'
        ? tellFields(client, argv, unit, relative)
        : tell(client, argv, of),
  };
}

export const hashExpiryCommands = defineCommands('hash', {
  hexpire: writing('Has fields of a hash end after some seconds.', (client, argv) =>
    expire(client, argv, 'hexpire', 1000, true),
  ),
  hpexpire: writing('Has fields of a hash end after some milliseconds.', (client, argv) =>
    expire(client, argv, 'hpexpire', 1, true),
  ),
  hexpireat: writing('Has fields of a hash end at a Unix time in seconds.', (client, argv) =>
    expire(client, argv, 'hexpireat', 1000, false),
  ),
  hpexpireat: writing('Has fields of a hash end at a Unix time in milliseconds.', (client, argv) =>
    expire(client, argv, 'hpexpireat', 1, false),
  ),
  hpersist: {
    summary: 'Removes the TTL of fields of a hash.',
    since: SINCE,
    extra: true,
    complexity: COMPLEXITY,
    arity: -5,
    flags: ['write', 'fast'],
    keys: key('RW UPDATE'),
    run: persist,
  },
  httl: reading('Returns in how many seconds fields of a hash end.', (at, now) => seconds(at - now), [
    1000,
    true,
  ]),
  hpttl: reading('Returns in how many milliseconds fields of a hash end.', (at, now) => at - now, [1, true]),
  hexpiretime: reading('Returns when fields of a hash end, as a Unix time in seconds.', seconds, [
    1000,
    false,
  ]),
  hpexpiretime: reading('Returns when fields of a hash end, as a Unix time in milliseconds.', (at) => at, [
    1,
    false,
  ]),
});
