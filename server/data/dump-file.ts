/**
 * SAVE, BGSAVE and BGREWRITEAOF: the dataset as an RDB, kept in memory, or on the host's disk if a dump file is
 * configured.
 */

import { badFormat } from '../../keyspace/format/errors.ts';
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { fail } from '../../protocol/errors.ts';
import type { Statistics } from '../figures/statistics.ts';
import { GATE_DISK } from '../gates.ts';
import { Beat } from '../host/beat.ts';
import type { Timer } from '../host/host.ts';
import type { Durability, Gated, HasHost, HasLog, HasSettings, Units } from '../ports.ts';
import { parseSavePoints } from '../settings/parameters.ts';
import { clear, loadSnapshot, type Merging, type SnapshotNode, snapshot } from './snapshot.ts';

const IN_PROGRESS = 'ERR Background save already in progress';
const CANNOT_REWRITE =
  "ERR Can't execute an AOF background rewriting. Please check the server logs for more information.";
/** How long to wait after a failed background save before the next one, in seconds. */
const RETRY_SECONDS = 5;

/** Work for which Redis starts a child process. */
interface Child {
  readonly kind: 'rdb' | 'aof';
  readonly startedAt: Millis;
  /** It goes on until then at least: `rdb-key-save-delay` slows it down. */
  readonly endsAt: Millis;
  /** The number of keys when it started. */
  readonly keys: number;
  /** Does the work. Returns false if it failed. */
  finish(): boolean;
}

/** What INFO reports about background work of one kind. */
interface SaveOutcome {
  status: 'ok' | 'err';
  /** How long the last one took, in seconds; -1 before the first. */
  seconds: number;
  /** When the last one started, in seconds since the epoch. */
  triedAt: number;
}

/** The node, as its dump file sees it. */
interface DumpingNode extends Gated, HasHost, HasLog, HasSettings, SnapshotNode, Units {
  readonly durability: Durability | undefined;
  readonly startedAt: number;
  readonly stats: Statistics;
}

/**
 * Saves a node's dataset and loads it again
 * (https://redis.io/docs/latest/operate/oss_and_stack/management/persistence/).
 */
export class DumpFile {
  readonly #server: DumpingNode;
  readonly #beat: Beat;
  /** True if there is a file to write. Otherwise the dump is kept in memory. */
  #named = false;
  #kept: Bytes | undefined;
  #child: Child | undefined;
  #timer: Timer | undefined;
  /** Background work that waits for the current child, or the transaction, to end. */
  readonly scheduled = { rdb: false, aof: false };
  readonly last: Record<Child['kind'], SaveOutcome> = {
    rdb: { status: 'ok', seconds: -1, triedAt: 0 },
    aof: { status: 'ok', seconds: -1, triedAt: 0 },
  };
  /** The numbers of keys in the dataset that was loaded last. */
  loaded = { keys: 0, expired: 0 };
  /** How many rewrites of the append-only file have failed since the last one that succeeded. */
  rewriteFailures = 0;
  /** How many background saves have failed since the last one that succeeded. */
  saveFailures = 0;
  #savedAt: number | undefined;
  #dirtyAtSave = 0;

  constructor(server: DumpingNode) {
    this.#server = server;
    this.#beat = new Beat(server, () => this.#review());
  }

  /** When the dataset was last saved, in seconds since the epoch. Before the first save: when the node started. */
  get savedAt(): number {
    return this.#savedAt ?? Math.floor(this.#server.startedAt / 1000);
  }

  /** The number of changes since the last save. */
  get changes(): number {
    return this.#server.world.dirty - this.#dirtyAtSave;
  }

  /** True while a background save is in progress. */
  get saving(): boolean {
    return this.#child?.kind === 'rdb';
  }

  /** True while a rewrite of the append-only file is in progress. */
  get rewriting(): boolean {
    return this.#child?.kind === 'aof';
  }

  /** The number of keys that the current background save writes; 0 without one. */
  get savingKeys(): number {
    return this.#child?.keys ?? 0;
  }

