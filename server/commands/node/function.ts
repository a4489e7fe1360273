/** FUNCTION and FCALL: libraries of functions (https://redis.io/docs/latest/commands/?group=scripting). */

import { formatOfPayload } from '../../../keyspace/rdb/dump.ts';
import { asciiUpper, type Bytes, cString } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import { globMatch } from '../../../protocol/glob.ts';
import { MapReply, OK, type Reply, SetReply, SimpleString } from '../../../protocol/reply.ts';
import type { FunctionLibrary } from '../../../scripting/functions.ts';
import { PRIMARY_LINK } from '../../clients/client.ts';
import { countFlushed, flushesLazily } from '../../data/lazy-free.ts';
import type { Caller } from '../../server.ts';
import { wordAt } from '../../table/arguments.ts';
import { type Argv, countedKeys, noted } from '../../table/command.ts';
import type { Outcome } from '../../table/outcome.ts';
import { defineCommands, defineContainer } from '../define.ts';
import { unknownWords } from '../stream/group.ts';
import { ANY_READ, ANY_USE, FIRST_KEY, keyCount, RUN, RUN_RO, startInterpreter } from './scripting.ts';

const TIPS = ['request_policy:all_shards', 'response_policy:all_succeeded'];

function load({ server }: Caller, argv: readonly Bytes[]): Reply {
  const options = argv.slice(2, -1);
  for (const option of options) {
    if (asciiUpper(option) !== 'REPLACE') fail(`ERR Unknown option given: ${cString(option)}`);
  }
  const name = server.functions.load(wordAt(argv, argv.length - 1), options.length > 0);
  server.world.dirty++;
  return name;
}

function restore(client: Caller, argv: Argv<-3>): Reply {
  const { server } = client;
  if (argv.length > 4) {
    unknownWords('function', argv[1]);
  }
  const policy = asciiUpper(argv[3] ?? 'APPEND');
  if (policy !== 'FLUSH' && policy !== 'APPEND' && policy !== 'REPLACE') {
    fail('ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.');
  }
  const payload = argv[2];
  const format = client.has(PRIMARY_LINK) ? formatOfPayload(payload) : server.rdbFormat;
  server.functions.restore(payload, policy, format);
  server.world.dirty++;
  return OK;
}

function flush(client: Caller, argv: Argv<-2>): Reply {
  const { server } = client;
  if (argv.length > 3) {
    unknownWords('function', argv[1]);
  }
  const mode = argv[2] === undefined ? undefined : asciiUpper(argv[2]);
  if (mode !== undefined && mode !== 'SYNC' && mode !== 'ASYNC') {
    fail('ERR FUNCTION FLUSH only supports SYNC|ASYNC option');
  }
  if (flushesLazily(server, mode)) {
    const interpreters = server.dialect.flushedInterpreter === 'freed' ? 1 : 0;
    countFlushed(server.stats, server.functions.counts.functions, interpreters);
  }
  server.functions.flush();
  startInterpreter(client);
  server.world.dirty++;
  return OK;
}

function list({ server }: Caller, argv: readonly Bytes[]): Reply {
  let pattern: Bytes | undefined;
  let withCode = false;
  for (let i = 2; i < argv.length; i++) {
    const word = asciiUpper(wordAt(argv, i));
    if (word === 'WITHCODE' && !withCode) withCode = true;
    else if (word === 'LIBRARYNAME' && pattern === undefined) {
      pattern = argv[++i] ?? fail('ERR library name argument was not given');
    } else fail(`ERR Unknown argument ${cString(wordAt(argv, i)).replace(/[\r\n]/g, ' ')}`);
  }
  const found = [...server.functions.libraries].filter(
    ({ name }) => pattern === undefined || globMatch(pattern, name, true),
  );
  return found.map((library) => describeLibrary(library, withCode));
}

function describeLibrary({ name, code, functions }: FunctionLibrary, withCode: boolean): Reply {
  const described = functions.map(
    (each) =>
      new MapReply([
        'name',
        each.name,
        'description',
        each.description ?? null,
        'flags',
        new SetReply([...each.flags].map((flag) => new SimpleString(flag))),
      ]),
  );
  const fields: Reply[] = ['library_name', name, 'engine', 'LUA', 'functions', described];
  return new MapReply(withCode ? [...fields, 'library_code', code] : fields);
}

