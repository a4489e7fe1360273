/** Removes secrets from requests, for MONITOR and SLOWLOG. */

import { asciiLower, asciiUpper, type Bytes } from '../../protocol/bytes.ts';
import { wordAt } from '../table/arguments.ts';
import type { Command } from '../table/command.ts';

const HIDDEN = '(redacted)';
const SECRET_SETTINGS = new Set(['requirepass', 'masterauth', 'masteruser', 'primaryauth', 'primaryuser']);

/** Returns the positions of the secret words. */
function secrets(command: Command, argv: readonly Bytes[]): number[] {
  const all = argv.map((_, at) => at);
  switch (command.fullName) {
    case 'auth':
      return all.slice(1);
    case 'acl|setuser':
      return all.slice(2);
    case 'hello':
    case 'migrate': {
      const at = argv.findIndex((word) => /^AUTH2?$/.test(asciiUpper(word)));
      if (at < 0) return [];
      const two = command.name === 'hello' || asciiUpper(wordAt(argv, at)) === 'AUTH2';
      return all.slice(at + 1, at + (two ? 3 : 2));
    }
    case 'config|set':
      return all.filter(
        (at) => at >= 3 && at % 2 === 1 && SECRET_SETTINGS.has(asciiLower(wordAt(argv, at - 1))),
      );
    default:
      return [];
  }
}

/** Returns the request with its secret words replaced. */
export function redacted(command: Command, argv: readonly Bytes[]): readonly Bytes[] {
  const hidden = secrets(command, argv);
  return hidden.length === 0 ? argv : argv.map((word, at) => (hidden.includes(at) ? HIDDEN : word));
}
