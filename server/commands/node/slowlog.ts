/** SLOWLOG and COMMANDLOG: the slow requests, and the large ones (https://redis.io/docs/latest/commands/slowlog/). */
import { asciiLower, type Bytes, cString } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import { OK, type Reply } from '../../../protocol/reply.ts';
import type { CommandLog } from '../../figures/slowlog.ts';
import type { Caller } from '../../server.ts';
import { integer } from '../../table/arguments.ts';
import type { Argv } from '../../table/command.ts';
import { defineContainer } from '../define.ts';

const BAD_COUNT = 'ERR count should be greater than or equal to -1';

/** Returns the latest entries of a log. Throws Redis' error for a bad count; -1 stands for all entries. */
function latest(text: Bytes | undefined, log: () => CommandLog): Reply {
  const count = text === undefined ? 10 : integer(text, BAD_COUNT);
  if (count < -1) fail(BAD_COUNT);
  const { entries } = log();
  const chosen = count === -1 ? entries : entries.slice(0, count);
  return chosen.map(({ id, second, amount, argv: words, address, name }) => [
    id,
    second,
    amount,
    words,
    address,
    name,
  ]);
}

function get(client: Caller, argv: Argv<-2>): Reply {
  const { observer } = client.server;
  if (argv.length > 3) {
    const name = cString(argv[1], 128);
    fail(`ERR unknown subcommand or wrong number of arguments for '${name}'. Try SLOWLOG HELP.`);
  }
  return latest(argv[2], () => observer.slowlog);
}

const FLAGS = ['admin', 'loading', 'stale'] as const;
const about = { since: '2.2.12', complexity: 'O(1)', flags: FLAGS };

export const slowlogCommand = defineContainer(
  'server',
  'slowlog',
  {
    summary: 'Commands about the slow log.',
    since: '2.2.12',
    helpSince: '6.2.0',
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
  },
);

/** The log that the last word names. */
function logNamed({ server }: Caller, word: Bytes): CommandLog {
  const { slowlog, sizes } = server.observer;
  const name = asciiLower(word);
  if (name === 'slow') return slowlog;
  if (name === 'large-request') return sizes.requests;
  if (name === 'large-reply') return sizes.replies;
  return fail('ERR type should be one of the following: slow, large-request, large-reply');
}

const sizes = { since: { valkey: '8.1.0' }, complexity: 'O(1)', flags: FLAGS } as const;

export const commandlogCommand = defineContainer(
  'server',
  'commandlog',
  {
    summary: 'Commands about the logs of slow requests, large requests and large replies.',
    since: { valkey: '8.1.0' },
    complexity: 'Depends on subcommand.',
    flags: [],
  },
  {
    get: {
      summary: 'Returns the latest entries of a log.',
      ...sizes,
      complexity: 'O(N) with N the number of entries',
      arity: 4,
      tips: ['request_policy:all_nodes', 'nondeterministic_output'],
      run: (client, argv) => latest(argv[2], () => logNamed(client, argv[3])),
    },
    len: {
      summary: 'Counts the entries of a log.',
      ...sizes,
      arity: 3,
      tips: ['request_policy:all_nodes', 'response_policy:agg_sum', 'nondeterministic_output'],
      run: (client, argv) => logNamed(client, argv[2]).entries.length,
    },
    reset: {
      summary: 'Empties a log.',
      ...sizes,
      complexity: 'O(N) with N the number of entries',
      arity: 3,
      tips: ['request_policy:all_nodes', 'response_policy:all_succeeded'],
      run(client, argv) {
        logNamed(client, argv[2]).entries = [];
        return OK;
      },
    },
  },
);
