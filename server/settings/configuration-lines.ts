/** The lines of a configuration file for what a server is set to. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Acl } from '../acl/acl.ts';
import { systemError } from '../aof/aof-error.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { LogLevel } from '../ports.ts';
import { defaultOutputLimits, parseOutputLimits } from './output-limits.ts';
import { BadSetting, parseSavePoints, writeMemory } from './parameters.ts';
import { type ConfigFile, directiveOf, type OptionLines, rewriteLines } from './rewrite.ts';
import { parameters, type Settings } from './settings.ts';
import { hasParameter, parameterIn, parameterNames } from './variants.ts';

/** A server, as far as its configuration file describes it. */
export interface Configured {
  readonly settings: Settings;
  readonly dialect: Dialect;
  readonly acl: Acl;
  /** The primary that the server follows. */
  readonly primary: { readonly host: Bytes; readonly port: number } | undefined;
  /** The file; undefined on a server that was started without one. */
  readonly configFile: ConfigFile | undefined;
  log(level: LogLevel, text: string): void;
}

/** Directives that are no parameters. */
const OTHERS: ReadonlySet<Bytes> = new Set(['include', 'rename-command', 'user', 'loadmodule', 'replicaof']);
/** The name of a line in the file for a parameter whose lines this module makes itself. */
const SPECIAL = { save: 'save', 'client-output-buffer-limit': 'client-output-buffer-limit' } as const;

/** Parameters that Redis writes even with their default. */
const ALWAYS: ReadonlySet<keyof Settings> = new Set<keyof Settings>(['latency-tracking-info-percentiles']);

/** Parameters whose lines Redis leaves alone. */
const KEPT: ReadonlySet<keyof Settings> = new Set<keyof Settings>(['rdma-bind']);

/** The setting that holds the password with which a replica logs in. */
const PASSWORD = 'masterauth';

/** True if a line for the parameter is left out. The default is ours: a server that reads no line takes its own. */
function isDefault({ settings, dialect }: Configured, name: keyof Settings): boolean {
  if (ALWAYS.has(name)) return false;
  // A server that requires a password logs in at its primary with the same one, unless it is told otherwise.
  if (name === PASSWORD && settings[PASSWORD] === settings.requirepass) return true;
  const initial = dialect.settings[name] ?? parameterIn(name, dialect).initial;
  return settings[name] === initial;
}

function saveLines({ settings, dialect }: Configured): OptionLines['lines'] {
  const points = parseSavePoints(settings.save) ?? [];
  if (points.length === 0) return [{ text: 'save ""', added: true }];
  if (dialect.saveLines === 'one line') return [{ text: `save ${settings.save}`, added: true }];
  return points.map(({ seconds, changes }) => ({ text: `save ${seconds} ${changes}`, added: true }));
}

function outputLines({ settings }: Configured): OptionLines['lines'] {
  const name = SPECIAL['client-output-buffer-limit'];
  const usual = defaultOutputLimits();
  const limits = parseOutputLimits(settings[name]);
  if (limits instanceof BadSetting) return [];
  return [...limits].map(([which, limit]) => {
    const { hard, soft, seconds } = limit;
    const shown = which === 'slave' ? 'replica' : which;
    const text = `${name} ${shown} ${writeMemory(hard)} ${writeMemory(soft)} ${seconds}`;
    const initial = usual.get(which);
    return { text, added: hard !== initial?.hard || soft !== initial.soft || seconds !== initial.seconds };
  });
}

/** Every option that the server knows, with the lines that it needs. */
export function* configurationLines(server: Configured): Iterable<OptionLines> {
  const { settings, dialect, acl, primary } = server;
  const preferred = new Map(dialect.renamedSettings.map(([shown, name]) => [name, shown]));
  for (const name of Object.keys(parameters) as (keyof Settings)[]) {
    if (!hasParameter(name, dialect) || KEPT.has(name)) continue;
    const shown = preferred.get(name) ?? name;
    if (name === SPECIAL.save) yield { name, lines: saveLines(server) };
    else if (name === SPECIAL['client-output-buffer-limit']) yield { name, lines: outputLines(server) };
    else {
      const { write } = parameterIn(name, dialect) as { write(value: unknown): Bytes | undefined };
      const value = write(settings[name]);
      const lines =
        value === undefined ? [] : [{ text: `${shown} ${value}`, added: !isDefault(server, name) }];
      yield { name: shown, lines };
    }
  }
  const followed =
    primary === undefined ? [] : [{ text: `replicaof ${primary.host} ${primary.port}`, added: true }];
  yield { name: 'replicaof', lines: followed };
  const asGiven = dialect.aclRules === 'as given';
  // The users of an ACL file stay there.
  const users = settings.aclfile === '' ? acl.sorted() : [];
  yield { name: 'user', lines: users.map((user) => ({ text: user.describe(asGiven), added: true })) };
}

/** The option that a line of the file sets, by the name with which the server writes it. */
export function optionOf(dialect: Dialect, words: readonly Bytes[]): Bytes | undefined {
  const word = directiveOf(words);
  if (word === 'slaveof' || word === 'replicaof') return 'replicaof';
  if (OTHERS.has(word)) return word;
  const name = parameterNames(dialect).get(word);
  if (name === undefined) return undefined;
  const renamed = dialect.renamedSettings.find(([, each]) => each === name);
  return renamed?.[0] ?? name;
}

/**
 * CONFIG REWRITE: writes what is set now to the file that the server was started with. Returns Redis' error if it failed.
 */
export function rewriteConfiguration(server: Configured): Bytes | undefined {
  const { configFile, dialect } = server;
  if (configFile === undefined) return 'ERR The server is running without a config file';
  try {
    const options = configurationLines(server);
    configFile.write(rewriteLines(configFile.read() ?? '', options, (words) => optionOf(dialect, words)));
  } catch (error) {
    const why = systemError(error);
    server.log('warning', `CONFIG REWRITE failed: ${why}`);
    return `ERR Rewriting config file: ${why}`;
  }
  server.log('notice', 'CONFIG REWRITE executed with success.');
  return undefined;
}
