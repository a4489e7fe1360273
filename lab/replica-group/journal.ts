/**
 * What a lab node has on its disk. With `appendonly` that is its append-only file. Without it, a journal of every write
 * lets a test keep the data in a crash all the same.
 */

import { badOption } from '../../base/options.ts';
import type { Bytes } from '../../protocol/bytes.ts';
import { RequestDecoder } from '../../protocol/decode.ts';
import { AppendOnlyFile } from '../../server/aof/append-only-file.ts';
import { Client, PRIMARY_LINK } from '../../server/clients/client.ts';
import { loadSnapshot, snapshot } from '../../server/data/snapshot.ts';
import type { Server } from '../../server/server.ts';
import type { Keep, VirtualDisk } from './disk.ts';

/** The dataset at the replication offset `#begin`. */
export const BASE = 'base.rdb';
/** The replication stream after that offset. */
export const LOG = 'stream.log';

/**
 * What the disk keeps in a crash: nothing, everything, what was synced (according to `appendonly` and `appendfsync`), or
 * everything up to a replication offset.
 */
export type KeepData = 'nothing' | 'everything' | 'synced' | { readonly offset: number };

const KEPT: readonly unknown[] = ['nothing', 'everything', 'synced'];

/** Throws TypeError unless `keep` says what survives. @param name how the error names it */
export function checkKeep(name: string, keep: KeepData): void {
  if (KEPT.includes(keep)) return;
  const offset = typeof keep === 'object' ? (keep as { offset?: unknown } | null)?.offset : undefined;
  if (!Number.isSafeInteger(offset) || (offset as number) < 0) {
    throw badOption(
      name,
      keep,
      "'nothing', 'everything', 'synced' or { offset } with a replication offset from 0",
    );
  }
}

/** What one server process has on the disk of its node. */
export class Journal {
  readonly #server: Server;
  readonly #disk: VirtualDisk;
  readonly #file: AppendOnlyFile;
  /** True if the append-only file has the data, and no journal is written. */
  readonly #isFile: boolean;
  #begin = 0;
  /** The position in the append-only file that belongs to a replication offset, in the order of both. */
  #positions: { readonly offset: number; readonly position: number }[] = [];

  /** Loads what the disk holds into the new server, then stores everything that enters its replication stream. */
  constructor(server: Server, disk: VirtualDisk) {
    this.#server = server;
    this.#disk = disk;
    this.#isFile = server.settings.appendonly;
    this.#file = new AppendOnlyFile(server);
    if (!this.#isFile) this.#recover();
    this.#file.open();
    // A backlog from the beginning keeps the stream flowing even without replicas.
    server.replication.keepsBacklog = true;
    server.replication.keepBacklog();
    this.#rebase();
    this.#watch();
  }

  /** Discards what does not survive the crash. */
  crash(keep: KeepData): void {
    const { path, begin, written } = this.#file.current;
    this.#file.abandon();
    if (typeof keep === 'string') {
      this.#disk.crash(keep);
      return;
    }
    if (!this.#isFile) {
      this.#disk.crash(this.#bytesUpTo(keep.offset));
      return;
    }
    const length = this.#disk.size(path) ?? 0;
    const durable = this.#disk.durable(path);
    this.#disk.crash('everything');
    const lost = written - Math.max(begin, this.#positionAt(keep.offset));
    this.#disk.truncate(path, Math.max(durable, length - Math.max(0, lost)));
  }

  #positionAt(offset: number): number {
    return this.#positions.findLast((known) => known.offset <= offset)?.position ?? 0;
  }

  /** The base counts as durable, because everything that is kept follows it. */
  #bytesUpTo(offset: number): Keep {
    this.#disk.sync(BASE);
    return { bytes: Math.max(0, offset - this.#begin) };
  }

  #watch(): void {
    this.#server.replication.observe({
      bytes: (bytes) => {
        if (!this.#isFile) return this.#disk.append(LOG, bytes);
        const offset = this.#server.replication.offset + bytes.length;
        this.#positions.push({ offset, position: this.#file.position });
      },
      replaced: () => this.#rebase(),
    });
  }

  /** Makes the current dataset the new base. */
  #rebase(): void {
    this.#begin = this.#server.replication.offset;
    this.#positions = [];
    if (this.#isFile) return;
    this.#disk.remove(LOG);
    // A node that starts without data needs no file for that.
    this.#disk.write(BASE, isEmpty(this.#server) ? '' : snapshot(this.#server));
    this.#disk.write(LOG, '');
  }

  #recover(): void {
    const server = this.#server;
    const base = this.#disk.read(BASE);
    // The log may hold a later deadline for a key of the base whose own one is over by now.
    if (base !== undefined && base !== '') server.unit(() => loadSnapshot(server, base, undefined, 'keep'));
    const log = this.#disk.read(LOG) ?? '';
    if (log !== '') replay(server, log);
    // A crash may have left half a command at the log's end.
    this.#disk.remove(LOG);
  }
}

/** True when there is nothing to keep. */
function isEmpty({ databases, functions }: Server): boolean {
  return functions.counts.libraries === 0 && databases.every(({ size }) => size === 0);
}

/** Applies a stream of commands without answering them or passing them on. */
function replay(server: Server, log: Bytes): void {
  const client = new Client<Server>(server, 0, undefined);
  client.mark(PRIMARY_LINK, true);
  const decoder = new RequestDecoder({ maxBulk: Number.MAX_SAFE_INTEGER, authenticated: true });
  decoder.write(Buffer.from(log, 'latin1'));
  server.world.expiryPolicy = 'keep';
  for (let argv = decoder.next(); argv !== undefined; argv = decoder.next()) server.execute(client, argv);
  if (client.transaction !== undefined) client.discard();
  server.expiry.follow();
}
