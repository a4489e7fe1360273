/** The host on Node: real clock, timers, randomness, sockets and files. */
import {
  close,
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  open,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { connect as dial, isIP, type Socket } from 'node:net';
import { arch, release, totalmem, type } from 'node:os';
import { dirname, join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { type Bytes, fromBuffer, fromText, type Millis, toBuffer } from '../../protocol/bytes.ts';
import { entered } from './directory.ts';
import { processHeap } from './heap.ts';
import type {
  Clock,
  Connection,
  Disk,
  Host,
  PendingConnection,
  ProcessFacts,
  Receiver,
  Timer,
} from './host.ts';
import { realMicros, realNow, realRandom, realSoon } from './real-time.ts';
import { stalledWithin, watchedDelay } from './stalls.ts';
import { SocketConnection } from './tcp.ts';
import { nodeTls } from './tls.ts';

/** A timer's longest delay in milliseconds. Node fires longer ones at once, so they are split into steps. */
const LONGEST_DELAY = 2 ** 31 - 1;

/** From so many numbers a secret one is drawn. */
const SECRETS = 2 ** 48 - 1;

/** How long expired keys are removed in one turn. Redis may take 25 ms. */
const EXPIRY_MICROS = 1000;

/**
 * Real time, even if a test has installed fake timers. Its timers do not keep the process alive; listening sockets do.
 */
export const nodeClock: Clock = {
  now: realNow,
  micros: realMicros,
  at(deadline: Millis, task: () => void): Timer {
    let timer: Timer;
    const arm = (): void => {
      const left = deadline - realNow();
      timer = watchedDelay(
        () => (realNow() >= deadline ? task() : arm()),
        Math.max(1, Math.min(left, LONGEST_DELAY)),
      );
    };
    arm();
    return { cancel: () => timer.cancel() };
  },
  after: (delay, task) => watchedDelay(task, delay),
  soon: realSoon,
};

/** A file that is being appended to. */
interface OpenFile {
  readonly descriptor: number;
  readonly path: string;
  /** In bytes. */
  length: number;
}

/** Files in one directory. A file that was appended to stays open until it is released, renamed or removed. */
class NodeDisk implements Disk {
  #directory: string;
  readonly #open = new Map<string, OpenFile>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  enter(directory: Bytes): Bytes {
    const path = entered(fromText(this.#directory), directory);
    this.#directory = toBuffer(path).toString();
    return path;
  }

  read(name: string): Bytes | undefined {
    try {
      return fromBuffer(readFileSync(join(this.#directory, name)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  write(name: string, bytes: Bytes): void {
    const path = join(this.#directory, name);
    writeFileSync(`${path}.new`, toBuffer(bytes));
    renameSync(`${path}.new`, path);
  }

  append(name: string, bytes: Bytes): void {
    const file = this.#opened(name);
    const data = toBuffer(bytes);
    try {
      for (let at = 0; at < data.length; ) at += writeSync(file.descriptor, data, at);
      file.length += data.length;
    } catch (error) {
      // All of the bytes are appended or none.
      ftruncateSync(file.descriptor, file.length);
      throw error;
    }
  }

  #opened(name: string): OpenFile {
    let file = this.#open.get(name);
    if (file === undefined) {
      const path = join(this.#directory, name);
      const descriptor = openSync(path, 'a');
      file = { descriptor, path, length: fstatSync(descriptor).size };
      this.#open.set(name, file);
    }
    return file;
  }

  sync(name: string): void {
    const open = this.#open.get(name);
    if (open === undefined) this.#syncPath(name);
    else fdatasyncSync(open.descriptor);
  }

  #syncPath(name: string): void {
    const file = openSync(join(this.#directory, name), 'r');
    fsyncSync(file);
    closeSync(file);
  }

  syncLater(name: string, done: (error?: unknown) => void): void {
    // The file may be released meanwhile, and its descriptor used for another file.
    const path = this.#open.get(name)?.path ?? join(this.#directory, name);
    open(path, 'r+', (failed, descriptor) => {
      if (failed !== null) return done(failed);
      fdatasync(descriptor, (error) => close(descriptor, () => done(error ?? undefined)));
    });
  }

  size(name: string): number | undefined {
    return statSync(join(this.#directory, name), { throwIfNoEntry: false })?.size;
  }

  truncate(name: string, length: number): void {
    this.release(name);
    truncateSync(join(this.#directory, name), length);
    this.#syncPath(name);
  }

  rename(from: string, to: string): void {
    this.release(from);
    this.release(to);
    renameSync(join(this.#directory, from), join(this.#directory, to));
    this.#syncPath(dirname(to));
  }

  remove(name: string): void {
    this.release(name);
    rmSync(join(this.#directory, name), { force: true });
  }

  release(name: string): void {
    const open = this.#open.get(name);
    if (open === undefined) return;
    this.#open.delete(name);
    closeSync(open.descriptor);
  }

  makeFolder(name: string): void {
    mkdirSync(join(this.#directory, name), { recursive: true });
  }
}

let known: ProcessFacts | undefined;

/** What the system says; undefined where a permission is missing, as on Deno without --allow-sys. */
function allowed<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

/** Asks once: on Linux, the size of the memory is read from a file. */
function processFacts(): ProcessFacts {
  return (known ??= {
    id: process.pid,
    executable: fromText(process.execPath),
    system: fromText(`${type()} ${allowed(release) ?? 'unknown'} ${arch()}`),
    memory: allowed(totalmem) ?? 0,
  });
}

/**
 * Connects a dialled socket once `event` reports that it is open.
 * @param again dials without a source address, when this machine does not have the one that was asked for
 */
function whenOpen(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  receiver: Receiver,
  opened: (connection: Connection) => void,
  again?: () => PendingConnection,
): PendingConnection {
  let second: PendingConnection | undefined;
  // A replica's link does not keep the process alive; listening sockets do.
  socket.unref();
  let isPending = true;
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (isPending && error.code === 'EADDRNOTAVAIL') second = again?.();
    if (isPending && second === undefined) receiver.closed();
    isPending = false;
  });
  socket.once(event, () => {
    if (!isPending) return;
    isPending = false;
    const connection = new SocketConnection(socket);
    opened(connection);
    connection.attach(receiver);
  });
  return {
    cancel() {
      second?.cancel();
      if (isPending) socket.destroy();
      isPending = false;
    },
  };
}

/**
 * Creates a host on Node.
 * @param directory for files
 * @param clock the real one, or one driven by a test's fake timers
 * @param tls the certificates for a link to a primary, if there are any
 * @param source the address from which to dial; '' lets the system choose
 */
export function nodeHost(
  directory = '.',
  clock: Clock = nodeClock,
  tls?: ConnectionOptions,
  source: () => string = () => '',
): Host {
  /** Dials from the source address, or without one where this machine does not have it. */
  const dialled = (
    open: (from: { localAddress?: string }) => Socket,
    event: 'connect' | 'secureConnect',
    receiver: Receiver,
    opened: (it: Connection) => void,
  ): PendingConnection => {
    const plain = (): PendingConnection => whenOpen(open({}), event, receiver, opened);
    const localAddress = source();
    if (isIP(localAddress) === 0) return plain();
    return whenOpen(open({ localAddress }), event, receiver, opened, plain);
  };
  return {
    clock,
    disk: new NodeDisk(directory),
    expiryMicros: EXPIRY_MICROS,
    stalledWithin,
    heap: processHeap,
    facts: processFacts,
    processorTime: () => process.cpuUsage(),
    random: realRandom,
    secret: () => process.getBuiltinModule('node:crypto').randomInt(SECRETS) / SECRETS,
    connect(
      host: string,
      port: number,
      receiver: Receiver,
      opened: (it: Connection) => void,
    ): PendingConnection {
      const open = (from: object): Socket =>
        dial({ host, port, noDelay: true, allowHalfOpen: true, ...from });
      return dialled(open, 'connect', receiver, opened);
    },
    ...(tls !== undefined && {
      connectWithTls(
        host: string,
        port: number,
        receiver: Receiver,
        opened: (it: Connection) => void,
      ): PendingConnection {
        const open = (from: object): Socket =>
          nodeTls()
            .connect({ ...tls, host, port, ...from })
            .setNoDelay(true);
        return dialled(open, 'secureConnect', receiver, opened);
      },
    }),
  };
}
