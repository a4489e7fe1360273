/** Commands for counters in strings (https://redis.io/docs/latest/commands/?group=string). */
import { placeText } from '../../../keyspace/string-place.ts';
import { type Bytes, isInt64, narrow } from '../../../protocol/bytes.ts';
import { fail, NOT_FLOAT, OVERFLOW } from '../../../protocol/errors.ts';
import { addLongDoubles, formatLongDouble, parseLongDouble } from '../../../protocol/long-double.ts';
import type { Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { int64 } from '../../table/arguments.ts';
import { key } from '../../table/command.ts';
import { defineCommands } from '../define.ts';

/** Returns the exact sum of two 64-bit integers. Throws Redis' error if it overflows. */
export function addIntegers(a: number | bigint, b: number | bigint): number | bigint {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  const sum = BigInt(a) + BigInt(b);
  return isInt64(sum) ? narrow(sum) : fail(OVERFLOW);
}

/** Returns the sum of two decimal texts as INCRBYFLOAT and HINCRBYFLOAT print it. Throws Redis' error for bad texts. */
export function addFloats(a: Bytes, b: Bytes, error = NOT_FLOAT): Bytes {
  const sum = addLongDoubles(parseLongDouble(a) ?? fail(error), parseLongDouble(b) ?? fail(NOT_FLOAT));
  return formatLongDouble(sum ?? fail('ERR increment would produce NaN or Infinity'));
}

function add(client: Caller, name: Bytes, amount: number | bigint): Reply {
  const { db } = client;
  const old = db.get(name, 'string');
  const sum = addIntegers(old === undefined ? 0 : int64(old), amount);
  db.put(name, String(sum), true);
  db.changed(name, 'incrby');
  return sum;
}

export const counterCommands = defineCommands('string', {
  incr: {
    summary: 'Adds one to an integer.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 2,
    flags: ['write', 'denyoom', 'fast'],
    keys: key('RW ACCESS UPDATE'),
    run: (client, argv) => add(client, argv[1], 1),
  },
  decr: {
    summary: 'Subtracts one from an integer.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 2,
    flags: ['write', 'denyoom', 'fast'],
    keys: key('RW ACCESS UPDATE'),
    run: (client, argv) => add(client, argv[1], -1),
  },
  incrby: {
    summary: 'Adds to an integer.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 3,
    flags: ['write', 'denyoom', 'fast'],
    keys: key('RW ACCESS UPDATE'),
    run: (client, argv) => add(client, argv[1], int64(argv[2])),
  },
  decrby: {
    summary: 'Subtracts from an integer.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 3,
    flags: ['write', 'denyoom', 'fast'],
    keys: key('RW ACCESS UPDATE'),
    run(client, argv) {
      const amount = -BigInt(int64(argv[2]));
      if (!isInt64(amount)) fail('ERR decrement would overflow');
      return add(client, argv[1], narrow(amount));
    },
  },
  incrbyfloat: {
    summary: 'Adds to a floating-point number.',
    since: '2.6.0',
    complexity: 'O(1)',
    arity: 3,
    flags: ['write', 'denyoom', 'fast'],
    keys: key('RW ACCESS UPDATE'),
    run(client, argv) {
      const [, name, amount] = argv;
      const { db, server } = client;
      const sum = addFloats(db.get(name, 'string') ?? '0', amount);
      const entry = db.put(name, sum, true);
      // Redis does not check whether the sum is an integer.
      placeText(server.world.stringLayout, name, entry, sum);
      db.changed(name, 'incrbyfloat');
      if (server.effects.feeding) server.effects.propagateAs(['SET', name, sum, 'KEEPTTL']);
      return sum;
    },
  },
});
