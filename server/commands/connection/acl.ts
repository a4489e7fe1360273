/** ACL: users and their permissions (https://redis.io/docs/latest/commands/acl/). */
import { approximate, asciiLower, asciiUpper, type Bytes, cString } from '../../../protocol/bytes.ts';
import { fail, wrongArity } from '../../../protocol/errors.ts';
import { Double, MapReply, OK, type Reply, SetReply } from '../../../protocol/reply.ts';
import { BadAclFile, loadUsers, saveUsers } from '../../acl/acl-file.ts';
import { categoriesIn, everyCommand } from '../../acl/categories.ts';
import { describeDatabases } from '../../acl/databases.ts';
import { describeCommands } from '../../acl/describe.ts';
import { mergeSelectors } from '../../acl/rules.ts';
import type { Selector } from '../../acl/selector.ts';
import { systemError } from '../../aof/aof-error.ts';
import type { Caller } from '../../server.ts';
import type { ConfigFile } from '../../settings/rewrite.ts';
import { int64 } from '../../table/arguments.ts';
import { type Argv, arityFits, type EntryChange } from '../../table/command.ts';
import { categoriesOf } from '../../table/info.ts';
import { commandOf } from '../../table/resolve.ts';
import { defineContainer } from '../define.ts';

const BITS =
  'ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096';

function tooMany(argv: Argv<-2>): never {
  const name = cString(argv[1], 128);
  return fail(`ERR unknown subcommand or wrong number of arguments for '${name}'. Try ACL HELP.`);
}

function setUser(client: Caller, argv: Argv<-3>): Reply {
  const name = argv[2];
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    if (code === 0 || code === 32 || (code >= 9 && code <= 13)) {
      fail("ERR Usernames can't contain spaces or null characters");
    }
  }
  client.server.acl.change(name, mergeSelectors(argv.slice(3)));
  return OK;
}

function describeSelector({ server: { dialect } }: Caller, selector: Selector): Reply[] {
  const asGiven = dialect.aclRules === 'as given';
  return [
    'commands',
    describeCommands(selector, asGiven),
    'keys',
    selector.describeKeys().join(' '),
    'channels',
    selector.describeChannels().join(' '),
    ...(dialect.databaseRules ? ['databases', databasesOf(selector)] : []),
  ];
}

function databasesOf({ databases }: Selector): Bytes {
  if (databases === 'all') return 'alldbs';
  return databases.length === 0 ? '' : (describeDatabases(databases) ?? '');
}

function getUser(client: Caller, argv: Argv<-3>): Reply {
  const user = client.server.acl.users.get(argv[2]);
  if (user === undefined) return null;
  return new MapReply([
    'flags',
    new SetReply(user.flags),
    'passwords',
    user.passwords,
    ...describeSelector(client, user.root),
    'selectors',
    user.selectors.map((each) => new MapReply(describeSelector(client, each))),
  ]);
}

function deleteUsers(client: Caller, argv: readonly Bytes[]): Reply {
  let deleted = 0;
  if (argv.slice(2).includes('default')) fail("ERR The 'default' user cannot be removed");
  for (const name of argv.slice(2)) if (client.server.acl.remove(name)) deleted++;
  return deleted;
}

function categories(client: Caller, argv: Argv<-2>): Reply {
  if (argv.length > 3) tooMany(argv);
  const [, , asked] = argv;
  const all = categoriesIn(client.server.acl.commands);
  if (asked === undefined) return [...all];
  const name = asciiLower(asked);
  if (!all.includes(name)) fail(`ERR Unknown category '${cString(asked, 128)}'`);
  const found: Bytes[] = [];
  for (const command of everyCommand(client.server.acl.commands)) {
    if (categoriesOf(command).includes(`@${name}`)) found.push(command.fullName);
  }
  return found;
}

function generate(client: Caller, argv: Argv<-2>): Reply {
  if (argv.length > 3) tooMany(argv);
  const bits = argv[2] === undefined ? 256 : int64(argv[2]);
  if (bits <= 0 || bits > 4096) fail(BITS);
  return client.server.randomHex(Math.ceil(approximate(bits) / 4), true);
}

function log(client: Caller, argv: Argv<-2>): Reply {
  const { acl, now } = client.server;
  if (argv.length > 3) tooMany(argv);
  let count = 10;
  if (argv[2] !== undefined) {
    if (asciiUpper(argv[2]) === 'RESET') {
      acl.log = [];
      return OK;
    }
    count = Math.max(0, approximate(int64(argv[2])));
  }
  return acl.log
    .slice(0, count)
    .map(
      (entry) =>
        new MapReply([
          'count',
          entry.count,
          'reason',
          entry.reason,
          'context',
          entry.context,
          'object',
          entry.object,
          'username',
          entry.username,
          'age-seconds',
          new Double((now - entry.at) / 1000),
          'client-info',
          entry.client,
          ...(client.server.dialect.aclLogIds
            ? ['entry-id', entry.id, 'timestamp-created', entry.firstAt, 'timestamp-last-updated', entry.at]
            : []),
        ]),
    );
}

