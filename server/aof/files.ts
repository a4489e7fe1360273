/** The files of an append-only file on a node's disk: the manifest, the base, and the increment that is being written. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Server } from '../server.ts';
import { loadFiles } from './load.ts';
import { emptyManifest, type Manifest, printManifest, readManifest } from './manifest.ts';

/** The files of one node. Every method throws the disk's error when a file cannot be written. */
export class AofFiles {
  readonly #server: Server;
  #manifest: Manifest = emptyManifest();
  /** The file that is being appended to, by its path on the disk; '' if none is open. */
  path = '';
  /** The number of bytes that were appended to it since it was opened. */
  length = 0;
  /** The number of bytes of the base and all increments. */
  size = 0;
  /** What `size` was after the last rewrite. After a start: the size of the base. */
  sizeAtRewrite = 0;

  constructor(server: Server) {
    this.#server = server;
  }

  readonly #pathOf = (name: Bytes): string => `${this.#server.settings.appenddirname}/${name}`;

  get #name(): Bytes {
    return this.#server.settings.appendfilename;
  }

  get #disk() {
    return this.#server.host.disk;
  }

  /** Reads the manifest, if there is one. Throws AofError if it is damaged. */
  open(): void {
    const text = this.#disk.read(this.#pathOf(`${this.#name}.manifest`));
    this.#manifest = text === undefined ? emptyManifest() : readManifest(text);
    this.#lastIncrement = this.#manifest.increments.at(-1)?.seq ?? 0;
    this.#upgrade(text === undefined);
  }

  /** Takes the single file that servers before Redis 7.0 wrote as the base. */
  #upgrade(isNew: boolean): void {
    const server = this.#server;
    const { base, increments, history } = this.#manifest;
    const interrupted =
      base?.name === this.#name &&
      increments.length + history.length === 0 &&
      this.#disk.size(this.#pathOf(this.#name)) === undefined;
    if (!server.settings.appendonly || !(isNew || interrupted) || this.#disk.size(this.#name) === undefined)
      return;
    this.#disk.makeFolder(server.settings.appenddirname);
    this.#manifest.base = { name: this.#name, seq: 1 };
    this.#persist();
    this.#disk.rename(this.#name, this.#pathOf(this.#name));
    server.log(
      'notice',
      `Successfully migrated an old-style AOF file (${this.#name}) into the AOF directory (${server.settings.appenddirname}).`,
    );
  }

  /**
   * Loads all files. Returns the replication offset at which the last increment ends, if the manifest says where it
   * begins. Throws AofError if a file is missing or damaged.
   */
  load(): number | undefined {
    const { base, increments } = this.#manifest;
    if (base === undefined && increments.length === 0) return undefined;
    const { total, base: baseSize } = loadFiles(this.#server, this.#manifest, this.#pathOf);
    this.size = total;
    this.sizeAtRewrite = baseSize;
    const last = increments.at(-1);
    if (last === undefined) return undefined;
    return (last.from ?? 0) + (this.#disk.size(this.#pathOf(last.name)) ?? 0);
  }

  /** Opens the last increment after a start. If there are no files yet, writes the first base. */
  begin(base: () => Bytes): void {
    const { settings, log, replication } = this.#server;
    const manifest = this.#manifest;
    this.#disk.makeFolder(settings.appenddirname);
    if (manifest.base === undefined && manifest.increments.length === 0) {
      manifest.base = this.#nextBase();
      log('notice', `Creating AOF base file ${manifest.base.name} on server start`);
      this.#writeBase(base(), manifest.base.name);
    }
    const last = manifest.increments.at(-1);
    if (last === undefined) {
      const part = this.#nextIncrement(replication.offset);
      log('notice', `Creating AOF incr file ${part.name} on server start`);
      manifest.increments.push(part);
      this.#openFile(this.#pathOf(part.name));
      this.#persist();
    } else {
      log('notice', `Opening AOF incr file ${last.name} on server start`);
      last.to = undefined;
      this.#openFile(this.#pathOf(last.name));
    }
    this.#removeHistory();
  }

  #nextBase() {
    const { base } = this.#manifest;
    const format = this.#server.settings['aof-use-rdb-preamble'] ? 'rdb' : 'aof';
    const seq = (base?.seq ?? 0) + 1;
    return { name: `${this.#name}.${seq}.base.${format}`, seq };
  }

  #nextIncrement(from: number) {
    const seq = Math.max(this.#manifest.increments.at(-1)?.seq ?? 0, this.#lastIncrement) + 1;
    this.#lastIncrement = seq;
    return { name: `${this.#name}.${seq}.incr.aof`, seq, from };
  }

  /** The number of the last increment, which a rewrite may have removed. */
  #lastIncrement = 0;

  #writeBase(base: Bytes, name: Bytes): void {
    const pid = this.#server.host.facts?.().id ?? 0;
    const temporary = `temp-rewriteaof-bg-${pid}.aof`;
    this.#disk.write(temporary, base);
    this.#disk.sync(temporary);
    this.#disk.rename(temporary, this.#pathOf(name));
  }

  #openFile(path: string): void {
    if (this.path !== '' && this.path !== path) this.#disk.release(this.path);
    this.#disk.append(path, '');
    // The manifest that names the file must not survive a crash that it does not survive itself.
    this.#disk.sync(path);
    this.path = path;
    this.length = 0;
  }

  #persist(): void {
    const { dialect, settings } = this.#server;
    const temporary = this.#pathOf(`temp-${this.#name}.manifest`);
    this.#disk.makeFolder(settings.appenddirname);
    this.#disk.write(temporary, printManifest(this.#manifest, dialect.manifestOffsets));
    this.#disk.sync(temporary);
    this.#disk.rename(temporary, this.#pathOf(`${this.#name}.manifest`));
  }

  #removeHistory(): void {
    const { history } = this.#manifest;
    if (history.length === 0 || this.#server.settings['aof-disable-auto-gc']) return;
    for (const { name } of history) {
      this.#server.log('notice', `Removing the history file ${name} in the background`);
      this.#disk.remove(this.#pathOf(name));
    }
    this.#manifest.history = [];
    this.#persist();
  }

  /** Appends to the current increment. */
  append(bytes: Bytes): void {
    this.#disk.append(this.path, bytes);
    this.length += bytes.length;
    this.size += bytes.length;
  }

  /** Makes the current increment survive a crash. */
  sync(): void {
    this.#disk.sync(this.path);
  }

  /** Does the same in the background. */
  syncLater(done: (error?: unknown) => void): void {
    this.#disk.syncLater(this.path, done);
  }

  /** Closes the current increment. */
  close(): void {
    if (this.path !== '') this.#disk.release(this.path);
    this.path = '';
  }

  /**
   * A rewrite begins: from now on commands are appended to a new increment.
   * @param apart the increment stays out of the manifest until the rewrite ends, because there is no base that it continues
   * @param offset the replication offset at which it begins
   */
  beginIncrement(apart: boolean, offset: number): void {
    const { log, settings } = this.#server;
    this.#disk.makeFolder(settings.appenddirname);
    if (apart) {
      const name = this.#temporaryIncrement;
      log('notice', `Creating AOF incr file ${name} on background rewrite`);
      this.#disk.remove(this.#pathOf(name));
      this.#openFile(this.#pathOf(name));
      this.#apartFrom = offset;
      return;
    }
    const part = this.#nextIncrement(offset);
    log('notice', `Creating AOF incr file ${part.name} on background rewrite`);
    const last = this.#manifest.increments.at(-1);
    if (last !== undefined) last.to = offset;
    this.#manifest.increments.push(part);
    this.#openFile(this.#pathOf(part.name));
    this.#persist();
  }

  #apartFrom = 0;

  get #temporaryIncrement(): Bytes {
    return `temp-${this.#name}.incr`;
  }

  /** The rewrite ends: the new base replaces the old one and the increments before it. */
  replaceBase(bytes: Bytes, state: 'off' | 'on' | 'waiting'): void {
    const server = this.#server;
    const manifest = this.#manifest;
    const base = this.#nextBase();
    this.#disk.makeFolder(server.settings.appenddirname);
    this.#writeBase(bytes, base.name);
    const kept = state === 'on' ? manifest.increments.splice(-1) : [];
    const replaced = [...(manifest.base === undefined ? [] : [manifest.base]), ...manifest.increments];
    if (state === 'waiting') kept.push(this.#admitIncrement());
    this.#manifest = {
      base,
      increments: kept,
      history: [...manifest.history, ...replaced.filter(({ name }) => name !== base.name).reverse()],
    };
    this.#persist();
    this.#removeHistory();
    if (state === 'off') return;
    this.size = bytes.length + (this.#disk.size(this.path) ?? 0);
    this.sizeAtRewrite = this.size;
  }

  /** Gives the increment that was written apart its name. */
  #admitIncrement() {
    const part = this.#nextIncrement(this.#apartFrom);
    const path = this.#pathOf(part.name);
    this.#disk.rename(this.#pathOf(this.#temporaryIncrement), path);
    const { length } = this;
    this.#openFile(path);
    this.length = length;
    return part;
  }
}
