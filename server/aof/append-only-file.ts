/**
 * The append-only file of a node: every write, in the files of a manifest that redis-server 7.0 and later load
 * (https://redis.io/docs/latest/operate/oss_and_stack/management/persistence/#append-only-file).
 */
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { encodeRequest } from '../../protocol/encode.ts';
import { clear, snapshot } from '../data/snapshot.ts';
import { GATE_AOF } from '../gates.ts';
import type { Timer } from '../host/host.ts';
import { type Durability, type DurabilityFigures, type Effect, isStored } from '../ports.ts';
import type { Server } from '../server.ts';
import { AofError, systemError } from './aof-error.ts';
import { commandsOf } from './dataset-commands.ts';
import { AofFiles } from './files.ts';
import { Growth } from './growth.ts';

/** In bytes. A longer buffer is written at once, because a string cannot grow beyond 512 MB. */
const BUFFER_MAX = 64 * 1024 ** 2;

/** The append-only file of one node. */
export class AppendOnlyFile implements Durability {
  readonly #server: Server;
  readonly #files: AofFiles;
  readonly #growth: Growth;
  /** 'waiting': `appendonly` was switched on, and the first base is being written. */
  #state: 'off' | 'on' | 'waiting' = 'off';
  /** What has not been written yet. Replies wait for it. */
  #buffer: Bytes = '';
  /** The database that the file has selected; -1: unknown, so the next command starts with SELECT. */
  #selected = -1;
  #stampedAt = 0;
  #flushing: Timer | undefined;
  #syncing: Timer | undefined;
  /** True while a background fsync is running. */
  #isSyncing = false;
  /** True while something was written and not synced. */
  #unsynced = false;
  /** The replication offset up to which the file is synced. */
  #synced = 0;
  /** Why the file cannot be written or synced; undefined if it can. */
  #trouble: string | undefined;
  #failedWrites = false;
  #dead = false;
  /** The number of bytes recorded since the node started. */
  position = 0;

  constructor(server: Server) {
    this.#server = server;
    this.#files = new AofFiles(server);
    this.#growth = new Growth(server, this.#files);
  }

  /**
   * Loads the file if `appendonly` is on, and records every write from now on.
   * @throws AofError when it cannot be loaded; the message is what redis-server logs before it exits
   */
  open(): void {
    const server = this.#server;
    this.#files.open();
    server.durability = this;
    if (!server.settings.appendonly) return;
    const offset = this.#files.load();
    if (server.dialect.manifestOffsets && offset !== undefined) server.replication.offset = offset;
    this.#files.begin(() => this.#base());
    this.#enter('on');
    this.#synced = server.replication.offset;
    // Keys that expired in the meantime are removed even if no client asks for them.
    server.settle();
  }

  get recording(): boolean {
    return this.#state !== 'off';
  }

  get waiting(): boolean {
    return this.#state === 'waiting';
  }

  get trouble(): string | undefined {
    return this.#trouble;
  }

  get figures(): DurabilityFigures {
    return {
      status: this.#failedWrites ? 'err' : 'ok',
      size: this.#files.size,
      baseSize: this.#files.sizeAtRewrite,
      buffered: this.#buffer.length,
      syncing: this.#isSyncing,
    };
  }

