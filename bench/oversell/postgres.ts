/** Starts a PostgreSQL server for the benchmark, and implements the part of its protocol that six statements need. */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BIN = '/usr/lib/postgresql/15/bin';

/** True when PostgreSQL is installed. */
export const hasPostgres = existsSync(join(BIN, 'initdb'));

/** A running server. */
export interface RunningPostgres {
  /** The directory of its unix socket. */
  readonly dir: string;
  stop(): Promise<void>;
}

/** Starts a server in a temporary directory, on a unix socket only. As root, it runs as the user `postgres`. */
export async function startPostgres(): Promise<RunningPostgres> {
  const dir = mkdtempSync(join(tmpdir(), 'lostlock-pg-'));
  chmodSync(dir, 0o777);
  const asUser = (program: string, args: string[]): [string, string[]] =>
    process.getuid?.() === 0 ? ['setpriv', userArgs(program, args)] : [program, args];
  const data = join(dir, 'data');
  const init = ['-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync', '-E', 'UTF8', '--locale=C'];
  execFileSync(...asUser(join(BIN, 'initdb'), init), { stdio: 'ignore', cwd: dir });
  const settings = ['listen_addresses=', 'fsync=off', 'max_connections=200'].flatMap((each) => ['-c', each]);
  const child = spawn(...asUser(join(BIN, 'postgres'), ['-D', data, '-k', dir, ...settings]), {
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd: dir,
  });
  await new Promise<void>((resolve, reject) => {
    let printed = '';
    child.stderr.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      if (printed.includes('ready to accept connections')) resolve();
    });
    child.once('exit', () => reject(new Error(printed)));
  });
  const stop = async (): Promise<void> => {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGINT');
    await gone;
    rmSync(dir, { recursive: true, force: true });
  };
  return { dir, stop };
}

function userArgs(program: string, args: string[]): string[] {
  return ['--reuid=postgres', '--regid=postgres', '--clear-groups', program, ...args];
}

/** A connection. Statements are sent as text, one after another. */
export class PostgresClient {
  readonly #socket: Socket;
  #input = Buffer.alloc(0);
  #rows: string[][] = [];
  #tag = '';
  #error: Error | undefined;
  #settle: (() => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', () => {});
  }

  static async connect(dir: string): Promise<PostgresClient> {
    const socket = connect(join(dir, '.s.PGSQL.5432'));
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    const client = new PostgresClient(socket);
    const parameters = Buffer.from('user\0postgres\0database\0postgres\0\0');
    const head = Buffer.alloc(8);
    head.writeInt32BE(parameters.length + 8, 0);
    head.writeInt32BE(196608, 4);
    const ready = client.#ready();
    socket.write(Buffer.concat([head, parameters]));
    await ready;
    return client;
  }

  /** Runs a statement. Returns its rows, and how many rows it changed. */
  async query(sql: string): Promise<{ rows: string[][]; count: number }> {
    this.#rows = [];
    this.#error = undefined;
    const text = Buffer.from(`${sql}\0`);
    const head = Buffer.alloc(5);
    head.write('Q', 0);
    head.writeInt32BE(text.length + 4, 1);
    const ready = this.#ready();
    this.#socket.write(Buffer.concat([head, text]));
    await ready;
    if (this.#error) throw this.#error;
    return { rows: this.#rows, count: Number(/\d+$/.exec(this.#tag)?.[0] ?? 0) };
  }

  close(): void {
    this.#socket.destroy();
  }

  #ready(): Promise<void> {
    return new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  #read(chunk: Buffer): void {
    this.#input = Buffer.concat([this.#input, chunk]);
    while (this.#input.length >= 5) {
      const length = this.#input.readInt32BE(1) + 1;
      if (this.#input.length < length) return;
      this.#message(String.fromCharCode(this.#input[0]!), this.#input.subarray(5, length));
      this.#input = this.#input.subarray(length);
    }
  }

  #message(kind: string, body: Buffer): void {
    if (kind === 'D') this.#rows.push(columns(body));
    else if (kind === 'C') this.#tag = body.toString('utf8', 0, body.length - 1);
    else if (kind === 'E') this.#error = new Error(body.toString('utf8').replaceAll('\0', ' '));
    else if (kind === 'Z') this.#settle?.();
  }
}

function columns(body: Buffer): string[] {
  const values: string[] = [];
  let at = 2;
  for (let left = body.readInt16BE(0); left > 0; left--) {
    const length = body.readInt32BE(at);
    values.push(body.toString('utf8', at + 4, at + 4 + Math.max(0, length)));
    at += 4 + Math.max(0, length);
  }
  return values;
}
