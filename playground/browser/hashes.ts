/** createHash for a browser: SHA-1 and SHA-256, which scripts, users and traces need at once and not as a promise. */
import { sha1 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';

/** A hash that takes its input in parts. */
interface Digest {
  update(bytes: Uint8Array): unknown;
  digest(): Uint8Array;
  clone(): Digest;
}

const algorithms: Readonly<Record<string, () => Digest>> = {
  sha1: () => sha1.create(),
  sha256: () => sha256.create(),
};

/** What `createHash` returns. */
export class Hash {
  readonly #state: Digest;

  constructor(state: Digest) {
    this.#state = state;
  }

  update(data: string | Uint8Array, encoding: BufferEncoding = 'utf8'): this {
    this.#state.update(typeof data === 'string' ? Buffer.from(data, encoding) : data);
    return this;
  }

  copy(): Hash {
    return new Hash(this.#state.clone());
  }

  digest(encoding?: BufferEncoding): Buffer | string {
    const bytes = Buffer.from(this.#state.digest());
    return encoding === undefined ? bytes : bytes.toString(encoding);
  }
}

/** As in Node. Throws for an algorithm that nothing here uses. */
export function createHash(name: string): Hash {
  const make = algorithms[name];
  if (make === undefined) throw new Error(`the playground has no ${name}`);
  return new Hash(make());
}
