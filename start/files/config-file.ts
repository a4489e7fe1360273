/** The configuration file of a server on the real disk. */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { type Bytes, fromBuffer, fromText, toBuffer } from '../../protocol/bytes.ts';
import type { ConfigFile } from '../../server/settings/rewrite.ts';

/** The configuration file at an absolute path. */
export class DiskConfigFile implements ConfigFile {
  readonly path: Bytes;
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
    this.path = fromText(name);
  }

  read(): Bytes | undefined {
    try {
      return fromBuffer(readFileSync(this.#name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Writes a new file beside the old one, and renames it. */
  write(text: Bytes): void {
    const fresh = `${this.#name}-${process.pid}.tmp`;
    try {
      const file = openSync(fresh, 'w', 0o644);
      try {
        writeFileSync(file, toBuffer(text));
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(fresh, this.#name);
    } catch (error) {
      rmSync(fresh, { force: true });
      throw error;
    }
  }
}
