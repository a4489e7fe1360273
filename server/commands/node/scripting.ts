/** Commands that run scripts (https://redis.io/docs/latest/commands/?group=scripting). */

import { asciiUpper, type Bytes, cString } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import { OK } from '../../../protocol/reply.ts';
import { call } from '../../call.ts';
import { IN_MULTI } from '../../clients/client.ts';
import { countFlushed, flushesLazily } from '../../data/lazy-free.ts';
import type { Caller } from '../../server.ts';
import { integer, wordAt } from '../../table/arguments.ts';
import { type Argv, countedKeys, type Flag, noted } from '../../table/command.ts';
import type { Outcome } from '../../table/outcome.ts';
import { commandOf } from '../../table/resolve.ts';
import { defineCommands, defineContainer } from '../define.ts';

/** The number of hexadecimal digits of a SHA-1. Text of another length is never a known script. */
const SHA_LENGTH = 40;

/** The index of the first key in EVAL, EVALSHA, FCALL and their like. */
export const FIRST_KEY = 3;

/** Returns the number of keys that a request names. Throws Redis' error for a bad number. */
export function keyCount(argv: Argv<-3>, error?: Bytes): number {
  const count = integer(argv[2], error);
  if (count > argv.length - FIRST_KEY) fail("ERR Number of keys can't be greater than number of args");
  if (count < 0) fail("ERR Number of keys can't be negative");
  return count;
}

function evaluate(readonly: boolean) {
  return (client: Caller, argv: Argv<-3>): Outcome => {
    const keys = keyCount(argv);
    return client.server.scripts.eval(client, { argv, firstKey: FIRST_KEY, keys, readonly });
  };
}

function evaluateSha(readonly: boolean) {
  return (client: Caller, argv: Argv<-3>): Outcome => {
    if (argv[1].length !== SHA_LENGTH) fail(client.server.dialect.noScript);
    const keys = keyCount(argv);
    return client.server.scripts.evalSha(client, { argv, firstKey: FIRST_KEY, keys, readonly });
  };
}

/**
 * Counts what a new interpreter asks of the node, after SCRIPT FLUSH, FUNCTION FLUSH and before DEBUG loads a dataset. The
 * module of Lua in Valkey 9 reads a parameter with a request of the client.
 */
export function startInterpreter(client: Caller): void {
  const { server } = client;
  if (server.dialect.newInterpreter === 'asks nothing') return;
  const request = ['CONFIG', 'GET', 'lua-enable-insecure-api'];
  const command = commandOf(server.commands, request);
  if (command !== undefined) call(server, client, command, request);
}

/** Returns a function that finds the flags declared by the script of an EVAL, or of an EVALSHA if `sha` is set. */
function declares(sha: boolean) {
  return ({ server }: Caller, argv: readonly Bytes[]) => server.scripts.declared(wordAt(argv, 1), sha);
}

const COMMON: readonly Flag[] = ['noscript', 'stale', 'skip_monitor', 'no_mandatory_keys', 'movablekeys'];
/** Notes for the key specifications of scripts. */
export const ANY_USE = 'What a script does with its keys is not known before: every use is allowed for';
export const ANY_READ = 'What a script does with its keys is not known before: every read is allowed for';
export const RUN = {
  complexity: 'Depends on the script that is executed.',
  flags: [...COMMON, 'may_replicate'],
} as const;
export const RUN_RO = {
  ...RUN,
  since: '7.0.0',
  flags: ['readonly', ...COMMON] as Flag[],
  categories: ['scripting'],
};

