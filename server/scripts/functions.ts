/**
 * The function libraries of one node (https://redis.io/docs/latest/develop/interact/programmability/functions-intro/).
 */

import { RdbError } from '../../keyspace/format/errors.ts';
import { dumpLibraries, restoreLibraries } from '../../keyspace/rdb/dump.ts';
import type { RdbFormat } from '../../keyspace/rdb/formats.ts';
import { allowance } from '../../protocol/allowance.ts';
import { asciiLower, type Bytes } from '../../protocol/bytes.ts';
import { fail } from '../../protocol/errors.ts';
import { FunctionLibrary, type LibraryFunction } from '../../scripting/functions.ts';
import { readLibraryHeader } from '../../scripting/library-header.ts';
import type { RestorePolicy } from './restore-policy.ts';
import type { Scripts } from './scripts.ts';

const BASE_BYTES = 200;
const LIBRARY_BYTES = 30;
const FUNCTION_BYTES = 120;

/** The node, as its libraries see it. */
interface LibraryNode {
  readonly scripts: Scripts;
  readonly rdbFormat: RdbFormat;
}

/** What all libraries come to. */
interface LibraryTotals {
  readonly functions: number;
  readonly bytes: number;
}

/** The function libraries of a node, by name, and their functions. */
export class Functions {
  readonly #server: LibraryNode;
  #libraries = new Map<Bytes, FunctionLibrary>();
  /** The functions of all libraries. Their names are case-insensitive. */
  #functions = new Map<Bytes, LibraryFunction>();
  /** The sums of the libraries; undefined when they have changed. */
  #known: LibraryTotals | undefined;

  constructor(server: LibraryNode) {
    this.#server = server;
  }

  /** The libraries, in the order in which they were loaded. */
  get libraries(): Iterable<FunctionLibrary> {
    return this.#libraries.values();
  }

  /** The number of libraries and the number of their functions. */
  get counts(): { libraries: number; functions: number } {
    return { libraries: this.#libraries.size, functions: this.#sums().functions };
  }

  /** An estimate of the bytes that Redis would need for the libraries. */
  get bytes(): number {
    return this.#sums().bytes;
  }

  /** Adds up all libraries, once after each change of them: INFO asks for both sums. */
  #sums(): LibraryTotals {
    if (this.#known !== undefined) return this.#known;
    const sums = { functions: 0, bytes: BASE_BYTES };
    for (const { code, functions } of this.libraries) {
      sums.functions += functions.length;
      sums.bytes += LIBRARY_BYTES + code.length + FUNCTION_BYTES * functions.length;
    }
    this.#known = sums;
    return sums;
  }

  /** Returns a function by its case-insensitive name. */
  get(name: Bytes): LibraryFunction | undefined {
    return this.#functions.get(name) ?? this.#functions.get(asciiLower(name));
  }

  /** Like `get`, but throws ReplyError if there is no such function. */
  find(name: Bytes): LibraryFunction {
    return this.get(name) ?? fail('ERR Function not found');
  }

  /**
   * FUNCTION LOAD.
   * @returns the library's name
   * @throws ReplyError when the code does not load or a name is taken; nothing is changed then
   */
  load(code: Bytes, replace: boolean): Bytes {
    const header = readLibraryHeader(code, this.#server.scripts.texts.words);
    const { name } = header;
    const present = this.#libraries.get(name);
    if (present !== undefined && !replace) fail(`ERR Library '${name}' already exists`);
    const library = new FunctionLibrary(header, this.#server.scripts);
    this.#checkNames(library, present);
    if (present !== undefined) this.#remove(present);
    this.#add(library);
    return name;
  }

  /** FUNCTION DELETE. Throws ReplyError if there is no such library. */
  delete(name: Bytes): void {
    this.#remove(this.#libraries.get(name) ?? fail('ERR Library not found'));
  }

  /** FUNCTION FLUSH: removes all libraries. */
  flush(): void {
    this.#libraries.clear();
    this.#functions.clear();
    this.#known = undefined;
  }

  /** FUNCTION DUMP: returns all libraries as a payload that other nodes can load. */
  dump(): Bytes {
    return dumpLibraries(this.codes(), this.#server.rdbFormat);
  }

  /**
   * FUNCTION RESTORE. Throws ReplyError if the payload cannot be read or a name is taken; nothing is changed then.
   * @param format the format of the accepted payloads
   */
  restore(payload: Bytes, policy: RestorePolicy, format: RdbFormat): void {
    let codes: Bytes[];
    try {
      codes = restoreLibraries(payload, format);
    } catch (error) {
      if (!(error instanceof RdbError)) throw error;
      fail(
        error.kind === 'format' ? `ERR ${error.message}` : 'ERR DUMP payload version or checksum are wrong',
      );
    }
    this.#apply(codes, policy);
  }

  /** Returns the code of every library. */
  codes(): Bytes[] {
    return [...this.#libraries.values()].map(({ code }) => code);
  }

  /** Loads libraries that came with a dataset. Throws ReplyError if one does not load. */
  adopt(codes: readonly Bytes[], policy: RestorePolicy): void {
    allowance.unlimited(() => this.#apply(codes, policy));
  }

  #apply(codes: readonly Bytes[], policy: RestorePolicy): void {
    const before = { libraries: this.#libraries, functions: this.#functions };
    const fresh = new Functions(this.#server);
    for (const code of codes) fresh.load(code, false);
    this.#known = undefined;
    if (policy === 'FLUSH') {
      this.#libraries = fresh.#libraries;
      this.#functions = fresh.#functions;
      return;
    }
    this.#libraries = new Map(before.libraries);
    this.#functions = new Map(before.functions);
    try {
      for (const { name } of fresh.libraries) this.#makeRoom(name, policy);
      for (const library of fresh.libraries) this.#checkNames(library, undefined);
    } catch (error) {
      this.#libraries = before.libraries;
      this.#functions = before.functions;
      this.#known = undefined;
      throw error;
    }
    for (const library of fresh.libraries) this.#add(library);
  }

  #makeRoom(name: Bytes, policy: RestorePolicy): void {
    const present = this.#libraries.get(name);
    if (present === undefined) return;
    if (policy === 'APPEND') fail(`ERR Library ${name} already exists`);
    this.#remove(present);
  }

  /**
   * Throws if another library has one of the functions' names. `replaced` is about to be removed and does not count.
   */
  #checkNames(library: FunctionLibrary, replaced: FunctionLibrary | undefined): void {
    for (const { name } of library.functions) {
      const owner = this.#functions.get(asciiLower(name))?.library;
      if (owner !== undefined && owner !== replaced) fail(`ERR Function ${name} already exists`);
    }
  }

  #add(library: FunctionLibrary): void {
    this.#known = undefined;
    this.#libraries.set(library.name, library);
    for (const each of library.functions) {
      const name = asciiLower(each.name);
      // If two names differ only in case, one of the functions can be called.
      if (!this.#functions.has(name)) this.#functions.set(name, each);
    }
  }

  #remove(library: FunctionLibrary): void {
    this.#known = undefined;
    this.#libraries.delete(library.name);
    for (const { name } of library.functions) this.#functions.delete(asciiLower(name));
  }
}
