/** MODULE: the modules that the server brings with it; none can be loaded besides (https://redis.io/docs/latest/commands/module-list/). */
import type { Bytes } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import { MapReply, type Reply } from '../../../protocol/reply.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import type { Caller } from '../../server.ts';
import { defineContainer } from '../define.ts';

const NOT_LOADED = 'ERR Error loading the extension. Please check the server logs.';
const NO_SUCH_MODULE = 'ERR Error unloading module: no such module with that name';

function load(client: Caller, argv: readonly Bytes[]): Reply {
  client.server.log('warning', `Module ${argv[2]} failed to load: lostlock loads no modules`);
  return fail(NOT_LOADED);
}

function unload(): Reply {
  return fail(NO_SUCH_MODULE);
}

const common = {
  complexity: 'O(1)',
  flags: ['admin', 'noscript', 'no_async_loading'],
  guard: 'enable-module-command',
} as const;

/** The modules of a dialect's server, as MODULE LIST and HELLO report them. */
export function listModules({ modules }: Dialect): Reply {
  return modules.map(
    ({ name, version, path }) => new MapReply(['name', name, 'ver', version, 'path', path, 'args', []]),
  );
}

export const moduleCommand = defineContainer(
  'server',
  'module',
  {
    summary: 'Commands about modules, of which this server loads none.',
    since: '4.0.0',
    helpSince: '5.0.0',
    complexity: 'Depends on subcommand.',
    flags: [],
  },
  {
    list: {
      summary: 'Lists the modules that are part of the server.',
      since: '4.0.0',
      complexity: 'O(1)',
      arity: 2,
      flags: ['admin', 'noscript'],
      tips: ['nondeterministic_output_order'],
      run: ({ server }) => listModules(server.dialect),
    },
    load: { ...common, run: load, summary: 'Refuses to load a module.', since: '4.0.0', arity: -3 },
    loadex: {
      ...common,
      run: load,
      summary: 'Refuses to load a module with its configuration.',
      since: '7.0.0',
      arity: -3,
    },
    unload: { ...common, run: unload, summary: 'Refuses to unload a module.', since: '4.0.0', arity: 3 },
  },
);
