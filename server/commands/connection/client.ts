/** CLIENT: names, lists and controls connections (https://redis.io/docs/latest/commands/client/). */

import { asciiLower, asciiUpper, type Bytes, cString } from '../../../protocol/bytes.ts';
import { fail, NOT_INTEGER, SYNTAX } from '../../../protocol/errors.ts';
import { OK, type Reply, Verbatim } from '../../../protocol/reply.ts';
import {
  type Client,
  FOLLOWS_REDIRECTS,
  IMPORT_SOURCE,
  NO_EVICT,
  NO_TOUCH,
  REPLY_OFF,
  REPLY_SKIP,
  REPLY_SKIP_NEXT,
} from '../../clients/client.ts';
import { clientType, fits, parseFilter, typeOfClient } from '../../clients/filters.ts';
import { describeClient, everyClient } from '../../clients/info.ts';
import type { Caller } from '../../server.ts';
import { integer, Options } from '../../table/arguments.ts';
import type { Argv } from '../../table/command.ts';
import { SILENT } from '../../table/outcome.ts';
import { INT64_END, millisToWait } from '../../table/timeouts.ts';
import { defineContainer } from '../define.ts';
import { trackingSubcommands } from './tracking.ts';

/** Returns a name without blanks and control characters. Throws Redis' error for any other. */
export function checkName({ server }: Caller, name: Bytes, what = 'Client names'): Bytes {
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    if (code === 0 && server.dialect.nulInName === 'ends the check') break;
    if (code < 33 || code > 126) fail(`ERR ${what} cannot contain spaces, newlines or special characters.`);
  }
  return name;
}

/** CLIENT LIST where it takes one filter: TYPE, or a list of numbers, in whose order it answers. */
function listByOne(client: Caller, argv: readonly Bytes[]): Client[] {
  const options = new Options(argv, 2);
  const all = everyClient(client.server);
  if (!options.more()) return all;
  const filter = options.next();
  if (filter === 'TYPE' && options.left === 1) {
    const type = clientType(client.server, options.value());
    return all.filter((each) => typeOfClient(each) === type);
  }
  if (filter !== 'ID' || options.left === 0) fail(SYNTAX);
  const ids: number[] = [];
  while (options.more()) ids.push(integer(options.value(), 'ERR Invalid client ID'));
  return ids.flatMap((id) => all.find((each) => each.id === id) ?? []);
}

function list(client: Caller, argv: readonly Bytes[]): Reply {
  const { server } = client;
  let chosen: Client[];
  if (server.dialect.clientFilters === 'each takes a list') {
    const filter = parseFilter(server, argv, false);
    chosen = everyClient(server).filter((each) => fits(server, filter, each, client));
  } else chosen = listByOne(client, argv);
  return new Verbatim('txt', chosen.map((each) => `${describeClient(server, each)}\n`).join(''));
}

function kill(client: Caller, argv: Argv<-3>): Reply {
  const { server } = client;
  const old = argv.length === 3;
  const filter = old
    ? { address: argv[2], skipMe: false, later: new Map() }
    : parseFilter(server, argv, true);
  let killed = 0;
  for (const each of everyClient(server)) {
    if (!fits(server, filter, each, client)) continue;
    killed++;
    if (each === client) client.close();
    else if (each === server.primary?.client) server.primary.disconnect();
    else each.drop();
  }
  if (!old) return killed;
  return killed > 0 ? OK : fail('ERR No such client');
}

/** Throws if there are more words than a subcommand takes, unless the server ignores them. */
function checkSurplus({ server }: Caller, argv: readonly Bytes[], most: number): void {
  if (argv.length <= most || server.dialect.surplusWords === 'ignored') return;
  fail(`ERR unknown subcommand or wrong number of arguments for '${argv[1]}'. Try CLIENT HELP.`);
}

function switchState(client: Caller, state: number, text: Bytes): Reply {
  const word = asciiLower(text);
  if (word !== 'on' && word !== 'off') fail(SYNTAX);
  client.mark(state, word === 'on');
  return OK;
}

const NORMAL = ['noscript', 'loading', 'stale'] as const;
const ADMIN = ['admin', 'noscript', 'loading', 'stale'] as const;
/** Valkey 9 serves the commands about one's own connection while a script is busy. */
const BUSY = { since: { valkey: '9.0.0' }, flags: ['noscript', 'loading', 'stale', 'allow_busy'] } as const;
const BUSY_ADMIN = { ...BUSY, flags: [...BUSY.flags, 'admin'] } as const;
const nothing = { since: '2.4.0', complexity: 'O(1)' };

