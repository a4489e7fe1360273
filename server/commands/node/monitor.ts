/** MONITOR and SLOWLOG: the commands that run, and the slow ones (https://redis.io/docs/latest/commands/monitor/). */

import { cString, parseSafeInteger } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import { OK, type Reply, SimpleString } from '../../../protocol/reply.ts';
import { IN_MULTI, MONITOR, REPLICA_LINK } from '../../clients/client.ts';
import type { Caller } from '../../server.ts';
import type { Argv } from '../../table/command.ts';
import { SILENT } from '../../table/outcome.ts';
import { defineCommands, defineContainer } from '../define.ts';

export const monitorCommands = defineCommands('server', {
  monitor: {
    summary: 'Shows every command that runs from now on.',
    since: '1.0.0',
    arity: 1,
    flags: ['admin', 'noscript', 'loading', 'stale'],
    run(client) {
      if (client.has(IN_MULTI)) fail("ERR MONITOR isn't allowed for DENY BLOCKING client");
      // A replica's MONITOR is ignored.
      if (client.has(REPLICA_LINK)) return SILENT;
      client.mark(REPLICA_LINK | MONITOR, true);
      client.server.observer.watch(client);
      return OK;
    },
  },
});

function get(client: Caller, argv: Argv<-2>): Reply {
  const { slowlog } = client.server.observer;
  if (argv.length > 3) {
    const name = cString(argv[1], 128);
    fail(`ERR unknown subcommand or wrong number of arguments for '${name}'. Try SLOWLOG HELP.`);
  }
  const count = argv[2] === undefined ? 10 : parseSafeInteger(argv[2]);
  if (count === undefined || count < -1) fail('ERR count should be greater than or equal to -1');
  const chosen = count === -1 ? slowlog.entries : slowlog.entries.slice(0, count);
  return chosen.map(({ id, second, micros, argv: words, address, name }) => [
    id,
    second,
    micros,
    words,
    address,
    name,
  ]);
}

const HELP = [
  'SLOWLOG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:',
  'GET [<count>]',
  '    The latest entries (10, or as many as asked; -1 for all): number, time, microseconds, request, address, name.',
  'LEN',
  '    How many entries there are.',
  'RESET',
  '    Forgets all entries.',
  'HELP',
  '    Prints this help.',
];

const FLAGS = ['admin', 'loading', 'stale'] as const;
const about = { since: '2.2.12', complexity: 'O(1)', flags: FLAGS };

export const slowlogCommand = defineContainer(
  'server',
  'slowlog',
  {
    summary: 'Commands about the slow log.',
    since: '2.2.12',
    complexity: 'Depends on subcommand.',
    flags: [],
  },
  {
    get: {
      summary: 'Returns the latest entries of the slow log.',
      ...about,
      complexity: 'O(N) with N the number of entries',
      arity: -2,
      tips: ['request_policy:all_nodes', 'nondeterministic_output'],
      run: get,
    },
    len: {
      summary: 'Counts the entries of the slow log.',
      ...about,
      arity: 2,
      tips: ['request_policy:all_nodes', 'response_policy:agg_sum', 'nondeterministic_output'],
      run: (client) => client.server.observer.slowlog.entries.length,
    },
    reset: {
      summary: 'Empties the slow log.',
      ...about,
      complexity: 'O(N) with N the number of entries',
      arity: 2,
      tips: ['request_policy:all_nodes', 'response_policy:all_succeeded'],
      run(client) {
        client.server.observer.slowlog.entries = [];
        return OK;
      },
    },
    help: {
      summary: 'Lists the subcommands.',
      since: '6.2.0',
      complexity: 'O(1)',
      arity: 2,
      flags: ['loading', 'stale'],
      run: () => HELP.map((line) => new SimpleString(line)),
    },
  },
);
