/** load and loadstring, which compile text while a script runs. */
import type { Bytes } from '../../protocol/bytes.ts';
import { isFrame, type NativeFunction, pays, watching } from '../runtime/frames.ts';
import { callBack, MAX_STRING } from '../runtime/operations.ts';
import { inLibrary } from '../runtime/site.ts';
import { raiseBare, S } from '../runtime/state.ts';
import { firstOf, type LuaFunction, type LuaValue, toText } from '../runtime/values.ts';
import { LuaSyntaxError } from '../syntax/lexer.ts';
import { checkFunction, checkString, optionalString } from './args.ts';
import { luaErrorOf } from './protected.ts';

/** Compiles text under a chunk's name. */
export type ChunkCompiler = (source: Bytes, chunk: Bytes) => LuaFunction;

function compiled(compile: ChunkCompiler, source: Bytes, name: Bytes) {
  try {
    return compile(source, name);
  } catch (thrown) {
    if (thrown instanceof LuaSyntaxError) return [undefined, thrown.message];
    throw thrown;
  }
}

/** loadstring(text, name) */
export function loadString(compile: ChunkCompiler): LuaFunction {
  return (...args) => {
    const source = checkString(args, 0);
    return compiled(compile, source, optionalString(args, 1, source));
  };
}

/** After this many pieces, checks whether the text can still become a valid chunk. */
const PATIENCE = 64;

/**
 * load(reader, name). The reader is called until it returns nil or nothing. Lua parses while it reads and stops at the
 * first error; this function checks the text from time to time, which ends a reader that would never end.
 */
export function load(compile: ChunkCompiler): NativeFunction {
  return watching(function* (...args) {
    checkFunction(args, 0);
    const name = optionalString(args, 1, '=(load)');
    const inside = inLibrary(S.site);
    const { nested } = S;
    let source = '';
    let mistake: Bytes | undefined;
    for (let pieces = 1; ; pieces++) {
      let piece: LuaValue;
      try {
        let result = callBack(args[0], [], inside);
        if (isFrame(result)) {
          S.nested++;
          result = yield result;
        }
        piece = firstOf(result);
      } catch (thrown) {
        return [undefined, luaErrorOf(thrown).value];
      } finally {
        S.nested = nested;
      }
      if (pays()) yield undefined;
      if (piece === undefined || piece === '') return compiled(compile, source, name);
      const text = toText(piece);
      if (text === undefined) return [undefined, 'reader function must return a string'];
      source += text;
      if (source.length > MAX_STRING) raiseBare('not enough memory');
      if (pieces < PATIENCE || (pieces & (pieces - 1)) !== 0) continue;
      const before = mistake;
      mistake = mistakeIn(compile, source, name);
      if (mistake !== undefined && mistake === before) return [undefined, mistake];
    }
  });
}

/**
 * The error in a text that no further text can correct. An error that appears twice is not caused by the text's end.
 */
function mistakeIn(compile: ChunkCompiler, source: Bytes, name: Bytes): Bytes | undefined {
  S.fuel -= source.length >> 4;
  const result = compiled(compile, source, name);
  if (!Array.isArray(result)) return undefined;
  const text = result[1] as Bytes;
  return text.endsWith("'<eof>'") ? undefined : text;
}