  /** The file that commands are appended to, by its path, with the `position` at which it begins and has been written. */
  get current(): { readonly path: string; readonly begin: number; readonly written: number } {
    const written = this.position - this.#buffer.length;
    return { path: this.#files.path, begin: written - this.#files.length, written };
  }

  syncedOffset(): number | undefined {
    if (this.#state !== 'on') return undefined;
    const { offset } = this.#server.replication;
    if (this.#buffer === '' && !this.#unsynced) return offset;
    // An offset that stands still says nothing about what is synced.
    return this.#synced < offset ? this.#synced : offset - 1;
  }

  // Writing

  record(effects: readonly Effect[], atomic: boolean, heard: boolean): void {
    if (this.#state === 'off' || this.#dead) return;
    if (this.#state === 'waiting' && !this.#server.dumpFile.rewriting) return;
    const before = this.#buffer.length;
    const stored = effects.filter(isStored);
    const selectsFirst = this.#server.dialect.transactionSelect === 'before MULTI';
    const wrapped = atomic && (heard || stored.length > 1);
    if (wrapped) this.#buffer += (selectsFirst ? this.#select(effects[0]!.db) : '') + this.#encode(['MULTI']);
    for (const { db, argv } of stored) this.#buffer += this.#select(db) + this.#encode(argv);
    if (wrapped) this.#buffer += this.#encode(['EXEC']);
    if (this.#buffer.length === before) return;
    this.position += this.#buffer.length - before;
    if (this.#buffer.length > BUFFER_MAX) this.flush();
    else this.#flushing ??= this.#server.host.clock.soon(() => this.flush());
  }

  #select(db: number): Bytes {
    if (db === this.#selected) return '';
    this.#selected = db;
    return this.#encode(['SELECT', String(db)]);
  }

  #encode(argv: readonly Bytes[]): Bytes {
    const { settings, now } = this.#server;
    const seconds = Math.floor(now / 1000);
    if (!settings['aof-timestamp-enabled'] || seconds <= this.#stampedAt) return encodeRequest(argv);
    this.#stampedAt = seconds;
    return `#TS:${seconds}\r\n${encodeRequest(argv)}`;
  }

  /** Writes what was recorded, syncs it if `appendfsync` is always, and sends the replies that have waited for it. */
  flush(): void {
    this.#flushing?.cancel();
    this.#flushing = undefined;
    if (this.#dead || this.#buffer === '') return;
    if (this.#write()) this.#syncAsConfigured();
    if (!this.#dead) this.#server.outbox.flush();
  }

  #write(): boolean {
    const { settings } = this.#server;
    try {
      this.#files.append(this.#buffer);
    } catch (error) {
      const why = systemError(error);
      this.#server.log('warning', `Error writing to the AOF file: ${why}`);
      if (settings.appendfsync === 'always') {
        this.#die("Can't recover from AOF write error when the AOF fsync policy is 'always'. Exiting...");
        return false;
      }
      this.#failedWrites = true;
      this.#complain(why);
      this.#syncSoon();
      return false;
    }
    this.#buffer = '';
    this.#unsynced = true;
    if (this.#failedWrites) {
      this.#server.log('notice', 'AOF write error looks solved. The server can write again.');
      this.#failedWrites = false;
      this.#complain(undefined);
    }
    if (this.#state === 'on') this.#growth.review();
    return true;
  }

  #syncAsConfigured(): void {
    const { settings, dumpFile } = this.#server;
    if (settings.appendfsync === 'no') return;
    if (settings['no-appendfsync-on-rewrite'] && (dumpFile.saving || dumpFile.rewriting)) return;
    try {
      if (settings.appendfsync === 'everysec') this.#syncSoon();
      else this.#syncNow();
    } catch (error) {
      this.#die(
        `Can't persist AOF for fsync error when the AOF fsync policy is 'always': ${systemError(error)}. Exiting...`,
      );
    }
  }

  #syncNow(): void {
    const { offset } = this.#server.replication;
    this.#files.sync();
    this.#unsynced = false;
    this.#synced = offset;
    this.#server.waiting.review();
  }

  /** Syncs in the background when the next second begins, and retries a failed write. */
  #syncSoon(): void {
    const { clock } = this.#server.host;
    this.#syncing ??= clock.at(nextSecond(clock.now()), () => {
      this.#syncing = undefined;
      this.flush();
      if (this.#unsynced) this.#syncInBackground();
      this.#server.settle();
    });
  }

  #syncInBackground(): void {
    if (this.#isSyncing) {
      this.#syncSoon();
      return;
    }
    const server = this.#server;
    const { offset } = server.replication;
    const { position } = this;
    this.#isSyncing = true;
    this.#files.syncLater((error) => {
      this.#isSyncing = false;
      if (this.#dead || this.#state === 'off') return;
      if (error === undefined) {
        this.#synced = Math.max(this.#synced, offset);
        if (position === this.position) this.#unsynced = false;
        if (!this.#failedWrites) this.#complain(undefined);
      } else {
        server.log('warning', `Fail to fsync the AOF file: ${systemError(error)}`);
        this.#complain(systemError(error));
        this.#syncSoon();
      }
      server.waiting.review();
      server.settle();
    });
  }

  /** Refuses writes while the file cannot be written. */
  #complain(why: string | undefined): void {
    this.#trouble = why;
    this.#server.gate(GATE_AOF, why !== undefined);
  }

  /** Stops the node before it can acknowledge what is not on the disk. */
  #die(why: string): void {
    this.#dead = true;
    this.#server.log('warning', why);
    this.#server.onFatal();
  }

  // Switching on and off

  configure(): string | undefined {
    const { settings, dumpFile, log } = this.#server;
    if (settings.appendonly === this.recording) {
      if (this.recording && settings.appendfsync !== 'no' && this.#unsynced) this.#syncSoon();
      return undefined;
    }
    if (!settings.appendonly) {
      this.#finish();
      dumpFile.cancelRewrite();
      this.#enter('off');
      return undefined;
    }
    this.#enter('waiting');
    dumpFile.cancelRewrite();
    if (dumpFile.rewriteWhenPossible() === 'scheduled') {
      log(
        'notice',
        'AOF was enabled but there is already another background operation. An AOF background was scheduled to start when possible.',
      );
    } else if (!dumpFile.rewriting) {
      this.#enter('off');
      return 'Unable to turn on AOF. Check server logs.';
    }
    return undefined;
  }

  #enter(state: 'off' | 'on' | 'waiting'): void {
    const server = this.#server;
    this.#state = state;
    this.#selected = -1;
    server.outbox.mayLeave =
      state === 'off' ? undefined : () => !this.#dead && (this.#buffer === '' || this.#failedWrites);
    if (state === 'off') {
      this.#complain(undefined);
      this.#failedWrites = false;
    }
    server.replication.follow();
  }

  /** Writes and syncs everything, and closes the file. */
  #finish(): void {
    this.flush();
    this.#syncing?.cancel();
    this.#syncing = undefined;
    this.#growth.stop();
    this.#buffer = '';
    try {
      if (this.#unsynced) this.#files.sync();
    } catch (error) {
      this.#server.log('warning', `Fail to fsync the AOF file: ${systemError(error)}`);
    }
    this.#unsynced = false;
    this.#files.close();
  }

  stop(): void {
    if (this.#state !== 'off' && !this.#dead) this.#finish();
    this.abandon();
  }

  /** Ends without writing anything more, as when the process is killed. */
  abandon(): void {
    this.#dead = true;
    for (const timer of [this.#flushing, this.#syncing]) timer?.cancel();
    this.#growth.stop();
    this.#files.close();
  }

  // Rewriting

  beginRewrite(): (() => boolean) | undefined {
    const server = this.#server;
    this.flush();
    const base = this.#base();
    try {
      if (this.#state !== 'off') {
        if (this.#unsynced && server.settings.appendfsync !== 'no') this.#files.sync();
        this.#files.beginIncrement(this.#state === 'waiting', server.replication.offset);
        this.#unsynced = false;
      }
    } catch (error) {
      server.log('warning', `Can't open the append-only file: ${systemError(error)}`);
      return undefined;
    }
    this.#selected = -1;
    return () => this.#endRewrite(base);
  }

  #base(): Bytes {
    const server = this.#server;
    if (server.settings['aof-use-rdb-preamble']) return snapshot(server, 'AOF base');
    const stamp = server.settings['aof-timestamp-enabled'] ? `#TS:${Math.floor(server.now / 1000)}\r\n` : '';
    return stamp + commandsOf(server);
  }

  #endRewrite(base: Bytes): boolean {
    const server = this.#server;
    this.flush();
    const { offset } = server.replication;
    try {
      this.#files.replaceBase(base, this.#state);
    } catch (error) {
      server.log('warning', `Background AOF rewrite terminated by error: ${systemError(error)}`);
      return false;
    }
    if (this.#state === 'waiting') {
      // Its writes were collected in a file of their own, which is part of the manifest only from now on.
      this.#files.sync();
      this.#unsynced = false;
      this.#synced = offset;
      this.#state = 'on';
      server.waiting.review();
    }
    server.log('notice', 'Background AOF rewrite finished successfully');
    return true;
  }

  replaced(): void {
    if (this.#state === 'off' || this.#dead) return;
    this.#server.dumpFile.cancelRewrite();
    this.#buffer = '';
    this.beginRewrite()?.();
    this.#synced = this.#server.replication.offset;
  }

  // Loading again

  reload(): void {
    const server = this.#server;
    this.flush();
    clear(server);
    try {
      this.#files.open();
      this.#files.load();
    } catch (error) {
      if (!(error instanceof AofError)) throw error;
      this.#die(error.message);
      throw error;
    }
    this.#selected = -1;
    server.log('warning', 'Append Only File loaded by DEBUG LOADAOF');
  }
}

/** The beginning of the next second, in milliseconds since the epoch. */
function nextSecond(now: Millis): Millis {
  return (Math.floor(now / 1000) + 1) * 1000;
}
