/** The options of XREAD and XREADGROUP (https://redis.io/docs/latest/commands/xreadgroup/). */
import type { Bytes, Millis } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import { SCRIPT } from '../../clients/client.ts';
import type { Caller } from '../../server.ts';
import { integer, Options } from '../../table/arguments.ts';
import { millisToWait } from '../../table/timeouts.ts';

/** The options of a reading command, without its streams. */
export interface Reading {
  readonly group: Bytes | undefined;
  readonly consumer: Bytes;
  readonly noAck: boolean;
  readonly count: number;
  /** The longest wait in milliseconds, 0: no limit; undefined: does not wait. */
  readonly block: Millis | undefined;
  /** XREADGROUP's CLAIM: after how many idle milliseconds a pending entry is taken over. */
  readonly claim: Millis | undefined;
  readonly names: readonly Bytes[];
  readonly ids: readonly Bytes[];
}

/** Reads CLAIM's time in whole milliseconds. Throws Redis' error for a bad time. */
function idleTime(text: Bytes): Millis {
  const time = integer(text, 'ERR min-idle-time is not an integer or out of range');
  return time < 0 ? fail('ERR min-idle-time must be a positive integer') : time;
}

function onlyForGroups(option: string): never {
  fail(`ERR The ${option} option is only supported by XREADGROUP. You called XREAD instead.`);
}

function splitStreams(
  { server }: Caller,
  command: 'xread' | 'xreadgroup',
  words: readonly Bytes[],
): Pick<Reading, 'names' | 'ids'> {
  if (words.length % 2 !== 0) fail(server.dialect.unbalancedStreams(command));
  return { names: words.slice(0, words.length / 2), ids: words.slice(words.length / 2) };
}

/** Reads the options of XREAD or XREADGROUP. Throws Redis' error for bad ones. */
export function parseReading(
  client: Caller,
  argv: readonly Bytes[],
  command: 'xread' | 'xreadgroup',
): Reading {
  const grouped = command === 'xreadgroup';
  const options = new Options(argv, 1);
  let [group, consumer, noAck, count, block, claim]: [
    Bytes | undefined,
    Bytes,
    boolean,
    number,
    Millis | undefined,
    Millis | undefined,
  ] = [undefined, '', false, 0, undefined, undefined];
  let streams: Pick<Reading, 'names' | 'ids'> | undefined;
  while (streams === undefined && options.more()) {
    const option = options.next();
    const { left } = options;
    if (option === 'CLAIM' && left > 0 && client.server.vocabulary.knows('xreadgroup', 'CLAIM')) {
      if (!grouped) onlyForGroups('CLAIM');
      claim = idleTime(options.value());
    } else if (option === 'BLOCK' && left > 0) {
      if (client.has(SCRIPT) && client.server.dialect.blockInScript === 'refused')
        fail(`ERR ${argv[0]} command is not allowed with BLOCK option from scripts`);
      block = millisToWait(client, options.value());
    } else if (option === 'COUNT' && left > 0) count = Math.max(0, integer(options.value()));
    else if (option === 'STREAMS' && left > 0) {
      streams = splitStreams(client, command, argv.slice(-left));
    } else if (option === 'GROUP' && left >= 2) {
      if (!grouped) onlyForGroups('GROUP');
      group = options.value();
      consumer = options.value();
    } else if (option === 'NOACK') {
      if (!grouped) onlyForGroups('NOACK');
      noAck = true;
    } else fail(SYNTAX);
  }
  if (streams === undefined) fail(SYNTAX);
  if (grouped && group === undefined) fail('ERR Missing GROUP option for XREADGROUP');
  return { group, consumer, noAck, count: count === 0 ? Infinity : count, block, claim, ...streams };
}
