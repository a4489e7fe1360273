/** The disk of a lab node. It knows which data was synced, and a crash can lose the rest. */
import { type Bytes, flat } from '../../protocol/bytes.ts';
import type { Disk } from '../../server/host/host.ts';

/** What is appended to a file is joined in pieces of this size. */
const PIECE = 4096;

/**
 * What survives a crash: nothing (a new machine), everything (only the process died), what was synced (power failure),
 * or in addition to that the first `bytes` bytes of each file (some of the rest was written as well).
 */
export type Keep = 'nothing' | 'everything' | 'synced' | { readonly bytes: number };

/** One file: what a reader sees, and what a power failure leaves. */
class File {
  #head: Bytes;
  #tail = '';
  /** What was synced; undefined when the file itself was never synced. */
  synced: Bytes | undefined;

  constructor(content: Bytes, synced?: Bytes) {
    this.#head = content;
    this.synced = synced;
  }

  get content(): Bytes {
    return this.#head + this.#tail;
  }

  set content(content: Bytes) {
    this.#head = content;
    this.#tail = '';
  }

  append(bytes: Bytes): void {
    this.#tail += bytes;
    if (this.#tail.length >= PIECE) this.content = this.#head + flat(this.#tail);
  }
}

/** Files in memory. Removing or renaming a file is durable at once. */
export class VirtualDisk implements Disk {
  readonly #files = new Map<string, File>();
  /** Calls of `sync`, by file. */
  readonly syncs = new Map<string, number>();

  read(name: string): Bytes | undefined {
    return this.#files.get(name)?.content;
  }

  write(name: string, bytes: Bytes): void {
    this.#file(name).content = bytes;
  }

  append(name: string, bytes: Bytes): void {
    this.#file(name).append(bytes);
  }

  sync(name: string): void {
    const file = this.#files.get(name);
    if (file === undefined) return;
    file.synced = file.content;
    this.syncs.set(name, (this.syncs.get(name) ?? 0) + 1);
  }

  syncLater(name: string, done: () => void): void {
    this.sync(name);
    done();
  }

  size(name: string): number | undefined {
    return this.#files.get(name)?.content.length;
  }

  truncate(name: string, length: number): void {
    const file = this.#files.get(name);
    if (file === undefined) return;
    file.content = file.content.slice(0, length);
    this.sync(name);
  }

  rename(from: string, to: string): void {
    const file = this.#files.get(from);
    if (file === undefined) throw new Error(`ENOENT: no such file or directory, rename '${from}' -> '${to}'`);
    this.#files.delete(from);
    this.#files.set(to, file);
  }

  remove(name: string): void {
    this.#files.delete(name);
  }

  release(): void {}

  makeFolder(): void {}

  /** The files' names, sorted. */
  names(): string[] {
    return [...this.#files.keys()].sort();
  }

  /** How many bytes of the file would survive a power failure. */
  durable(name: string): number {
    return this.#files.get(name)?.synced?.length ?? 0;
  }

  /** Discards what does not survive the crash; what remains counts as synced. */
  crash(keep: Keep): void {
    for (const [name, file] of this.#files) {
      const left = survivor(file, keep);
      if (left === undefined) this.#files.delete(name);
      else this.#files.set(name, new File(left, left));
    }
  }

  #file(name: string): File {
    let file = this.#files.get(name);
    if (file === undefined) this.#files.set(name, (file = new File('')));
    return file;
  }
}

function survivor({ content, synced }: File, keep: Keep): Bytes | undefined {
  if (keep === 'nothing') return undefined;
  if (keep === 'everything') return content;
  if (keep === 'synced') return synced;
  const durable = synced ?? '';
  // The file was replaced after the last sync, so the new content does not begin with the old: the old file survives
  // whole.
  if (!content.startsWith(durable)) return synced;
  const length = Math.max(durable.length, Math.min(content.length, keep.bytes));
  return length === 0 ? synced : content.slice(0, length);
}
