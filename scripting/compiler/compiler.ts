/**
 * Compiles Lua text to a JavaScript function: parses it, writes JavaScript source, and lets JavaScript compile that.
 */
import { allocate } from '../../protocol/allowance.ts';
import type { Bytes } from '../../protocol/bytes.ts';
import { RUNTIME } from '../runtime/face.ts';
import { S } from '../runtime/state.ts';
import { hashWith } from '../runtime/table.ts';
import type { LuaFunction } from '../runtime/values.ts';
import { chunkName } from '../syntax/chunk-name.ts';
import { LuaSyntaxError } from '../syntax/lexer.ts';
import { parse } from '../syntax/parser.ts';
import type { Form, Library } from './emitter.ts';
import { StatementEmitter } from './statements.ts';

/**
 * Compiles a chunk for one form of execution and one library.
 * @param name the chunk's name, such as `@user_script`
 * @throws LuaSyntaxError with Lua's own text
 */
export function compileChunk(source: Bytes, name: Bytes, form: Form, library: Library): LuaFunction {
  const chunk = chunkName(name);
  const hash = hashWith(library.stringHash);
  try {
    const tree = parse(source, chunk);
    const emitter = new StatementEmitter(form, library, name);
    return instantiate(emitter.functionCode(tree), emitter.constants);
  } catch (thrown) {
    if (thrown instanceof RangeError) {
      throw new LuaSyntaxError(`${chunk}:1: chunk has too many syntax levels`);
    }
    throw thrown;
  } finally {
    hashWith(hash);
  }
}

/** How many bytes V8 takes for each byte of source that it compiles. */
const COMPILED = 4;

/** Source that is longer has every function of the runtime as a variable, whether it uses it or not. */
const LONG = 65_536;

/** The source has only names that the emitter made up, and never a byte of the script. */
function instantiate(code: string, constants: readonly unknown[]): LuaFunction {
  allocate(code.length * COMPILED);
  const used = code.length > LONG ? Object.keys(RUNTIME) : new Set(code.match(/(?<=\bR\.)\w+/g));
  const body = code.replaceAll('R.', 'R_');
  const header = [...used].map((name) => `${name}: R_${name}`).join(', ');
  const names = constants.map((_, i) => `k${i}`).join(', ');
  const source = `'use strict'; const { ${header} } = R; const [${names}] = K; return ${body};`;
  return new Function('S', 'R', 'K', 'isArray', source)(S, RUNTIME, constants, Array.isArray);
}
