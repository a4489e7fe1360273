/** Removes secrets from requests, for MONITOR and SLOWLOG. */

import { asciiLower, asciiUpper, type Bytes } from '../../protocol/bytes.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { wordAt } from '../table/arguments.ts';
import type { Command } from '../table/command.ts';

const HIDDEN = '(redacted)';
const SECRET_SETTINGS = new Set(['requirepass', 'masterauth', 'masteruser', 'primaryauth', 'primaryuser']);

/** Settings that later servers hide, too. */
const LATER_SECRETS = new Set(['tls-key-file-pass', 'tls-client-key-file-pass']);

/** Returns the positions of the secret words. */
function secrets(command: Command, argv: readonly Bytes[], hides: Dialect['hides']): number[] {
  const hidesUsers = hides === 'passwords and names of users';
  const all = argv.map((_, at) => at);
  switch (command.fullName) {
    case 'auth':
      return all.slice(1);
    case 'acl|setuser':
      return all.slice(2);
    case 'acl|getuser':
    case 'acl|deluser':
      return hidesUsers ? all.slice(2) : [];
    case 'hello':
    case 'migrate': {
      const at = argv.findIndex((word) => /^AUTH2?$/.test(asciiUpper(word)));
      if (at < 0) return [];
      const two = command.name === 'hello' || asciiUpper(wordAt(argv, at)) === 'AUTH2';
      return all.slice(at + 1, at + (two ? 3 : 2));
    }
    case 'config|set':
      return all.filter((at) => {
        if (at < 3 || at % 2 === 0) return false;
        const name = asciiLower(wordAt(argv, at - 1));
        return SECRET_SETTINGS.has(name) || (hidesUsers && LATER_SECRETS.has(name));
      });
    default:
      return [];
  }
}

/** Returns the request with its secret words replaced. @param hides what the dialect's server regards as secret */
export function redacted(
  command: Command,
  argv: readonly Bytes[],
  hides: Dialect['hides'],
): readonly Bytes[] {
  const hidden = secrets(command, argv, hides);
  return hidden.length === 0 ? argv : argv.map((word, at) => (hidden.includes(at) ? HIDDEN : word));
}
