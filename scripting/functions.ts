/**
 * Libraries of functions: compiled once, loaded, and then called by name
 * (https://redis.io/docs/latest/develop/programmability/functions-intro/).
 */
import type { Bytes } from '../protocol/bytes.ts';
import { fail } from '../protocol/errors.ts';
import type { Reply } from '../protocol/reply.ts';
import { isStateless } from './compiler/stateless.ts';
import { FrameDriver } from './driver.ts';
import { begin, errorText } from './execution.ts';
import type { Realm } from './library/index.ts';
import { luaErrorOf } from './library/protected.ts';
import { fastRealm, resumableRealm } from './library/realms.ts';
import type { LibraryHeader } from './library-header.ts';
import { Program } from './program.ts';
import type { ScriptHost } from './runtime/host.ts';
import { type Registered, S, setAside, takeUp, type Words } from './runtime/state.ts';
import { type Frame, type LuaFunction, type Result, Signal } from './runtime/values.ts';
import { LuaSyntaxError } from './syntax/lexer.ts';
import { parse } from './syntax/parser.ts';

const CHUNK = '@user_function';

/** How many steps a library may take while it loads. */
const LOAD_FUEL = 5_000_000;

/** A library has neither keys nor arguments while it loads. */
const NO_INPUT: Words = { argv: [], firstKey: 0, keys: 0 };

type Callbacks = ReadonlyMap<Bytes, Registered>;

export class LibraryFunction extends Program {
  override readonly declared = true;
  readonly description: Bytes | undefined;
  readonly library: FunctionLibrary;

  constructor(library: FunctionLibrary, { name, description, flags }: Registered) {
    super(name, flags);
    this.library = library;
    this.description = description;
  }

  get name(): Bytes {
    return this.label;
  }

  protected override fast(): LuaFunction | undefined {
    const callback = this.library.fast?.get(this.name)?.callback;
    return callback && (() => callback(S.keys, S.argv));
  }

  protected override resumable(): LuaFunction {
    const { callback } = this.library.resumable().get(this.name)!;
    // biome-ignore lint/correctness/useYield: the callback's frame replaces this one, as in a tail call
    return function* (): Frame {
      return callback(S.keys, S.argv);
    };
  }
}

/** A library that has been loaded. */
export class FunctionLibrary {
  readonly name: Bytes;
  readonly code: Bytes;
  readonly functions: readonly LibraryFunction[];
  /**
   * The functions in the fast form; undefined for functions that keep state, because a call of those cannot start
   * again.
   */
  readonly fast: Callbacks | undefined;
  readonly #body: Bytes;
  readonly #host: ScriptHost;
  /** The host's replies while the library loaded (to redis.log, so that nothing is logged twice). */
  readonly #log: Reply[] = [];
  #resumable: Callbacks | undefined;

  /**
   * Loads a library.
   * @throws ReplyError with Redis' text when it does not compile, fails, takes too long, or registers nothing
   */
  constructor({ name, code, body }: LibraryHeader, host: ScriptHost) {
    this.name = name;
    this.code = code;
    this.#body = body;
    this.#host = host;
    if (isStateless(parsed(body))) this.fast = this.#loadFast();
    const loaded = this.fast ?? this.resumable();
    if (loaded.size === 0) fail('ERR No functions registered');
    this.functions = [...loaded.values()].map((registered) => new LibraryFunction(this, registered));
  }

  /** The functions in the resumable form. */
  resumable(): Callbacks {
    this.#resumable ??= this.#load(resumableRealm(this.#host.texts), (main) => {
      S.resumable = true;
      const driver = new FrameDriver(main);
      driver.enter();
      if (driver.run() === undefined) throw new Signal('fuel');
    });
    return this.#resumable;
  }

  #loadFast(): Callbacks | undefined {
    try {
      return this.#load(fastRealm(this.#host.texts), (main): Result => main());
    } catch (thrown) {
      // What only the resumable form can do starts there from the beginning.
      if (thrown instanceof Signal) return undefined;
      throw thrown;
    }
  }

  #load({ functions: realm, stringMeta }: Realm, run: (main: LuaFunction) => unknown): Callbacks {
    const main = compiled(() => realm.compile(this.#body, CHUNK));
    const registering = new Map<Bytes, Registered>();
    const outer = setAside();
    begin(NO_INPUT, this.#host);
    Object.assign(S, {
      registering,
      wrongFunction: undefined,
      stringMeta,
      resumable: false,
      log: this.#log,
      fuel: LOAD_FUEL,
      reserve: 0,
    });
    realm.show('load');
    try {
      run(main);
    } catch (thrown) {
      if (thrown instanceof Signal && thrown.reason !== 'fuel') throw thrown;
      fail(`ERR Error registering functions: ${complaint(thrown)}`);
    } finally {
      realm.show('call');
      Object.assign(S, { registering: undefined, resumable: false, thread: undefined });
      takeUp(outer);
    }
    if (S.wrongFunction !== undefined) fail(`ERR ${S.wrongFunction}`);
    return registering;
  }
}

function parsed(body: Bytes) {
  return compiled(() => parse(body, CHUNK.slice(1)));
}

function compiled<T>(compile: () => T): T {
  try {
    return compile();
  } catch (thrown) {
    if (!(thrown instanceof LuaSyntaxError)) throw thrown;
    return fail(`ERR Error compiling function: ${thrown.message}`);
  }
}

function complaint(thrown: unknown): Bytes {
  return thrown instanceof Signal ? 'ERR FUNCTION LOAD timeout' : errorText(luaErrorOf(thrown));
}
