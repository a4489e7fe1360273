/** The options of `startServer` for the arguments of redis-server. */

import { defined } from '../base/defined.ts';
import { badOption } from '../base/options.ts';
import { type Bytes, toBuffer } from '../protocol/bytes.ts';
import { splitInline } from '../protocol/inline.ts';
import type { Renaming } from '../server/table/rename.ts';
import { BadDirective } from '../start/configuration.ts';
import type { StartOptions } from '../start/start-options.ts';
import { decodeText } from '../start/text.ts';
import { type Invocation, parseCommandLine } from './command-line.ts';
import { UsageError } from './usage.ts';

/** The password as the options take it: as text, or as a setting if its bytes are not valid UTF-8. */
export function passwordOptions(password: Bytes): {
  readonly password?: string;
  readonly settings?: { readonly requirepass: Bytes };
} {
  if (password === '') return {};
  const text = decodeText(password);
  return typeof text === 'string' ? { password: text } : { settings: { requirepass: password } };
}

function textsOf([name, to]: Renaming): [string, string] {
  return [toBuffer(name).toString(), toBuffer(to).toString()];
}

/** The options for what a configuration asks for. The port is Redis' 6379 unless the configuration names one. */
export function startOptionsOf({ configuration, ...rest }: Invocation): StartOptions {
  const {
    port = 6379,
    bind = '127.0.0.1',
    unixsocket = '',
    requirepass = '',
    pidfile: _,
    daemonize: _background,
    ...settings
  } = configuration.settings;
  const { users, replicaOf, renamings } = configuration;
  const { password, settings: secret } = passwordOptions(requirepass);
  return {
    port,
    host: bind,
    settings: { ...settings, ...secret },
    users,
    ...defined({ replicaOf }),
    ...(renamings.length > 0 && { renamedCommands: renamings.map(textsOf) }),
    ...defined({
      replicas: rest.replicas,
      sentinels: rest.sentinels,
      dialect: rest.dialect,
      strict: rest.strict,
      requestMemory: rest.requestMemory,
    }),
    ...(unixsocket !== '' && { unixSocket: toBuffer(unixsocket).toString() }),
    ...defined({ password }),
  };
}

/**
 * The options for arguments that were written for redis-server, such as `['--requirepass', 'secret']`. As there, a word that
 * begins with `--` may hold a whole directive: `['--requirepass secret']`.
 * @param option the name of the option that holds them, for the error
 * @throws TypeError for arguments that lostlock does not take
 */
export function optionsOfArguments(option: string, args: readonly string[]): StartOptions {
  try {
    const words = args.flatMap((word) => (word.startsWith('--') && splitInline(word)) || [word]);
    const invocation = parseCommandLine(words);
    if (invocation.cluster === undefined && invocation.lab === undefined) return startOptionsOf(invocation);
    throw new UsageError('--cluster and --lab start several servers');
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof BadDirective)) throw error;
    throw badOption(option, args, `arguments of \`npx lostlock\` (${error.message})`);
  }
}