  /** Returns the seconds since the background work of a kind started; -1 if there is none. */
  secondsOf(kind: Child['kind']): number {
    if (this.#child?.kind !== kind) return -1;
    return this.#seconds - Math.floor(this.#child.startedAt / 1000);
  }

  get #seconds(): number {
    return Math.floor(this.#server.host.clock.now() / 1000);
  }

  /** Applies the settings: checks once a second whether a save is due, and refuses writes after a failed save. */
  configure(): void {
    this.#refreshGate();
    if (this.#hasSavePoints) this.#beat.start();
    else this.#beat.stop();
  }

  #refreshGate(): void {
    const { settings } = this.#server;
    const failed = this.last.rdb.status === 'err' && this.#hasSavePoints;
    this.#server.gate(GATE_DISK, failed && settings['stop-writes-on-bgsave-error']);
  }

  get #hasSavePoints(): boolean {
    return (parseSavePoints(this.#server.settings.save) ?? []).length > 0;
  }

  /** Cancels the timers and the work in progress. */
  stop(): void {
    this.#beat.stop();
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#child = undefined;
    this.scheduled.rdb = this.scheduled.aof = false;
  }

  #review(): void {
    const server = this.#server;
    if (this.#child !== undefined || !this.#mayTry) return;
    const seconds = this.#seconds - this.savedAt;
    const points = parseSavePoints(server.settings.save) ?? [];
    const due = points.some((point) => this.changes >= point.changes && seconds > point.seconds);
    if (due) server.unit(() => this.#begin('rdb'));
  }

  get #mayTry(): boolean {
    const { status, triedAt } = this.last.rdb;
    return status === 'ok' || this.#seconds - triedAt > RETRY_SECONDS;
  }

  /** From now on saves write `dbfilename`. */
  name(): void {
    this.#named = true;
  }

  /**
   * From now on saves write `dbfilename`. Loads that file first if it exists, unless the data was `loaded` from an
   * append-only file. Throws RdbError if it is damaged.
   */
  open(loaded = false): void {
    const server = this.#server;
    this.#named = true;
    const rdb = loaded ? undefined : server.host.disk.read(server.settings.dbfilename);
    if (rdb !== undefined) server.unit(() => loadSnapshot(server, rdb));
    this.#dirtyAtSave = server.world.dirty;
  }

  /** SAVE. Throws ReplyError if the file cannot be written, or a background save is in progress. */
  save(): void {
    if (this.saving) fail(IN_PROGRESS);
    this.#server.stats.saves++;
    this.#saveNow();
  }

  /**
   * Saves for SHUTDOWN and DEBUG RELOAD: cancels a background save, and is not counted in INFO. Throws ReplyError if
   * the file cannot be written.
   */
  saveUncounted(): void {
    if (this.saving) this.#giveUp();
    this.#saveNow();
  }

  #saveNow(): void {
    const server = this.#server;
    if (!this.#write(snapshot(server), server.world.dirty)) fail('ERR');
    this.last.rdb.status = 'ok';
    this.#refreshGate();
  }

  /**
   * BGSAVE: saves the dataset as it is now. The save ends at the next run of Redis' cron, so that clients can observe
   * it in progress. In a transaction, or with `schedule` during an AOF rewrite, it is only scheduled.
   * @throws ReplyError when a save is in progress, or a rewrite is and the save may not be scheduled
   */
  saveLater(inTransaction: boolean, schedule: boolean): 'started' | 'scheduled' {
    if (this.saving) fail(IN_PROGRESS);
    if (!inTransaction && this.#child === undefined) {
      this.#begin('rdb');
      return 'started';
    }
    if (!inTransaction && !schedule) {
      fail(
        "ERR Another child process is active (AOF?): can't BGSAVE right now. Use BGSAVE SCHEDULE in order to schedule a BGSAVE whenever possible.",
      );
    }
    this.#schedule('rdb');
    return 'scheduled';
  }

  /** BGSAVE CANCEL: ends the background save, or else cancels the scheduled one. Throws ReplyError without either. */
  cancelSave(): 'running' | 'scheduled' {
    if (this.saving) {
      this.#giveUp();
      return 'running';
    }
    if (!this.scheduled.rdb) fail('ERR Background saving is currently not in progress or scheduled');
    this.scheduled.rdb = false;
    return 'scheduled';
  }

  /**
   * BGREWRITEAOF. Without an append-only file it only takes time and is counted. Throws ReplyError during another rewrite,
   * and when the file cannot be written.
   */
  rewriteLater(inTransaction: boolean): 'started' | 'scheduled' {
    if (this.rewriting) fail('ERR Background append only file rewriting already in progress');
    if (inTransaction) {
      this.#schedule('aof');
      return 'scheduled';
    }
    const how = this.rewriteWhenPossible();
    if (this.last.aof.status === 'err' && how === 'started' && !this.rewriting) fail(CANNOT_REWRITE);
    return how;
  }

  /** Begins to rewrite the append-only file now, or when the work in progress has ended. */
  rewriteWhenPossible(): 'started' | 'scheduled' {
    if (this.#child !== undefined) {
      this.#schedule('aof');
      return 'scheduled';
    }
    this.#begin('aof');
    return 'started';
  }

  /** Begins to rewrite the append-only file unless other work is in progress. Returns whether it has. */
  rewriteByItself(): boolean {
    if (this.#child !== undefined || this.scheduled.aof) return false;
    this.#server.unit(() => this.#begin('aof'));
    return true;
  }

  /** Ends the rewrite in progress and cancels the scheduled one. */
  cancelRewrite(): void {
    this.scheduled.aof = false;
    if (this.rewriting) this.#child = undefined;
  }

  /**
   * FLUSHALL has emptied the databases: cancels a save in progress, and saves the empty dataset if saves are
   * configured.
   */
  flushed(): void {
    if (this.saving) this.#giveUp();
    if (this.#hasSavePoints) this.#write(snapshot(this.#server), this.#server.world.dirty);
  }

  /** DEBUG RELOAD. Throws RdbError if there is no dump or it cannot be loaded, ReplyError if it cannot be saved. */
  reload({ saves, ...merging }: Merging & { saves: boolean }): void {
    const server = this.#server;
    if (saves) this.saveUncounted();
    const rdb = this.#named ? server.host.disk.read(server.settings.dbfilename) : this.#kept;
    if (rdb === undefined) {
      // Redis removes the keys before it opens the file.
      if (!merging.keeps) clear(server);
      throw badFormat('there is no dump');
    }
    loadSnapshot(server, rdb, merging);
    if (saves) this.#dirtyAtSave = server.world.dirty;
  }

  #schedule(kind: Child['kind']): void {
    this.scheduled[kind] = true;
    this.#arm();
  }

  #begin(kind: Child['kind']): void {
    const server = this.#server;
    this.scheduled[kind] = false;
    this.last[kind].triedAt = this.#seconds;
    server.stats.forks++;
    server.stats[kind === 'rdb' ? 'saves' : 'rewrites']++;
    const finish = kind === 'rdb' ? this.#saving() : this.#rewriting();
    if (finish === undefined) {
      this.last[kind].status = 'err';
      return;
    }
    const startedAt = server.host.clock.now();
    const keys = server.databases.reduce((sum, { size }) => sum + size, 0);
    const micros = Math.max(0, server.settings['rdb-key-save-delay']) * keys;
    this.#child = { kind, startedAt, endsAt: startedAt + micros / 1000, keys, finish };
    this.#arm();
  }

  #saving(): () => boolean {
    const [rdb, dirty] = [snapshot(this.#server), this.#server.world.dirty];
    return () => this.#write(rdb, dirty);
  }

  #rewriting(): (() => boolean) | undefined {
    const { durability } = this.#server;
    return durability === undefined ? () => true : durability.beginRewrite();
  }

  /** Calls `#tick` when Redis' cron would run next. */
  #arm(): void {
    const { clock } = this.#server.host;
    this.#timer ??= clock.at(clock.now() + Math.ceil(1000 / this.#server.settings.hz), () => {
      this.#timer = undefined;
      this.#tick();
    });
  }

  /** Ends the current work and starts the scheduled work, in the order of Redis' cron. */
  #tick(): void {
    const child = this.#child;
    if (child === undefined && this.scheduled.aof) {
      this.#server.unit(() => this.#begin('aof'));
    } else if (child !== undefined && child.endsAt <= this.#server.host.clock.now()) {
      const outcome = this.last[child.kind];
      outcome.seconds = this.secondsOf(child.kind);
      this.#child = undefined;
      outcome.status = child.finish() ? 'ok' : 'err';
      this.#refreshGate();
      const succeeded = outcome.status === 'ok';
      if (child.kind === 'aof') this.#rewritten(succeeded);
      else this.saveFailures = succeeded ? 0 : this.saveFailures + 1;
    }
    if (this.#child === undefined && this.scheduled.rdb && this.#mayTry) {
      this.#server.unit(() => this.#begin('rdb'));
    }
    if (this.#child !== undefined || this.scheduled.rdb || this.scheduled.aof) this.#arm();
  }

  #rewritten(succeeded: boolean): void {
    this.rewriteFailures = succeeded ? 0 : this.rewriteFailures + 1;
    // The file that was switched on has no base yet.
    if (!succeeded && this.#server.durability?.waiting) this.scheduled.aof = true;
  }

  /** Cancels the background save in progress. */
  #giveUp(): void {
    this.last.rdb.seconds = this.secondsOf('rdb');
    this.#child = undefined;
  }

  #write(rdb: Bytes, dirty: number): boolean {
    const server = this.#server;
    const name = server.settings.dbfilename;
    try {
      if (this.#named) {
        server.host.disk.write(name, rdb);
        server.host.disk.sync(name);
      } else {
        this.#kept = rdb;
      }
    } catch (error) {
      server.log('warning', `Failed to save the dataset as ${name}: ${error}`);
      return false;
    }
    this.#savedAt = this.#seconds;
    this.#dirtyAtSave = dirty;
    return true;
  }
}
