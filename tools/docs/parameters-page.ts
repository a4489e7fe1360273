/** The text of docs/parameters.md: every parameter of redis.conf, which servers have it, and what it does here. */
import { dialectNamed, dialectNames } from '../../server/dialects/index.ts';
import { refusals } from '../../server/settings/refusals.ts';
import { aliases, parameters, type Settings } from '../../server/settings/settings.ts';
import { tuningGroups } from '../../server/settings/tuning.ts';
import { hasParameter, parameterIn } from '../../server/settings/variants.ts';

/** The servers that have the parameter: all, or those from one version to another of a family. */
function serversWith(name: keyof Settings): string {
  const having = dialectNames.filter((dialect) => hasParameter(name, dialectNamed(dialect)));
  if (having.length === dialectNames.length) return 'all';
  const spans = ['redis', 'valkey'].flatMap((family) => {
    const own = having.filter((each) => each.startsWith(family));
    const all = dialectNames.filter((each) => each.startsWith(family));
    if (own.length === 0) return [];
    if (own.length === all.length) return [`every ${family}`];
    const [first, last] = [own[0], own.at(-1)];
    if (last === all.at(-1)) return [first === last ? `${first}` : `${first} and later`];
    return [first === last ? `${first}` : `${first} to ${last}`];
  });
  return spans.join(', ');
}

/** What the parameters do that are read by the command line alone. */
const BY_COMMAND_LINE: Readonly<Record<string, string>> = {
  daemonize:
    'works on the command line, which starts itself again in the background; `startServer` accepts `no` only',
  pidfile: 'works on the command line, and for Sentinels; `startServer` has no file of its own',
  logfile: 'works on the command line; `startServer` has the option `log`',
  'shutdown-on-sigint': 'works on the command line; a process with `startServer` handles its signals itself',
  'shutdown-on-sigterm': 'works on the command line; a process with `startServer` handles its signals itself',
};

function effectOf(name: keyof Settings, groups: ReadonlyMap<string, string>): string {
  const own = BY_COMMAND_LINE[name];
  if (own !== undefined) return own;
  const why = groups.get(name);
  if (why !== undefined) return `accepted, without effect: ${why}`;
  const refusal = refusals.get(name);
  if (refusal === undefined) return 'works';
  const { print } = parameterIn(name, dialectNamed('redis-7.0')) as { print(value: unknown): string };
  const only = print(refusal.only);
  return `${only === '' ? 'refused' : `\`${only}\` only`}: ${refusal.why}`;
}

/** Directives of redis.conf that are no parameters. */
const DIRECTIVES = [
  [
    'include',
    'works, also with wildcards (`*`, `?`, `[a-z]`); a relative path is taken from the `dir` of an earlier line',
  ],
  ['loadmodule', 'refused: lostlock loads no modules'],
  ['rename-command', 'works, also as the option `renamedCommands`'],
  ['replicaof, slaveof', 'works; CONFIG GET shows it, REPLICAOF changes it'],
  ['user', 'works, also as the option `users`'],
] as const;

/** The page as Markdown. */
export function parametersPage(): string {
  const groups = new Map(
    tuningGroups.flatMap(([why, group]) => Object.keys(group).map((name): [string, string] => [name, why])),
  );
  const further = (name: string): string => {
    const others = Object.keys(aliases).filter((alias) => aliases[alias] === name);
    return others.length === 0 ? '' : ` (${others.map((each) => `\`${each}\``).join(', ')})`;
  };
  const names = (Object.keys(parameters) as (keyof Settings)[]).sort();
  return [
    '# The parameters of redis.conf',
    '',
    'A server takes a redis.conf (`npx lostlock redis.conf`), the same parameters as flags (`--maxmemory 100mb`), and as `settings` of',
    '`startServer`. A parameter works, or is accepted without an effect, or is refused with the reason: a server that ignored it would',
    'mislead. A file may have the parameters of any server; with `--strict yes` only those of its dialect. `npm run docs` writes this',
    'page from the tables of `server/settings/`. A test starts lostlock with each parameter of each real server, at its default and at',
    'another value (`test/start/conf/`).',
    '',
    '| Parameter | Servers | Here |',
    '| --- | --- | --- |',
    ...names.map(
      (name) => `| \`${name}\`${further(name)} | ${serversWith(name)} | ${effectOf(name, groups)} |`,
    ),
    '',
    '## Other directives',
    '',
    '| Directive | Here |',
    '| --- | --- |',
    ...DIRECTIVES.map(([name, what]) => `| ${name} | ${what} |`),
    '',
    'Servers accept the names of parameters that they once had, and ignore them: `list-max-ziplist-entries`, `list-max-ziplist-value`',
    'and `lua-replicate-commands`. So does lostlock.',
    '',
  ].join('\n');
}
