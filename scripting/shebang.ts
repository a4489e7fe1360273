/** The `#!lua flags=…` line that a script may open with. */
import type { Bytes } from '../protocol/bytes.ts';
import { fail } from '../protocol/errors.ts';

/** Every flag there is, in the order in which Redis lists them. */
export const FLAGS: ReadonlySet<Bytes> = new Set([
  'no-writes',
  'allow-oom',
  'allow-stale',
  'no-cluster',
  'allow-cross-slot-keys',
]);

/** What a script says of itself. */
export interface Shebang {
  /** False for a script without the line: Redis then guesses for compatibility. */
  readonly declared: boolean;
  readonly flags: ReadonlySet<Bytes>;
  /** The text to compile: an empty first line stands for the shebang, so that lines still count. */
  readonly body: Bytes;
}

/**
 * Reads the line.
 * @throws ReplyError for another engine, an unknown option or flag, or a script that is nothing but the line
 */
export function readShebang(source: Bytes): Shebang {
  if (!source.startsWith('#!')) return { declared: false, flags: new Set(), body: source };
  const end = source.indexOf('\n');
  if (end < 0) fail('ERR Invalid script shebang');
  const [engine = '', ...options] = source.slice(0, end).split(/[ \t\n\v\f\r]+/);
  if (engine !== '#!lua') {
    fail(`ERR Unexpected engine in script shebang: ${engine}`);
  }
  const flags = new Set<Bytes>();
  for (const option of options) {
    if (option === '') continue;
    if (!option.startsWith('flags=')) fail(`ERR Unknown lua shebang option: ${option}`);
    const list = option.slice('flags='.length);
    if (list === '') continue;
    for (const flag of list.split(',')) {
      if (!FLAGS.has(flag)) fail(`ERR Unexpected flag in script shebang: ${flag}`);
      flags.add(flag);
    }
  }
  return { declared: true, flags, body: source.slice(end) };
}
