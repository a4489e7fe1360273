/** The command table of a Sentinel: a few commands of every server, SENTINEL, and those that a Sentinel answers in its own way. */
import { asciiUpper, type Bytes } from '../../protocol/bytes.ts';
import { fail } from '../../protocol/errors.ts';
import { type CommandTable, commandsOf } from '../../server/commands/index.ts';
import { info } from '../../server/commands/node/info.ts';
import type { Dialect } from '../../server/dialects/index.ts';
import type { Caller } from '../../server/server.ts';
import type { Command } from '../../server/table/command.ts';
import { fitted } from '../../server/table/fit.ts';
import { withHelp } from '../../server/table/help.ts';
import { HELLO_CHANNEL, hearHello } from '../hello.ts';
import type { SentinelCaller, SentinelServer } from '../server.ts';
import { sentinelCommand } from './sentinel.ts';

/** The commands that work as on every server. */
const SHARED: ReadonlySet<Bytes> = new Set(
  'acl auth client command hello ping psubscribe punsubscribe shutdown subscribe unsubscribe'.split(' '),
);

/** The subcommands of CLIENT that a Sentinel does not have: they are about data. */
const NOT_SHARED: ReadonlySet<Bytes> = new Set(['client|no-touch', 'client|capa', 'client|import-source']);

/** The command without the subcommands that a Sentinel does not have. */
function restricted(command: Command<Caller>, dialect: Dialect): Command<Caller> {
  const all = [...(command.subcommands ?? [])];
  const kept = all.filter(([, { fullName }]) => !NOT_SHARED.has(fullName));
  return kept.length === all.length ? command : withHelp({ ...command, subcommands: new Map(kept) }, dialect);
}

/** The commands that a Sentinel has under a common name, with its own behaviour. */
const OWN: Readonly<Record<string, Command<SentinelCaller>['run']>> = {
  info: ({ server }, argv) => infoText(server, argv.slice(1)),
  role: ({ server }) => ['sentinel', [...server.sentinel.primaries.keys()]],
  /** Other Sentinels send their hello messages this way. */
  publish({ server }, [, channel = '', message = '']) {
    if (channel !== HELLO_CHANNEL) fail('ERR Only HELLO messages are accepted by Sentinel instances.');
    hearHello(server.sentinel, message);
    return 1;
  },
};

/** The sections of INFO that a Sentinel shares with every server. */
const SECTIONS = ['server', 'clients', 'stats', 'cpu'];

function infoText(server: SentinelServer, asked: readonly Bytes[]): Bytes {
  const parts = [info(server, asked, SECTIONS)];
  const own = /^(default|all|everything|sentinel)$/i;
  if (asked.length === 0 || asked.some((word) => own.test(word))) parts.push(sentinelSection(server));
  return parts.filter((part) => part !== '').join('\r\n');
}

function sentinelSection({ sentinel, dialect, now }: SentinelServer): Bytes {
  const since = sentinel.isTilted ? Math.floor((now - sentinel.tiltedSince) / 1000) : -1;
  const lines = [
    '# Sentinel',
    `sentinel_masters:${sentinel.primaries.size}`,
    `sentinel_tilt:${sentinel.isTilted ? 1 : 0}`,
    `sentinel_tilt_since_seconds:${since}`,
    ...(dialect.sentinel.countsTilts ? [`sentinel_total_tilt:${sentinel.tilts}`] : []),
    'sentinel_running_scripts:0',
    'sentinel_scripts_queue_length:0',
    `sentinel_simulate_failure_flags:${sentinel.simulatedFailures}`,
  ];
  for (const [i, primary] of [...sentinel.primaries.values()].entries()) {
    const status = primary.isAgreedDown ? 'odown' : primary.isDown ? 'sdown' : 'ok';
    const { host, port } = primary.address;
    const sizes = `slaves=${primary.replicas.size},sentinels=${primary.sentinels.size + 1}`;
    lines.push(`master${i}:name=${primary.name},status=${status},address=${host}:${port},${sizes}`);
  }
  return lines.map((line) => `${line}\r\n`).join('');
}

export function sentinelTable(dialect: Dialect, strict: boolean): CommandTable {
  const table = new Map<Bytes, Command<Caller>>();
  const add = (command: Command<Caller>): void => {
    table.set(command.name, command);
    table.set(asciiUpper(command.name), command);
  };
  for (const command of commandsOf(dialect, strict)) {
    const own = Object.hasOwn(OWN, command.name) ? OWN[command.name] : undefined;
    if (own !== undefined) add({ ...command, run: own as Command<Caller>['run'] });
    else if (SHARED.has(command.name)) add(restricted(command, dialect));
  }
  add((fitted(sentinelCommand, dialect, strict) ?? sentinelCommand) as Command<Caller>);
  return table;
}
