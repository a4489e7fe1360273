/** Finds the differences between two nodes' data: single keys, whole databases, and libraries of functions. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Server } from '../../server/server.ts';
import { fingerprint } from './fingerprint.ts';

/** Compares two nodes. Each key is compared once, when it is first needed. */
export class Comparison {
  readonly #one: Server;
  readonly #other: Server;
  readonly #answers = new Map<string, boolean>();
  readonly #databases = new Map<number, readonly Bytes[]>();

  constructor(one: Server, other: Server) {
    this.#one = one;
    this.#other = other;
  }

  /** True when a client could tell the two keys apart. */
  differs(db: number, key: Bytes): boolean {
    const name = `${db} ${key}`;
    let answer = this.#answers.get(name);
    if (answer === undefined) {
      answer = fingerprint(this.#one, db, key) !== fingerprint(this.#other, db, key);
      this.#answers.set(name, answer);
    }
    return answer;
  }

  /** Every key of the database that differs. */
  differing(db: number): readonly Bytes[] {
    let found = this.#databases.get(db);
    if (found === undefined) {
      const keys = [this.#one, this.#other].flatMap((server) => [...server.db(db).entries.keys()]);
      found = [...new Set(keys)].filter((key) => this.differs(db, key));
      this.#databases.set(db, found);
    }
    return found;
  }

  /** The names of the libraries of functions that differ. */
  differingLibraries(): Bytes[] {
    const [one, other] = [librariesOf(this.#one), librariesOf(this.#other)];
    const names = new Set([...one.keys(), ...other.keys()]);
    return [...names].filter((name) => one.get(name) !== other.get(name));
  }
}

function librariesOf(server: Server): Map<Bytes, Bytes> {
  return new Map([...server.functions.libraries].map(({ name, code }) => [name, code]));
}
