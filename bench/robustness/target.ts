/** The server under attack: lostlock's command line in its own process, and its memory as the kernel reports it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../../cli/cli.ts', import.meta.url));

/** A server process. */
export class Target {
  readonly port: number;
  readonly #child: ChildProcess;
  /** What it printed to standard error. */
  readonly errors: string[];

  private constructor(child: ChildProcess, port: number, errors: string[]) {
    this.#child = child;
    this.port = port;
    this.errors = errors;
  }

  /** Starts a server with these flags. Rejects with its output when it does not start. */
  static start(...flags: string[]): Promise<Target> {
    return Target.startWith([], flags);
  }

  /** Like `start`, with additional flags for Node. */
  static async startWith(node: readonly string[], flags: readonly string[]): Promise<Target> {
    const args = [...node, '--import', 'tsx', CLI, '--port', '0', '--exit-with-parent'];
    const child = spawn(process.execPath, [...args, ...flags], { stdio: ['pipe', 'pipe', 'pipe'] });
    const errors: string[] = [];
    const note = (line: string): void => void errors.push(line);
    createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', note);
    const printed = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    const port = await new Promise<number | undefined>((resolve) => {
      printed.on('line', (line) => {
        const [, ready] = / \* Ready to accept connections tcp (\d+)$/.exec(line) ?? [];
        if (ready !== undefined) resolve(Number(ready));
        else if (/^\d+:[MS] .{24} # /.test(line)) note(line);
      });
      printed.on('close', () => resolve(undefined));
    });
    if (port === undefined) throw new Error(`the server did not start: ${errors.join('\n')}`);
    return new Target(child, port, errors);
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resident memory in MB: the current value and the peak. */
  get memory(): { now: number; peak: number } {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'latin1');
    const field = (name: string): number =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
    return { now: field('VmRSS'), peak: field('VmHWM') };
  }

  /** A raw connection that ignores errors. */
  async dial(): Promise<Socket> {
    const socket = connect(this.port, '127.0.0.1');
    socket.on('error', () => socket.destroy());
    await once(socket, 'connect');
    return socket;
  }

  /** Sends one inline command on a new connection, and returns the first bytes of the reply. */
  async ask(line: string): Promise<string> {
    const socket = await this.dial();
    socket.write(`${line}\r\n`, 'latin1');
    const [reply] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return reply.toString('latin1');
  }

  async stop(): Promise<void> {
    if (!this.alive) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}
