/** The dump file: the dataset as an RDB on the host's disk, where the user has asked for one. Nothing is read or written otherwise. */
import type { Bytes } from '../protocol/bytes.ts';
import { fail } from '../protocol/errors.ts';
import { Beat } from './beat.ts';
import { parseSavePoints } from './parameters.ts';
import type { Server } from './server.ts';
import { loadSnapshot, snapshot } from './snapshot.ts';

const IN_PROGRESS = 'ERR Background save already in progress';

export class DumpFile {
  readonly #server: Server;
  #enabled = false;
  readonly #beat: Beat;
  #saving = false;
  /** Of the last background save. */
  status: 'ok' | 'err' = 'ok';
  /** Successful saves. */
  saves = 0;
  /** What the dataset that was loaded last had in it. */
  loaded = { keys: 0, expired: 0 };
  #savedAt: number | undefined;
  #dirtyAtSave = 0;

  constructor(server: Server) {
    this.#server = server;
    this.#beat = new Beat(server, () => this.#review());
  }

  /** When the dataset was last saved, in seconds since the epoch; at first: when the node started. */
  get savedAt(): number {
    return this.#savedAt ?? Math.floor(this.#server.startedAt / 1000);
  }

  /** There is a file to write. */
  get enabled(): boolean {
    return this.#enabled;
  }

  /** Follows the `save` setting: looks once a second whether a save is due. */
  configure(): void {
    const points = parseSavePoints(this.#server.settings.save);
    if (!this.#enabled || points === undefined || points.length === 0) this.stop();
    else this.#beat.start();
  }

  stop(): void {
    this.#beat.stop();
  }

  #review(): void {
    const server = this.#server;
    if (this.#saving) return;
    const seconds = Math.floor(server.host.clock.now() / 1000) - this.savedAt;
    const points = parseSavePoints(server.settings.save) ?? [];
    const due = points.some((point) => this.changes >= point.changes && seconds > point.seconds);
    if (due) server.unit(() => this.saveLater());
  }

  /** A background save is under way. */
  get saving(): boolean {
    return this.#saving;
  }

  /** Changes since the last save. */
  get changes(): number {
    return this.#server.world.dirty - this.#dirtyAtSave;
  }

  /** From now on SAVE and BGSAVE write `dbfilename`. Reads it first if it is there; throws RdbError when it is damaged. */
  open(): void {
    const server = this.#server;
    this.#enabled = true;
    const rdb = server.host.disk.read(server.settings.dbfilename);
    if (rdb !== undefined) server.unit(() => loadSnapshot(server, rdb));
    this.#dirtyAtSave = server.world.dirty;
    this.configure();
  }

  #check(): void {
    if (!this.#enabled) fail('ERR No dump file: start the server with rdbFile, or with dir and dbfilename');
    if (this.#saving) fail(IN_PROGRESS);
  }

  /** SAVE. Throws ReplyError when the file cannot be written, or a background save is under way. */
  save(): void {
    this.#check();
    const server = this.#server;
    if (!this.#write(snapshot(server), server.world.dirty)) fail('ERR');
  }

  /** BGSAVE: the dataset as it is now, written a moment later. Throws ReplyError as `save` does. */
  saveLater(): void {
    this.#check();
    const server = this.#server;
    const [rdb, dirty] = [snapshot(server), server.world.dirty];
    this.#saving = true;
    server.host.clock.soon(() => {
      this.#saving = false;
      this.status = this.#write(rdb, dirty) ? 'ok' : 'err';
    });
  }

  #write(rdb: Bytes, dirty: number): boolean {
    const server = this.#server;
    const { disk, clock } = server.host;
    const name = server.settings.dbfilename;
    try {
      disk.write(name, rdb);
      disk.sync(name);
    } catch (error) {
      server.log('warning', `Failed to save the dataset as ${name}: ${error}`);
      return false;
    }
    this.saves++;
    this.#savedAt = Math.floor(clock.now() / 1000);
    this.#dirtyAtSave = dirty;
    return true;
  }
}