function dryRun(client: Caller, argv: Argv<-4>): Reply {
  const { server } = client;
  const [, , userName, ...request] = argv;
  const user = server.acl.users.get(userName);
  if (user === undefined) fail(`ERR User '${cString(userName)}' not found`);
  const command = commandOf(server.commands, request);
  if (command === undefined) fail(`ERR Command '${cString(request[0])}' not found`);
  if (!arityFits(command.arity, request.length)) throw wrongArity(command.fullName);
  const denial = user.check(command, request, server.acl.placeIn(client.db.index));
  if (denial === undefined) return OK;
  const byName = server.dialect.denial === 'by name';
  const who = byName ? `User ${cString(userName)}` : 'This user';
  if (denial.what === 'command') return `${who} has no permissions to run the '${command.fullName}' command`;
  const word = request[denial.at] ?? '';
  if (denial.what === 'database') return `${who} has no permissions to access database ${word}`;
  return `${who} has no permissions to access the '${byName ? word : cString(word)}' ${denial.what}`;
}

function aclFile({ aclFile: open, dialect }: Caller['server']): ConfigFile {
  return open?.() ?? fail(dialect.noAclFile);
}

function loadFile({ server }: Caller): Reply {
  try {
    loadUsers(server, aclFile(server));
  } catch (error) {
    if (!(error instanceof BadAclFile)) throw error;
    fail(`ERR ${error.message}`);
  }
  return OK;
}

function saveFile({ server }: Caller): Reply {
  const file = aclFile(server);
  try {
    saveUsers(server, file);
  } catch (error) {
    server.log('warning', `ACL SAVE cannot write ${file.path}: ${systemError(error)}`);
    fail('ERR There was an error trying to save the ACLs. Please check the server logs for more information');
  }
  return OK;
}

const ADMIN = ['admin', 'noscript', 'loading', 'stale'] as const;
const NORMAL = ['noscript', 'loading', 'stale'] as const;
const EVERY_NODE: readonly EntryChange[] = [
  { since: '7.2.0', tips: ['request_policy:all_nodes', 'response_policy:all_succeeded'] },
];
const about = { since: '6.0.0', complexity: 'O(N) with N the number of users or rules' };

export const aclCommand = defineContainer(
  'server',
  'acl',
  {
    summary: 'Commands about users and their permissions.',
    since: '6.0.0',
    complexity: 'Depends on subcommand.',
    flags: [],
  },
  {
    cat: {
      summary: 'Lists the categories, or the commands of one.',
      ...about,
      arity: -2,
      flags: NORMAL,
      run: categories,
    },
    deluser: {
      summary: 'Removes users and closes their connections.',
      ...about,
      changes: EVERY_NODE,
      arity: -3,
      flags: ADMIN,
      run: deleteUsers,
    },
    dryrun: {
      summary: 'Checks whether a user may run a command, without running it.',
      ...about,
      since: '7.0.0',
      arity: -4,
      flags: ADMIN,
      run: dryRun,
    },
    genpass: {
      summary: 'Generates a password.',
      ...about,
      complexity: 'O(1)',
      arity: -2,
      flags: NORMAL,
      run: generate,
    },
    getuser: { summary: 'Describes a user.', ...about, arity: 3, flags: ADMIN, run: getUser },
    list: {
      summary: 'Lists every user with its rules.',
      ...about,
      arity: 2,
      flags: ADMIN,
      run: (client) => {
        const asGiven = client.server.dialect.aclRules === 'as given';
        return client.server.acl.sorted().map((user) => user.describe(asGiven));
      },
    },
    load: {
      summary: 'Replaces all users by those of the ACL file.',
      ...about,
      arity: 2,
      flags: ADMIN,
      run: loadFile,
    },
    log: { summary: 'Lists recent refusals.', ...about, arity: -2, flags: ADMIN, run: log },
    save: {
      summary: 'Writes all users to the ACL file.',
      ...about,
      changes: EVERY_NODE,
      arity: 2,
      flags: ADMIN,
      run: saveFile,
    },
    setuser: {
      summary: 'Makes or changes a user.',
      ...about,
      changes: EVERY_NODE,
      arity: -3,
      flags: ADMIN,
      run: setUser,
    },
    users: {
      summary: "Lists the users' names.",
      ...about,
      arity: 2,
      flags: ADMIN,
      run: (client) => client.server.acl.sorted().map(({ name }) => name),
    },
    whoami: {
      summary: "Returns the name of the connection's user.",
      ...about,
      complexity: 'O(1)',
      arity: 2,
      flags: NORMAL,
      run: (client) => client.user,
    },
  },
);