export const scriptingCommands = [
  ...defineCommands('scripting', {
    eval: {
      summary: 'Runs a script.',
      ...RUN,
      since: '2.6.0',
      arity: -3,
      keys: noted(ANY_USE, countedKeys('RW ACCESS UPDATE', 2)),
      declares: declares(false),
      run: evaluate(false),
    },
    evalsha: {
      summary: 'Runs a script by its SHA-1.',
      ...RUN,
      since: '2.6.0',
      arity: -3,
      keys: countedKeys('RW ACCESS UPDATE', 2),
      declares: declares(true),
      run: evaluateSha(false),
    },
    eval_ro: {
      summary: 'Runs a script that may not write.',
      ...RUN_RO,
      arity: -3,
      keys: noted(ANY_READ, countedKeys('RO ACCESS', 2)),
      declares: declares(false),
      run: evaluate(true),
    },
    evalsha_ro: {
      summary: 'Runs a script that may not write, by its SHA-1.',
      ...RUN_RO,
      arity: -3,
      keys: countedKeys('RO ACCESS', 2),
      declares: declares(true),
      run: evaluateSha(true),
    },
  }),
  defineContainer(
    'scripting',
    'script',
    {
      summary: 'Commands about scripts.',
      since: '2.6.0',
      helpSince: '5.0.0',
      complexity: 'Depends on subcommand.',
      flags: [],
    },
    {
      load: {
        summary: 'Loads a script without running it and returns its SHA-1.',
        since: '2.6.0',
        complexity: 'O(N) with N the length of the script',
        arity: 3,
        flags: ['noscript', 'stale'],
        tips: ['request_policy:all_nodes', 'response_policy:all_succeeded'],
        run: (client, argv) => client.server.scripts.load(argv[2]).sha1,
      },
      exists: {
        summary: 'Checks which scripts are loaded.',
        since: '2.6.0',
        complexity: 'O(N) with N the number of scripts asked for',
        arity: -3,
        changes: [{ since: { valkey: '9.0.0' }, flags: ['noscript', 'stale'] }],
        flags: ['noscript'],
        tips: ['request_policy:all_shards', 'response_policy:agg_logical_and'],
        run: (client, argv) => argv.slice(2).map((sha) => (client.server.scripts.has(sha) ? 1 : 0)),
      },
      show: {
        summary: 'Returns the text of a script.',
        since: { valkey: '8.0.0' },
        complexity: 'O(1)',
        arity: 3,
        changes: [{ since: { valkey: '9.0.0' }, flags: ['noscript', 'stale'] }],
        flags: ['noscript'],
        run: (client, argv) =>
          client.server.scripts.sourceOf(argv[2]) ?? fail('NOSCRIPT No matching script.'),
      },
      flush: {
        summary: 'Forgets all scripts.',
        since: '2.6.0',
        complexity: 'O(N) with N the number of scripts known',
        arity: -2,
        changes: [{ since: { valkey: '9.0.0' }, flags: ['noscript', 'stale'] }],
        flags: ['noscript'],
        tips: ['request_policy:all_nodes', 'response_policy:all_succeeded'],
        run(client, argv) {
          const mode = argv[2] === undefined ? undefined : asciiUpper(argv[2]);
          if (argv.length > 3 || (mode !== undefined && mode !== 'SYNC' && mode !== 'ASYNC')) {
            fail('ERR SCRIPT FLUSH only support SYNC|ASYNC option');
          }
          const { scripts, stats } = client.server;
          if (flushesLazily(client.server, mode)) countFlushed(stats, scripts.size);
          scripts.flush();
          startInterpreter(client);
          return OK;
        },
      },
      debug: {
        summary: 'Sets how scripts are debugged; this server has no debugger and accepts NO only.',
        since: '3.2.0',
        complexity: 'O(1)',
        arity: 3,
        flags: ['noscript'],
        changes: [{ since: { valkey: '9.1.0' }, arity: -3 }],
        run(client, argv) {
          if (client.has(IN_MULTI) || client.output.pending > 0)
            fail('ERR SCRIPT DEBUG must be called outside a pipeline');
          const words: readonly Bytes[] = argv;
          const [, , mode, engine] = words.map(asciiUpper);
          if (words.length > 4)
            fail("ERR unknown subcommand or wrong number of arguments for 'DEBUG'. Try SCRIPT HELP.");
          if (engine !== undefined && engine !== 'LUA')
            fail(`ERR No scripting engine found with name '${cString(words[3] ?? '')}' to enable debug`);
          if (mode === 'NO') return OK;
          if (mode !== 'YES' && mode !== 'SYNC') fail('ERR Use SCRIPT DEBUG YES/SYNC/NO');
          return fail('ERR There is no Lua debugger in this server');
        },
      },
      kill: {
        summary: 'Stops the running script, unless it has written.',
        since: '2.6.0',
        complexity: 'O(1)',
        arity: 2,
        flags: ['noscript', 'allow_busy'],
        tips: ['request_policy:all_shards', 'response_policy:one_succeeded'],
        run: (client) => client.server.slowScript.kill('script'),
      },
    },
  ),
];
