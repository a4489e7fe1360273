/** Loads the files of an append-only file into a node, with redis-server's log lines and errors. */

import { RdbError } from '../../keyspace/format/errors.ts';
import { readRdb } from '../../keyspace/rdb/file.ts';
import { allowance } from '../../protocol/allowance.ts';
import { asciiLower, type Bytes } from '../../protocol/bytes.ts';
import { WRONGTYPE } from '../../protocol/errors.ts';
import { ReplyError } from '../../protocol/reply.ts';
import { Client, PRIMARY_LINK } from '../clients/client.ts';
import { loadSnapshot } from '../data/snapshot.ts';
import type { Server } from '../server.ts';
import type { Command } from '../table/command.ts';
import { checkWords, resolve, step } from '../table/resolve.ts';
import { AofError } from './aof-error.ts';
import type { AofPart, Manifest } from './manifest.ts';
import { CommandReader } from './reader.ts';

/** The sizes of the files that were loaded, in bytes. */
export interface LoadedSizes {
  readonly total: number;
  readonly base: number;
}

/** An RDB at the beginning of a file. */
const PREAMBLE = /^(REDIS|VALKEY)\d/;

/**
 * Loads all files of the manifest. The node must be empty.
 * @param pathOf where a file is on the node's disk
 * @throws AofError when a file is missing or cannot be read to its end
 */
export function loadFiles(
  server: Server,
  { base, increments }: Manifest,
  pathOf: (name: Bytes) => string,
): LoadedSizes {
  const { disk } = server.host;
  const parts = [...(base === undefined ? [] : [base]), ...increments];
  const files = parts.map((part) => {
    const content = disk.read(pathOf(part.name));
    if (content !== undefined) return { part, content };
    throw new AofError(`Unable to obtain the AOF file ${part.name} length. stat: No such file or directory`);
  });
  const [feeding, dirty, began] = [server.effects.feeding, server.world.dirty, server.host.clock.micros()];
  server.effects.feeding = false;
  server.world.expiryPolicy = 'keep';
  try {
    for (const { part, content } of files) {
      if (content === '') continue;
      const started = server.host.clock.micros();
      const last = part === parts.at(-1);
      allowance.unlimited(() =>
        server.vocabulary.withEvery(() => loadFile(server, part, content, pathOf(part.name), last)),
      );
      const kind = part === base ? 'base' : 'incr';
      server.log(
        'notice',
        `DB loaded from ${kind} file ${part.name}: ${secondsSince(server, started)} seconds`,
      );
    }
  } finally {
    server.effects.feeding = feeding;
    server.effects.rewritten = undefined;
    server.world.dirty = dirty;
    server.expiry.follow();
  }
  server.log('notice', `DB loaded from append only file: ${secondsSince(server, began)} seconds`);
  const total = parts.reduce((sum, { name }) => sum + (disk.size(pathOf(name)) ?? 0), 0);
  return { total, base: base === undefined ? 0 : (files[0]?.content.length ?? 0) };
}

function secondsSince({ host }: Server, began: number): string {
  return ((host.clock.micros() - began) / 1e6).toFixed(3);
}

function loadFile(server: Server, { name }: AofPart, content: Bytes, path: string, last: boolean): void {
  const start = PREAMBLE.test(content) ? loadPreamble(server, name, content) : 0;
  const reader = new CommandReader(content, start);
  const end = new Replay(server, name).run(reader);
  if (end.how === 'end') return;
  if (end.how === 'malformed') {
    throw new AofError(
      `Bad file format reading the append only file ${name}: make a backup of your AOF file, then use ./${server.dialect.aofChecker} --fix <filename.manifest>`,
    );
  }
  if (!server.settings['aof-load-truncated']) {
    throw new AofError(
      `Unexpected end of file reading the append only file ${name}. You can: 1) Make a backup of your AOF file, then use ./${server.dialect.aofChecker} --fix <filename.manifest>. 2) Alternatively you can set the 'aof-load-truncated' configuration option to yes and restart the server.`,
    );
  }
  server.log('warning', `!!! Warning: short read while loading the AOF file ${name}!!!`);
  server.log('warning', `!!! Truncating the AOF ${name} at offset ${end.at} !!!`);
  server.host.disk.truncate(path, end.at);
  server.log('warning', `AOF ${name} loaded anyway because aof-load-truncated is enabled`);
  if (!last) throw new AofError('Fatal error: the truncated file is not the last file');
}