export const clientCommand = defineContainer(
  'connection',
  'client',
  {
    summary: 'Commands about connections.',
    since: '2.4.0',
    helpSince: '5.0.0',
    complexity: 'Depends on subcommand.',
    flags: [],
  },
  {
    id: {
      summary: "Returns the connection's number.",
      ...nothing,
      since: '5.0.0',
      arity: 2,
      changes: [BUSY],
      flags: NORMAL,
      run: (client) => client.id,
    },
    getname: {
      summary: "Returns the connection's name.",
      ...nothing,
      since: '2.6.9',
      arity: 2,
      changes: [BUSY],
      flags: NORMAL,
      run: (client) => (client.name === '' ? null : client.name),
    },
    setname: {
      summary: 'Names the connection.',
      ...nothing,
      since: '2.6.9',
      changes: [
        { since: '7.2.0', tips: ['request_policy:all_nodes', 'response_policy:all_succeeded'] },
        BUSY,
      ],
      arity: 3,
      flags: NORMAL,
      run(client, argv) {
        client.name = checkName(client, argv[2]);
        return OK;
      },
    },
    setinfo: {
      summary: "Notes the client library's name or version.",
      ...nothing,
      since: '7.2.0',
      extra: true,
      arity: 4,
      changes: [BUSY],
      flags: NORMAL,
      tips: ['request_policy:all_nodes', 'response_policy:all_succeeded'],
      run(client, argv) {
        const option = asciiUpper(argv[2]);
        if (option !== 'LIB-NAME' && option !== 'LIB-VER')
          fail(`ERR Unrecognized option '${cString(argv[2])}'`);
        const value = checkName(client, argv[3], cString(argv[2]));
        if (option === 'LIB-NAME') client.library.name = value;
        else client.library.version = value;
        return OK;
      },
    },
    capa: {
      summary: 'Notes what the client can do; words that the server does not know are passed over.',
      ...nothing,
      since: { valkey: '8.0.0' },
      arity: -3,
      changes: [BUSY],
      flags: NORMAL,
      run(client, argv) {
        if (argv.slice(2).some((word) => asciiLower(word) === 'redirect'))
          client.mark(FOLLOWS_REDIRECTS, true);
        return OK;
      },
    },
    'import-source': {
      summary: 'Lets the connection see expired keys while the server is in import mode.',
      ...nothing,
      since: { valkey: '8.1.0' },
      arity: 3,
      flags: NORMAL,
      run(client, argv) {
        if (!client.server.settings['import-mode'] && asciiLower(argv[2]) !== 'off') {
          fail('ERR Server is not in import mode');
        }
        return switchState(client, IMPORT_SOURCE, argv[2]);
      },
    },
    info: {
      summary: 'Describes this connection.',
      ...nothing,
      since: '6.2.0',
      arity: 2,
      flags: NORMAL,
      tips: ['nondeterministic_output'],
      run: (client) => new Verbatim('txt', `${describeClient(client.server, client)}\n`),
    },
    list: {
      summary: 'Describes the connections.',
      ...nothing,
      complexity: 'O(N) with N the number of connections',
      arity: -2,
      flags: ADMIN,
      tips: ['nondeterministic_output'],
      run: list,
    },
    kill: {
      summary: 'Closes connections.',
      ...nothing,
      complexity: 'O(N) with N the number of connections',
      arity: -3,
      flags: ADMIN,
      run: kill,
    },
    reply: {
      summary: 'Turns replies on, off, or off for the next command.',
      ...nothing,
      since: '3.2.0',
      arity: 3,
      changes: [{ ...BUSY, flags: [...BUSY.flags, 'no_multi'] }],
      flags: NORMAL,
      run(client, argv) {
        const mode = asciiUpper(argv[2]);
        if (mode === 'ON') {
          client.mark(REPLY_OFF | REPLY_SKIP, false);
          return OK;
        }
        if (mode === 'OFF') client.mark(REPLY_OFF, true);
        else if (mode !== 'SKIP') fail(SYNTAX);
        else if (!client.has(REPLY_OFF)) client.mark(REPLY_SKIP_NEXT, true);
        return SILENT;
      },
    },
    unblock: {
      summary: "Ends another connection's wait, as a time-out or as an error.",
      ...nothing,
      since: '5.0.0',
      complexity: 'O(log N) with N the number of connections',
      arity: -3,
      flags: ADMIN,
      run(client, argv) {
        checkSurplus(client, argv, 4);
        // With more words, Valkey looks at none of them.
        const mode = asciiUpper((argv.length === 4 ? argv[3] : undefined) ?? 'TIMEOUT');
        if (mode !== 'TIMEOUT' && mode !== 'ERROR') {
          fail('ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR');
        }
        const target = client.server.clients.get(integer(argv[2], NOT_INTEGER));
        return target !== undefined && client.server.blocking.unblock(target, mode === 'ERROR') ? 1 : 0;
      },
    },
    pause: {
      summary: 'Delays the commands of all clients, or only those that write.',
      ...nothing,
      since: '2.9.50',
      arity: -3,
      flags: ADMIN,
      run(client, argv) {
        checkSurplus(client, argv, 4);
        // With more words, Valkey looks at none of them, as in CLIENT UNBLOCK.
        const mode = asciiUpper((argv.length === 4 ? argv[3] : undefined) ?? 'ALL');
        if (mode !== 'ALL' && mode !== 'WRITE') fail('ERR CLIENT PAUSE mode must be WRITE or ALL');
        const timeout = millisToWait(client, argv[2]);
        // Only Redis 7.0 takes such a time. Its end overflows, so that it lies in the past.
        if (client.server.now + timeout < INT64_END) client.server.pausing.pause(timeout, mode === 'ALL');
        return OK;
      },
    },
    unpause: {
      summary: 'Ends CLIENT PAUSE.',
      ...nothing,
      since: '6.2.0',
      complexity: 'O(N) with N the number of paused connections',
      arity: 2,
      flags: ADMIN,
      run(client) {
        client.server.pausing.unpause();
        return OK;
      },
    },
    'no-evict': {
      summary: 'Excludes this connection from client eviction.',
      ...nothing,
      since: '7.0.0',
      arity: 3,
      changes: [BUSY_ADMIN],
      flags: ADMIN,
      run: (client, argv) => switchState(client, NO_EVICT, argv[2]),
    },
    'no-touch': {
      summary: "Keeps this connection's commands from counting as uses of their keys.",
      ...nothing,
      since: '7.2.0',
      extra: true,
      arity: 3,
      changes: [BUSY],
      flags: NORMAL,
      run: (client, argv) => switchState(client, NO_TOUCH, argv[2]),
    },
    ...trackingSubcommands,
  },
);
