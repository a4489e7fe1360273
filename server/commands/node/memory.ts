/** MEMORY: the memory that keys and the node use (https://redis.io/docs/latest/commands/memory-usage/). */
import { memoryUsage } from '../../../keyspace/footprint.ts';
import { asciiUpper } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import { OK, type Reply, Verbatim } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { encodingOf } from '../../settings/encodings.ts';
import { int64, wordAt } from '../../table/arguments.ts';
import { type Argv, key } from '../../table/command.ts';
import { defineContainer } from '../define.ts';
import { memoryStats } from './memory-report.ts';

function usage(client: Caller, argv: Argv<-3>): Reply {
  for (let at = 3; at < argv.length; at++) {
    if (asciiUpper(wordAt(argv, at)) !== 'SAMPLES' || at + 1 >= argv.length) fail(SYNTAX);
    if (int64(wordAt(argv, ++at)) < 0) fail(SYNTAX);
  }
  const name = argv[2];
  // A key whose time has passed takes memory until it is removed.
  const entry = client.db.entries.get(name);
  return entry === undefined ? null : memoryUsage(name, entry.held, encodingOf(entry));
}

const about = { since: '4.0.0', complexity: 'O(1)', flags: [] } as const;

export const memoryCommand = defineContainer(
  'server',
  'memory',
  { summary: 'Commands about memory.', since: '4.0.0', complexity: 'Depends on subcommand.', flags: [] },
  {
    doctor: {
      summary: 'Reports problems with memory.',
      ...about,
      arity: 2,
      tips: ['nondeterministic_output', 'request_policy:all_shards', 'response_policy:special'],
      run: () =>
        new Verbatim(
          'txt',
          'Memory is kept by the JavaScript engine here; there is nothing to report about it.',
        ),
    },
    stats: {
      summary: 'Reports the use of memory.',
      ...about,
      arity: 2,
      tips: ['nondeterministic_output', 'request_policy:all_shards', 'response_policy:special'],
      run: (client) => memoryStats(client.server),
    },
    'malloc-stats': {
      summary: "Returns the allocator's own statistics.",
      ...about,
      changes: [{ since: { valkey: '8.0.0' }, flags: ['loading'] }],
      arity: 2,
      tips: ['nondeterministic_output', 'request_policy:all_shards', 'response_policy:special'],
      run: () => new Verbatim('txt', 'Stats not supported for the current allocator'),
    },
    usage: {
      summary: 'Returns how many bytes a key and its value take.',
      since: '4.0.0',
      complexity: 'O(N) with N the number of items',
      arity: -3,
      flags: ['readonly'],
      keys: key('RO', 2),
      run: usage,
    },
    purge: {
      summary:
        'Returns free memory to the system; no effect, because the JavaScript engine does it by itself.',
      ...about,
      changes: [{ since: { valkey: '8.0.0' }, flags: ['loading'] }],
      arity: 2,
      tips: ['request_policy:all_shards', 'response_policy:all_succeeded'],
      run: () => OK,
    },
  },
);
