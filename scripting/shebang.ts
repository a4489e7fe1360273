/** Parses the `#!lua flags=…` line at the beginning of a script. */
import { asciiLower, type Bytes } from '../protocol/bytes.ts';
import { fail } from '../protocol/errors.ts';
import { splitInline } from '../protocol/inline.ts';
import type { ScriptTexts } from './runtime/texts.ts';

/** All flags, in the order in which Redis lists them. */
export const FLAGS: ReadonlySet<Bytes> = new Set([
  'no-writes',
  'allow-oom',
  'allow-stale',
  'no-cluster',
  'allow-cross-slot-keys',
]);

/** What a script declares about itself. */
export interface Shebang {
  /** False for a script without the line, for which Redis assumes the flags of older versions. */
  readonly declared: boolean;
  readonly flags: ReadonlySet<Bytes>;
  /** The text to compile. An empty first line replaces the shebang, so that line numbers stay correct. */
  readonly body: Bytes;
}

type ShebangTexts = Pick<ScriptTexts, 'engine' | 'words'>;

/**
 * Parses the line.
 * @param texts when the name of the engine is checked, and how the line is split
 * @throws ReplyError for another engine, an unknown option or flag, or a script without a second line
 */
export function readShebang(source: Bytes, { engine: lookUp, words: rules }: ShebangTexts): Shebang {
  if (!source.startsWith('#!')) return { declared: false, flags: new Set(), body: source };
  const end = source.indexOf('\n');
  const line = source.slice(0, end);
  if (end < 0 || line.includes('\0')) fail('ERR Invalid script shebang');
  const words = splitInline(line, rules);
  if (words === undefined) fail('ERR Invalid engine in script shebang');
  const [engine = '', ...options] = words;
  if (engine !== '#!lua' && lookUp === 'first and as written') {
    fail(`ERR Unexpected engine in script shebang: ${engine}`);
  }
  const flags = new Set<Bytes>();
  for (const option of options) {
    if (!option.startsWith('flags=')) fail(`ERR Unknown lua shebang option: ${option}`);
    const list = option.slice('flags='.length);
    if (list === '') continue;
    for (const flag of list.split(',')) {
      if (!FLAGS.has(flag)) fail(`ERR Unexpected flag in script shebang: ${flag}`);
      flags.add(flag);
    }
  }
  if (asciiLower(engine) !== '#!lua') fail(`ERR Could not find scripting engine '${engine.slice(2)}'`);
  return { declared: true, flags, body: source.slice(end) };
}
