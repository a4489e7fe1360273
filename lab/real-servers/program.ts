/** A real server's process on this machine: started on a free port of 127.0.0.1, signalled, killed, and never left behind. */
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, join, sep } from 'node:path';

/** How much of what a server prints is kept for an error, in characters. */
const PRINTED = 4000;

/**
 * Waits until its input ends, which happens when this process dies in whatever way, and then kills the server. So even
 * a test runner that is killed leaves no server behind.
 */
const GUARD = 'trap "" INT TERM HUP; cat >/dev/null; kill -9 "$0" 2>/dev/null';

/** The full path of a program on PATH, or of a path that is given; undefined if it cannot be executed. */
export function findProgram(command: string): string | undefined {
  const isPath = isAbsolute(command) || command.includes(sep);
  const folders = isPath ? [''] : (process.env.PATH ?? '').split(delimiter);
  return folders
    .map((folder) => (folder === '' ? command : join(folder, command)))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** A TCP port that is free at the moment. Rejects with Node's error for an address that this machine lacks. */
export async function freePort(address = '127.0.0.1'): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, address, resolve);
  });
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** One server: its folder and, while it runs, its process. */
export class ServerProcess {
  /** The folder with the server's files. */
  readonly folder = mkdtempSync(join(tmpdir(), 'lostlock-node-'));
  /** True if the process that died last has kept nothing. */
  isWiped = false;
  readonly #path: string;
  #child: ChildProcess | undefined;
  #guard: ChildProcess | undefined;
  #printed = '';
  #ended: Promise<unknown> = Promise.resolve();
  readonly #kill = (): void => void this.#child?.kill('SIGKILL');

  /** @param path the program, which takes redis-server's arguments */
  constructor(path: string) {
    this.#path = path;
  }

  /** True while the process runs, paused or not. */
  get runs(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The end of what the process has printed. */
  get printed(): string {
    return this.#printed;
  }

  /** The id of the process; undefined before the first start. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts a process. `env` is added to this process' environment. */
  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): void {
    this.#printed = '';
    const child = spawn(this.#path, args, {
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    this.#child = child;
    const read = (chunk: Buffer): void => {
      this.#printed = (this.#printed + chunk.toString('latin1')).slice(-PRINTED);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    this.#ended = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', (error) => {
        this.#printed += error.message;
        resolve();
      });
    });
    if (child.pid === undefined) return;
    process.once('exit', this.#kill);
    const guard = spawn('sh', ['-c', GUARD, String(child.pid)], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    guard.once('error', () => {});
    guard.unref();
    this.#guard = guard;
  }

  /** Stops the process until `resume`. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  /** Continues the process. */
  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Kills the process as `kill -9` does. Resolves when it has ended. */
  async kill(): Promise<void> {
    this.isWiped = false;
    this.#guard?.kill('SIGKILL');
    this.#guard = undefined;
    process.off('exit', this.#kill);
    if (this.runs) this.#kill();
    await this.#ended;
  }

  /** Removes the server's files, except those of these names. */
  wipe(except: readonly string[] = []): void {
    for (const name of readdirSync(this.folder)) {
      if (!except.includes(name)) rmSync(join(this.folder, name), { recursive: true, force: true });
    }
    this.isWiped = true;
    mkdirSync(this.folder, { recursive: true });
  }

  /** Kills the process and removes its folder. */
  async remove(): Promise<void> {
    await this.kill();
    // A child of the killed server, such as a background save, may still put a file into it.
    await rm(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
  }
}