function stats({ server }: Caller): Reply {
  const { libraries, functions } = server.functions.counts;
  const engine = new MapReply(['libraries_count', libraries, 'functions_count', functions]);
  return new MapReply(['running_script', running(), 'engines', new MapReply(['LUA', engine])]);

  function running(): Reply {
    const found = server.slowScript.running;
    if (found?.execution === undefined) return null;
    if (found.kind === 'script') fail(server.slowScript.busyText);
    const elapsed = server.host.clock.now() - found.since;
    return new MapReply(['name', found.execution.label, 'command', found.argv, 'duration_ms', elapsed]);
  }
}

function callFunction(readonly: boolean) {
  return (client: Caller, argv: Argv<-3>): Outcome => {
    const { server } = client;
    const program = server.functions.find(argv[1]);
    const keys = keyCount(argv, 'ERR Bad number of keys provided');
    return server.scripts.start(client, program, { argv, firstKey: FIRST_KEY, keys, readonly });
  };
}

/** Returns the flags of the function that an FCALL names. */
function declares({ server }: Caller, argv: readonly Bytes[]): ReadonlySet<Bytes> | undefined {
  return server.functions.get(wordAt(argv, 1))?.flags;
}

export const functionCommands = [
  ...defineCommands('scripting', {
    fcall: {
      ...RUN,
      summary: 'Calls a function.',
      complexity: 'Depends on the function that is executed.',
      since: '7.0.0',
      arity: -3,
      keys: noted(ANY_USE, countedKeys('RW ACCESS UPDATE', 2)),
      declares,
      run: callFunction(false),
    },
    fcall_ro: {
      ...RUN_RO,
      summary: 'Calls a function that may not write.',
      complexity: 'Depends on the function that is executed.',
      arity: -3,
      keys: noted(ANY_READ, countedKeys('RO ACCESS', 2)),
      declares,
      run: callFunction(true),
    },
  }),
  defineContainer(
    'scripting',
    'function',
    { summary: 'Commands about functions.', since: '7.0.0', complexity: 'Depends on subcommand.', flags: [] },
    {
      load: {
        summary: 'Creates a library, or replaces one.',
        since: '7.0.0',
        complexity: 'O(1) (considering compilation time is redundant)',
        arity: -3,
        flags: ['write', 'denyoom', 'noscript'],
        tips: TIPS,
        run: load,
      },
      delete: {
        summary: 'Deletes a library and its functions.',
        since: '7.0.0',
        complexity: 'O(1)',
        arity: 3,
        flags: ['write', 'noscript'],
        tips: TIPS,
        run({ server }, argv) {
          server.functions.delete(argv[2]);
          server.world.dirty++;
          return OK;
        },
      },
      flush: {
        summary: 'Deletes all libraries.',
        since: '7.0.0',
        complexity: 'O(N) with N the number of functions deleted',
        arity: -2,
        flags: ['write', 'noscript'],
        tips: TIPS,
        run: flush,
      },
      list: {
        summary: 'Describes the libraries.',
        since: '7.0.0',
        complexity: 'O(N) with N the number of functions',
        arity: -2,
        flags: ['noscript'],
        tips: ['nondeterministic_output_order'],
        run: list,
      },
      stats: {
        summary: 'Returns the running function and the number of functions.',
        since: '7.0.0',
        complexity: 'O(1)',
        arity: 2,
        flags: ['noscript', 'allow_busy'],
        tips: ['nondeterministic_output', 'request_policy:all_shards', 'response_policy:special'],
        run: stats,
      },
      kill: {
        summary: 'Stops the running function, unless it has written.',
        since: '7.0.0',
        complexity: 'O(1)',
        arity: 2,
        flags: ['noscript', 'allow_busy'],
        tips: ['request_policy:all_shards', 'response_policy:one_succeeded'],
        run: ({ server }) => server.slowScript.kill('function'),
      },
      dump: {
        summary: 'Returns all libraries as a payload, for FUNCTION RESTORE.',
        since: '7.0.0',
        complexity: 'O(N) with N the number of functions',
        arity: 2,
        flags: ['noscript'],
        run: ({ server }) => server.functions.dump(),
      },
      restore: {
        summary: 'Creates the libraries of a payload of FUNCTION DUMP.',
        since: '7.0.0',
        complexity: 'O(N) with N the number of functions in the payload',
        arity: -3,
        flags: ['write', 'denyoom', 'noscript'],
        tips: TIPS,
        run: restore,
      },
    },
  ),
];
