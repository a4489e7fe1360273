/** Commands on strings (https://redis.io/docs/latest/commands/?group=string). */
import type { Entry } from '../../keyspace/keyspace.ts';
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { fail, SYNTAX, WRONGTYPE } from '../../protocol/errors.ts';
import { OK, type Reply } from '../../protocol/reply.ts';
import { deadline, type ExpiryOption, Options } from '../arguments.ts';
import type { Client } from '../client.ts';
import { defineCommands, key } from '../command.ts';

/** What SET's options ask for. */
interface SetOptions {
  expiresAt: Millis | undefined;
  keepTtl: boolean;
  get: boolean;
  /** Only when the key is absent ('NX'), present ('XX'), or its value compares so with `operand`. */
  condition: '' | 'NX' | 'XX';
}

function parseSetOptions(client: Client, argv: readonly Bytes[]): SetOptions {
  const parsed: SetOptions = { expiresAt: undefined, keepTtl: false, get: false, condition: '' };
  const options = new Options(argv, 3);
  let expiry: { option: ExpiryOption; text: Bytes } | undefined;
  while (options.more()) {
    const option = options.next();
    switch (option) {
      case 'NX':
      case 'XX':
        if (parsed.condition !== '' && parsed.condition !== option) fail(SYNTAX);
        parsed.condition = option;
        break;
      case 'GET':
        parsed.get = true;
        break;
      case 'KEEPTTL':
        if (expiry !== undefined) fail(SYNTAX);
        parsed.keepTtl = true;
        break;
      case 'EX':
      case 'PX':
      case 'EXAT':
      case 'PXAT':
        if (expiry !== undefined || parsed.keepTtl) fail(SYNTAX);
        expiry = { option, text: options.value() };
        break;
      default:
        fail(SYNTAX);
    }
  }
  if (expiry !== undefined) parsed.expiresAt = deadline(expiry.option, expiry.text, client.server.now, 'set');
  return parsed;
}

/** Stores a string, reports it, and sets its deadline where one is given. */
export function store(client: Client, name: Bytes, value: Bytes, expiresAt?: Millis, keepTtl = false): Entry {
  const { db } = client;
  const entry = db.put(name, value, keepTtl);
  if (expiresAt !== undefined) db.expireAt(name, entry, expiresAt);
  db.changed(name, 'set');
  if (expiresAt !== undefined) db.changed(name, 'expire', 0);
  return entry;
}

function set(client: Client, argv: readonly Bytes[]): Reply {
  const name = argv[1] as Bytes;
  const value = argv[2] as Bytes;
  if (argv.length === 3) {
    store(client, name, value);
    return OK;
  }
  const options = parseSetOptions(client, argv);
  const old = client.db.find(name);
  if (options.get && old !== undefined && typeof old.value !== 'string') fail(WRONGTYPE);
  const answer = options.get ? ((old?.value as Bytes | undefined) ?? null) : undefined;
  if (options.condition === 'NX' ? old !== undefined : options.condition === 'XX' && old === undefined) {
    return answer ?? null;
  }
  store(client, name, value, options.expiresAt, options.keepTtl);
  if (options.expiresAt !== undefined && client.server.feeding) {
    client.server.propagateAs(['SET', name, value, 'PXAT', String(options.expiresAt)]);
  }
  return answer === undefined ? OK : answer;
}

export const stringCommands = defineCommands('string', {
  get: {
    summary: 'Answers the string a key holds.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 2,
    flags: ['readonly', 'fast'],
    keys: key('RO ACCESS'),
    run: (client, argv) => client.db.read(argv[1], 'string') ?? null,
  },
  set: {
    summary: 'Stores a string, on conditions and with an expiry where asked.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: -3,
    flags: ['write', 'denyoom'],
    keys: key('RW ACCESS UPDATE VARIABLE_FLAGS'),
    run: set,
  },
});
