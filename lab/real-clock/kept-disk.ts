/** A disk of the lab whose files are kept in a folder of the machine, for `lostlock --lab --dir`. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Bytes } from '../../protocol/bytes.ts';
import { type Keep, VirtualDisk } from '../replica-group/disk.ts';
import { BASE, LOG } from '../replica-group/journal.ts';

/** Files by their paths in a folder. */
export type Files = ReadonlyMap<string, Bytes>;

/** The files in a folder and below it; none if there is no folder. @param skips true for an entry that is left out */
export function filesIn(folder: string, skips: (name: string) => boolean = () => false): Files {
  const files = new Map<string, Bytes>();
  if (!existsSync(folder)) return files;
  const visit = (inner: string): void => {
    for (const entry of readdirSync(inner, { withFileTypes: true })) {
      const path = join(inner, entry.name);
      const name = relative(folder, path).replaceAll('\\', '/');
      if (skips(name)) continue;
      if (entry.isDirectory()) visit(path);
      else if (entry.isFile()) files.set(name, readFileSync(path, 'latin1'));
    }
  };
  visit(folder);
  return files;
}

/** A disk in memory, with a copy of its files in a folder. What the lab itself writes to keep data in crashes is not copied. */
export class KeptDisk extends VirtualDisk {
  readonly #folder: string;

  /** Makes the folder's files those that are given. */
  constructor(folder: string, files: Files) {
    super();
    this.#folder = folder;
    for (const name of filesIn(folder).keys()) if (!files.has(name)) this.#copy(name);
    for (const [name, bytes] of files) {
      this.write(name, bytes);
      this.sync(name);
    }
  }

  /** Puts the data of a dump file where a node looks for what it had, unless it has something. */
  load(dump: string): void {
    const bytes = this.read(dump);
    if (bytes !== undefined && this.read(BASE) === undefined) super.write(BASE, bytes);
  }

  override write(name: string, bytes: Bytes): void {
    super.write(name, bytes);
    this.#copy(name);
  }

  override append(name: string, bytes: Bytes): void {
    super.append(name, bytes);
    if (isOwn(name)) return;
    mkdirSync(dirname(this.#path(name)), { recursive: true });
    appendFileSync(this.#path(name), bytes, 'latin1');
  }

  override truncate(name: string, length: number): void {
    super.truncate(name, length);
    this.#copy(name);
  }

  override rename(from: string, to: string): void {
    super.rename(from, to);
    this.#copy(from);
    this.#copy(to);
  }

  override remove(name: string): void {
    super.remove(name);
    this.#copy(name);
  }

  override crash(keep: Keep): void {
    const before = this.names();
    super.crash(keep);
    for (const name of before) this.#copy(name);
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }

  #copy(name: string): void {
    if (isOwn(name)) return;
    const bytes = this.read(name);
    if (bytes === undefined) {
      rmSync(this.#path(name), { force: true });
      return;
    }
    mkdirSync(dirname(this.#path(name)), { recursive: true });
    writeFileSync(this.#path(name), bytes, 'latin1');
  }
}

/** True for what the lab writes to keep data in crashes. */
function isOwn(name: string): boolean {
  return name === BASE || name === LOG;
}