/** Loads the RDB at the beginning of a file. Returns the position after it. */
function loadPreamble(server: Server, name: Bytes, content: Bytes): number {
  const whole = name.endsWith('.rdb');
  server.log(
    'notice',
    whole ? 'Reading RDB base file on AOF loading...' : 'Reading RDB preamble from AOF file...',
  );
  try {
    const length = lengthOfRdb(content);
    // A later command may move a deadline that is over by now.
    server.unit(() => loadSnapshot(server, content.slice(0, length), undefined, 'keep'));
    const { keys, expired } = server.dumpFile.loaded;
    server.log('notice', `Done loading RDB, keys loaded: ${keys}, keys expired: ${expired}.`);
    if (!whole) server.log('notice', 'Reading the remaining AOF tail...');
    return length;
  } catch (error) {
    if (!(error instanceof RdbError || error instanceof ReplyError)) throw error;
    const why = error.message;
    throw new AofError(`Error reading the RDB preamble of the AOF file ${name}, AOF loading aborted: ${why}`);
  }
}

function lengthOfRdb(content: Bytes): number {
  const items = readRdb(content);
  for (;;) {
    const { done, value } = items.next();
    if (done === true) return value;
  }
}

/** A command that was found in the table. */
interface FoundCommand {
  readonly command: Command<Client<Server>>;
  readonly argv: Bytes[];
}

/** Runs the commands of a file, without answering them or passing them on. */
class Replay {
  readonly #server: Server;
  readonly #file: Bytes;
  readonly #client: Client<Server>;
  /** The commands since MULTI, and where MULTI begins; undefined outside a transaction. */
  #transaction: { readonly at: number; readonly queue: FoundCommand[] } | undefined;

  constructor(server: Server, file: Bytes) {
    this.#server = server;
    this.#file = file;
    this.#client = new Client<Server>(server, 0, undefined);
    this.#client.mark(PRIMARY_LINK, true);
  }

  /**
   * Runs the commands up to the end of the file. A transaction without EXEC is not run, and the file counts as torn where
   * it begins.
   */
  run(reader: CommandReader): { readonly how: 'end' | 'torn' | 'malformed'; readonly at: number } {
    for (;;) {
      const begin = reader.position;
      const argv = reader.next();
      if (argv === 'malformed') return { how: 'malformed', at: begin };
      if (typeof argv === 'string') {
        if (this.#transaction === undefined) return { how: argv, at: begin };
        this.#server.log('warning', `Revert incomplete MULTI/EXEC transaction in AOF file ${this.#file}`);
        return { how: 'torn', at: this.#transaction.at };
      }
      this.#take(argv, begin);
    }
  }

  #take(argv: Bytes[], at: number): void {
    const name = asciiLower(argv[0] ?? '');
    if (name === 'multi') {
      this.#transaction ??= { at, queue: [] };
      return;
    }
    if (name === 'exec') {
      const queue = this.#transaction?.queue ?? [];
      this.#transaction = undefined;
      this.#server.unit(() => {
        for (const found of queue) this.#execute(found);
      });
      return;
    }
    const found = { command: this.#find(argv), argv };
    if (this.#transaction === undefined) this.#server.unit(() => this.#execute(found));
    else this.#transaction.queue.push(found);
  }

  #find(argv: readonly Bytes[]): Command<Client<Server>> {
    const server = this.#server;
    const unknown = () =>
      new AofError(`Unknown command '${argv[0]}' reading the append only file ${this.#file}`);
    const named = resolve(server, argv, true);
    if (named instanceof ReplyError) throw unknown();
    const command = checkWords(server, named, argv);
    if (!(command instanceof ReplyError)) return command;
    if (step(named, argv) === undefined && server.dialect.unknownInAof === 'the command') throw unknown();
    throw new AofError(
      `Error reading the append only file ${this.#file}, error: ${command.text.replace(/^ERR /, '')}`,
    );
  }

  #execute({ command, argv }: FoundCommand): void {
    const server = this.#server;
    try {
      const outcome = command.run(this.#client, argv);
      if (outcome instanceof ReplyError) this.#failed(command, outcome);
    } catch (error) {
      this.#failed(command, error instanceof ReplyError ? error : server.internalError(command, error));
    }
    server.effects.rewritten = undefined;
  }

  #failed({ fullName }: Command<Client<Server>>, { text }: ReplyError): void {
    const error = text === WRONGTYPE ? `-${text}` : text.replace(/^ERR /, '');
    this.#server.log(
      'warning',
      `== CRITICAL == This server is sending an error to its AOF-loading-client: '${error}' after processing the command '${fullName}'`,
    );
  }
}
