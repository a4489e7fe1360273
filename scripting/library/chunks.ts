/** load and loadstring: text that a script compiles while it runs. */
import type { Bytes } from '../../protocol/bytes.ts';
import { isFrame, type NativeFunction, pays } from '../frames.ts';
import { LuaSyntaxError } from '../lexer.ts';
import { callBack, MAX_STRING } from '../operations.ts';
import { inLibrary, raiseBare, S } from '../state.ts';
import { firstOf, type LuaFunction, toText } from '../values.ts';
import { checkFunction, checkString, optionalString } from './args.ts';

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

/** load(reader, name): the reader is called until it answers nil or nothing. */
export function load(compile: ChunkCompiler): NativeFunction {
  return function* (...args) {
    checkFunction(args, 0);
    const name = optionalString(args, 1, '=(load)');
    const inside = inLibrary(S.site);
    let source = '';
    for (;;) {
      let result = callBack(args[0], [], inside);
      if (isFrame(result)) {
        S.nested++;
        result = yield result;
        S.nested--;
      }
      if (pays()) yield undefined;
      const piece = firstOf(result);
      if (piece === undefined || piece === '') return compiled(compile, source, name);
      const text = toText(piece);
      if (text === undefined) return [undefined, 'reader function must return a string'];
      source += text;
      if (source.length > MAX_STRING) raiseBare('not enough memory');
    }
  };
}
