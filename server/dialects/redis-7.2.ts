/** What Redis 7.2 changed: the ground that Redis 8 and Valkey share. No node answers as Redis 7.2 itself. */
import { formatShortest } from '../../protocol/bytes.ts';
import type { Dialect } from './dialect.ts';
import { redis70 } from './redis-7.0.ts';

export const redis72: Dialect = {
  ...redis70,
  printDouble: formatShortest,
  printArgument: (value) => (value === 0 ? '0' : formatShortest(value)),
  unbalancedStreams: (command) =>
    `ERR Unbalanced '${command}' list of streams: for each stream key an ID or '${command === 'xread' ? '$' : '>'}' must be specified.`,
  denial: 'by name',
  sanitizeByDefault: true,
  bitArguments: 'before the key',
  smallList: 'listpack',
  smallSet: 'listpack',
  servedMove: 'in capitals',
  consumers: 'made at once',
  consumerActivity: true,
  aclRules: 'as given',
  cursors: 'plain digits',
  lostStream: 'as if asked now',
  blockInScript: 'answered',
};
