/** A lab node's data on disk: a base dataset and the replication stream since then, synced as appendfsync says. */
import { badOption } from '../../embed/options.ts';
import type { Bytes } from '../../protocol/bytes.ts';
import { RequestDecoder } from '../../protocol/decode.ts';
import { Client, PRIMARY_LINK } from '../../server/clients/client.ts';
import { loadSnapshot, snapshot } from '../../server/data/snapshot.ts';
import type { Timer } from '../../server/host/host.ts';
import type { Server } from '../../server/server.ts';
import type { Keep, VirtualDisk } from './disk.ts';

/** The dataset at the replication offset `#begin`. */
const BASE = 'base.rdb';
/** The replication stream after that offset. */
const LOG = 'appendonly.aof';

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
  if (!Number.isSafeInteger(offset)) {
    throw badOption(name, keep, "'nothing', 'everything', 'synced' or { offset } with a replication offset");
  }
}

/** The journal of one server process. It is always written; `appendonly` only decides whether it is synced. */
export class Journal {
  readonly #server: Server;
  readonly #disk: VirtualDisk;
  #begin = 0;
  #syncing: Timer | undefined;

  /** Loads what the disk holds into the new server, then journals everything that enters its replication stream. */
  constructor(server: Server, disk: VirtualDisk) {
    this.#server = server;
    this.#disk = disk;
    this.#recover();
    // A backlog from the beginning keeps the stream flowing even without replicas.
    server.replication.keepsBacklog = true;
    server.replication.becomeReplica();
    this.#rebase();
    this.#watch();
    server.durability = {
      syncedOffset: () => (server.settings.appendonly ? this.#begin + disk.durable(LOG) : undefined),
    };
  }

  /** Discards what does not survive the crash. */
  crash(keep: KeepData): void {
    this.#syncing?.cancel();
    this.#disk.crash(typeof keep === 'string' ? keep : this.#bytesUpTo(keep.offset));
  }

  /** The base counts as durable, because everything that is kept follows it. */
  #bytesUpTo(offset: number): Keep {
    this.#disk.sync(BASE);
    return { bytes: Math.max(0, offset - this.#begin) };
  }

  #watch(): void {
    this.#server.replication.observe({
      // Runs before the bytes go to replicas, so that with `appendfsync always` no replica has what this disk lacks.
      bytes: (bytes) => {
        this.#disk.append(LOG, bytes);
        this.#sync();
      },
      replaced: () => this.#rebase(),
    });
  }

  /** Makes the current dataset the new base. */
  #rebase(): void {
    this.#begin = this.#server.replication.offset;
    this.#disk.remove(LOG);
    this.#disk.write(BASE, snapshot(this.#server));
    this.#disk.write(LOG, '');
    if (!this.#server.settings.appendonly) return;
    this.#disk.sync(BASE);
    this.#disk.sync(LOG);
  }

  #sync(): void {
    const { settings, host } = this.#server;
    if (!settings.appendonly || settings.appendfsync === 'no') return;
    if (settings.appendfsync === 'always') {
      this.#disk.sync(LOG);
    } else {
      const nextSecond = (Math.floor(host.clock.now() / 1000) + 1) * 1000;
      this.#syncing ??= host.clock.at(nextSecond, () => this.#syncNow());
    }
  }

  #syncNow(): void {
    this.#syncing = undefined;
    this.#disk.sync(LOG);
    this.#server.waiting.review();
    this.#server.settle();
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
