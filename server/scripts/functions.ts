/** The libraries of functions that one node has. */

import { RdbError } from '../../keyspace/format/errors.ts';
import { dumpLibraries, restoreLibraries } from '../../keyspace/rdb/dump.ts';
import type { RdbFormat } from '../../keyspace/rdb/formats.ts';
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

export class Functions {
  readonly #server: LibraryNode;
  #libraries = new Map<Bytes, FunctionLibrary>();
  /** Functions of all libraries; their names have no case. */
  #functions = new Map<Bytes, LibraryFunction>();

  constructor(server: LibraryNode) {
    this.#server = server;
  }

  get libraries(): Iterable<FunctionLibrary> {
    return this.#libraries.values();
  }

  /** How many libraries there are, and how many functions in them. */
  get counts(): { libraries: number; functions: number } {
    let functions = 0;
    for (const library of this.libraries) functions += library.functions.length;
    return { libraries: this.#libraries.size, functions };
  }

  /** Bytes that Redis would need for them, or about as many. */
  get bytes(): number {
    let bytes = BASE_BYTES;
    for (const { code, functions } of this.libraries) {
      bytes += LIBRARY_BYTES + code.length + FUNCTION_BYTES * functions.length;
    }
    return bytes;
  }

  /** A function by name, whatever its case. */
  get(name: Bytes): LibraryFunction | undefined {
    return this.#functions.get(name) ?? this.#functions.get(asciiLower(name));
  }

  /** As `get`; throws ReplyError when there is none. */
  find(name: Bytes): LibraryFunction {
    return this.get(name) ?? fail('ERR Function not found');
  }

  /**
   * FUNCTION LOAD.
   * @returns the library's name
   * @throws ReplyError when it cannot be loaded, or one of its names is taken; then nothing has changed
   */
  load(code: Bytes, replace: boolean): Bytes {
    const header = readLibraryHeader(code);
    const { name } = header;
    const present = this.#libraries.get(name);
    if (present !== undefined && !replace) fail(`ERR Library '${name}' already exists`);
    const library = new FunctionLibrary(header, this.#server.scripts);
    this.#checkNames(library, present);
    if (present !== undefined) this.#remove(present);
    this.#add(library);
    return name;
  }

  /** FUNCTION DELETE. Throws ReplyError when there is no such library. */
  delete(name: Bytes): void {
    this.#remove(this.#libraries.get(name) ?? fail('ERR Library not found'));
  }

  flush(): void {
    this.#libraries.clear();
    this.#functions.clear();
  }

  /** FUNCTION DUMP: all libraries as a payload that other nodes read. */
  dump(): Bytes {
    return dumpLibraries(this.codes(), this.#server.rdbFormat);
  }

  /**
   * FUNCTION RESTORE. Throws ReplyError when the payload cannot be read or a name is taken; then nothing has changed.
   * @param format the payloads that are taken
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

  /** The code of every library. */
  codes(): Bytes[] {
    return [...this.#libraries.values()].map(({ code }) => code);
  }

  /** Takes the libraries with this code, as a dataset has brought them. Throws ReplyError for what does not load. */
  adopt(codes: readonly Bytes[], policy: RestorePolicy): void {
    this.#apply(codes, policy);
  }

  #apply(codes: readonly Bytes[], policy: RestorePolicy): void {
    const before = { libraries: this.#libraries, functions: this.#functions };
    const fresh = new Functions(this.#server);
    for (const code of codes) fresh.load(code, false);
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

  /** Refuses a library with a function that another library has; `replaced` is on its way out. */
  #checkNames(library: FunctionLibrary, replaced: FunctionLibrary | undefined): void {
    for (const { name } of library.functions) {
      const owner = this.#functions.get(asciiLower(name))?.library;
      if (owner !== undefined && owner !== replaced) fail(`ERR Function ${name} already exists`);
    }
  }

  #add(library: FunctionLibrary): void {
    this.#libraries.set(library.name, library);
    for (const each of library.functions) {
      const name = asciiLower(each.name);
      // Of two whose names differ in case only, one can be called.
      if (!this.#functions.has(name)) this.#functions.set(name, each);
    }
  }

  #remove(library: FunctionLibrary): void {
    this.#libraries.delete(library.name);
    for (const { name } of library.functions) this.#functions.delete(asciiLower(name));
  }
}
