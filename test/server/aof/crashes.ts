/**
 * Kills a server with an append-only file again and again under load (kill -9), and checks after each restart that it has
 * every write that it had acknowledged.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { RawClient } from '../../support/raw-client.ts';
import { type RawReply, request } from '../../support/reply-text.ts';
import { until } from '../../support/until.ts';

/** What a run does. */
export interface CrashPlan {
  readonly kills: number;
  readonly seed: number;
  readonly appendfsync: 'always' | 'everysec' | 'no';
  /** Called after each restart. */
  readonly report?: (kill: number, acknowledged: number) => void;
}

/** What a run found. */
export interface CrashReport {
  /** The number of acknowledged writes of all lives. */
  readonly acknowledged: number;
  /** Each acknowledged write that a restart had lost, and each state that no sequence of its writes explains. */
  readonly lost: string[];
}

const CLIENTS = 4;
/** Requests that a client has on the way. */
const PIPELINE = 8;
/** The largest number of acknowledgements in one life. */
const LIFE = 600;

/** A linear congruential generator: the same numbers for the same seed. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function numbersOf([, value]: RawReply): number[] {
  if (!Array.isArray(value)) throw new Error('the reply is no list');
  return value.map(([, element]: RawReply) => Number(element));
}

/** A client that writes numbers to keys of its own: a string, a list, or both in a transaction. */
class Writer {
  readonly text: string;
  readonly list: string;
  sent = 0;
  acknowledged = 0;

  constructor(name: string) {
    this.text = `text:${name}`;
    this.list = `list:${name}`;
  }

  /** The request of a write, as RESP. Write 1 and every third after it set the string, the next ones the list, the others both. */
  #write(number: number): string {
    const set = request('SET', this.text, String(number));
    const push = request('RPUSH', this.list, String(number));
    if (number % 3 === 1) return set;
    return number % 3 === 2 ? push : request('MULTI') + set + push + request('EXEC');
  }

  /** Writes until the connection ends. Calls `noted` for each acknowledgement. */
  async write(port: number, noted: () => void): Promise<void> {
    const client = await RawClient.connect({ port });
    try {
      for (;;) {
        for (; this.sent < this.acknowledged + PIPELINE; this.sent++) {
          await client.send(this.#write(this.sent + 1));
        }
        const replies = (this.acknowledged + 1) % 3 === 0 ? 4 : 1;
        for (let i = 0; i < replies; i++) await client.read();
        this.acknowledged++;
        noted();
      }
    } catch {
      client.close(); // The server was killed.
    }
  }

  /** Compares what the server has with what it acknowledged. Returns what is wrong; undefined if nothing is. */
  async check(client: RawClient): Promise<string | undefined> {
    await client.send(request('GET', this.text) + request('LRANGE', this.list, '0', '-1'));
    const text = Number((await client.read()).value[1] ?? 0);
    const list = numbersOf((await client.read()).value);
    const numbers = Array.from({ length: this.sent }, (_, at) => at + 1);
    for (let last = this.acknowledged; last <= this.sent; last++) {
      const texts = numbers.filter((number) => number <= last && number % 3 !== 2);
      const lists = numbers.filter((number) => number <= last && number % 3 !== 1);
      if (text === (texts.at(-1) ?? 0) && list.join() === lists.join()) return undefined;
    }
    return `${this.text}: ${this.acknowledged} of ${this.sent} writes were acknowledged, and there are ${text} and ${list.length} elements up to ${list.at(-1)}`;
  }
}

async function start(folder: string, appendfsync: string): Promise<{ child: ChildProcess; port: number }> {
  const flags = ['--loglevel', 'warning', '--auto-aof-rewrite-min-size', '8kb'];
  const [portFile, command] = storingServer(folder, appendfsync, flags);
  const child = spawn(process.execPath, command, { stdio: 'inherit' });
  return { child, port: await portOf(child, portFile) };
}

/** The file to which a server with an append-only file in the folder writes its port, and the arguments of Node that start it. */
export function storingServer(
  folder: string,
  appendfsync: string,
  flags: readonly string[],
): [string, string[]] {
  const portFile = join(folder, 'port');
  rmSync(portFile, { force: true });
  const own = ['--port', '0', '--port-file', portFile, '--dir', folder, '--save', ''];
  const storing = ['--appendonly', 'yes', '--appendfsync', appendfsync];
  return [portFile, ['dist/cli.js', ...own, ...storing, ...flags]];
}

/** Resolves with the port that a server has written to the file. Rejects when its process ends instead. */
export async function portOf(child: ChildProcess, portFile: string): Promise<number> {
  const ready = (): boolean => existsSync(portFile) && readFileSync(portFile, 'utf8').endsWith('\n');
  await until(() => child.exitCode !== null || ready(), { what: 'the start', limitMs: 60_000 });
  if (child.exitCode !== null) throw new Error('the server does not start');
  return Number(readFileSync(portFile, 'utf8'));
}

/** Runs the plan on a folder of its own, which is kept if a write was lost. `dist/` must be built. */
export async function crash({ kills, seed, appendfsync, report }: CrashPlan): Promise<CrashReport> {
  const folder = mkdtempSync(join(tmpdir(), 'lostlock-crash-'));
  const below = dice(seed);
  const writers: Writer[] = [];
  const lost: string[] = [];
  let acknowledged = 0;
  for (let kill = 0; kill <= kills; kill++) {
    const { child, port } = await start(folder, appendfsync);
    const exited = once(child, 'exit');
    try {
      const client = await RawClient.connect({ port });
      for (const writer of writers) {
        const wrong = await writer.check(client);
        if (wrong !== undefined) lost.push(`after kill ${kill}: ${wrong}`);
      }
      report?.(kill, acknowledged);
      if (kill < kills && lost.length === 0) {
        const life = Array.from({ length: CLIENTS }, (_, at) => new Writer(`${kill}:${at}`));
        writers.push(...life);
        const [rewriteAt, endAt] = [below(LIFE), 1 + below(LIFE)];
        let noted = 0;
        const ended = new Promise<void>((resolve) => {
          const note = (): void => {
            if (++noted === rewriteAt) void client.send(request('BGREWRITEAOF'));
            if (noted === endAt) resolve();
          };
          void Promise.all(life.map((writer) => writer.write(port, note))).then(() => resolve());
        });
        await ended;
        await wait(below(20) / 4);
        child.kill('SIGKILL');
        await exited;
        await until(() => life.every((writer) => writer.sent >= writer.acknowledged));
        acknowledged += life.reduce((sum, writer) => sum + writer.acknowledged, 0);
      }
      client.close();
    } finally {
      child.kill('SIGKILL');
      await exited;
    }
    if (lost.length > 0) break;
  }
  if (lost.length === 0) rmSync(folder, { recursive: true, force: true });
  else lost.push(`the files are in ${folder}`);
  return { acknowledged, lost };
}
