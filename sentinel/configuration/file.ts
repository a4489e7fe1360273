/** A Sentinel's sentinel.conf: read when it starts, and rewritten with its state after every change. */
import { asciiLower, type Bytes } from '../../protocol/bytes.ts';
import { quoted, quotedIfNeeded } from '../../protocol/inline.ts';
import { configurationLines, optionOf } from '../../server/settings/configuration-lines.ts';
import {
  type ConfigFile,
  directiveOf,
  type OptionLines,
  rewriteLines,
} from '../../server/settings/rewrite.ts';
import type { SentinelServer } from '../server.ts';
import { directivesOf } from './directives.ts';

/** Parameters that mean nothing to a Sentinel. */
const UNUSED: ReadonlySet<Bytes> = new Set(['save', 'databases']);
/** Every directive that the state decides about: lines of the file that it does not need are removed. */
const DIRECTIVES =
  'myid deny-scripts-reconfig resolve-hostnames announce-hostnames monitor down-after-milliseconds failover-timeout parallel-syncs auth-pass auth-user master-reboot-down-after-period primary-reboot-down-after-period config-epoch leader-epoch known-replica known-sentinel rename-command current-epoch announce-ip announce-port sentinel-user sentinel-pass'.split(
    ' ',
  );

function* linesOf(server: SentinelServer): Iterable<OptionLines> {
  for (const option of configurationLines(server)) {
    if (!UNUSED.has(option.name)) yield option;
  }
  const { globals } = server.sentinel;
  const directives = directivesOf(server.sentinel);
  for (const name of DIRECTIVES) {
    if (name === 'resolve-hostnames' || name === 'announce-hostnames') {
      yield switchLine(name, globals[name], false);
      continue;
    }
    if (name === 'deny-scripts-reconfig') {
      yield switchLine(name, true, true);
      continue;
    }
    const lines = directives
      .filter(([directive]) => directive === name)
      .map(([, ...words]) => {
        const shown = words.map((word) =>
          name === 'announce-ip' ? quoted(String(word)) : quotedIfNeeded(String(word)),
        );
        return { text: `sentinel ${name} ${shown.join(' ')}`, added: true };
      });
    yield { name: `sentinel ${name}`, lines };
  }
}

/** The line of a switch. It is added to the file unless it has its default. */
function switchLine(name: Bytes, value: boolean, initial: boolean): OptionLines {
  const text = `sentinel ${name} ${value ? 'yes' : 'no'}`;
  return { name: `sentinel ${name}`, lines: [{ text, added: value !== initial }] };
}

/** The option that a line of the file sets. */
function nameOf(server: SentinelServer, words: readonly Bytes[]): Bytes | undefined {
  if (directiveOf(words) !== 'sentinel') return optionOf(server.dialect, words);
  const directive = asciiLower(words[1] ?? '');
  return `sentinel ${directive === 'known-slave' ? 'known-replica' : directive}`;
}

/** Rewrites the file after every change of the configuration or the state. A failure is logged by the Sentinel. */
export function keepInFile(server: SentinelServer, file: ConfigFile): void {
  server.configFile = file;
  server.sentinel.store = () => {
    try {
      file.write(rewriteLines(file.read() ?? '', linesOf(server), (words) => nameOf(server, words)));
      server.log('notice', 'Sentinel new configuration saved on disk');
      return true;
    } catch (error) {
      server.log(
        'warning',
        `WARNING: Sentinel was not able to save the new configuration on disk!!!: ${error}`,
      );
      return false;
    }
  };
}
