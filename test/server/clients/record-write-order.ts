/**
 * Records in what order redis-server writes to connections within one event, as strace sees it: run with the programs as
 * `npx tsx test/server/clients/record-write-order.ts redis-7.0=/usr/bin/redis-server …`. Writes test/golden/write-order.json.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { encodeRequest } from '../../../protocol/encode.ts';
import { splitInline } from '../../../protocol/inline.ts';
import { until } from '../../support/until.ts';
import { WRITE_ORDER_CASES, type WriteOrderCase } from './write-orders.ts';

const PAGE = 'test/golden/write-order.json';

/** How long a server gets to park a client, which it does not report. */
const PATIENCE_MS = 60;

class OpenClient {
  heard = '';
  readonly socket: Socket;

  constructor(path: string) {
    this.socket = connect(path).on('data', (chunk) => {
      this.heard += chunk.toString('latin1');
    });
  }

  send(...lines: string[]): void {
    this.socket.write(lines.map((line) => encodeRequest(splitInline(line) ?? [])).join(''), 'latin1');
  }

  async ask(line: string): Promise<string> {
    this.heard = '';
    this.send(line);
    await until(() => this.heard.endsWith('\r\n'), { what: line });
    return this.heard;
  }
}

async function play({ setup, before, act }: WriteOrderCase, path: string, trace: string): Promise<string[]> {
  const admin = new OpenClient(path);
  await admin.ask('CLIENT SETNAME admin');
  await admin.ask('FLUSHALL');
  for (const line of setup) await admin.ask(line);
  const names = ['caller', ...new Set(before.map(([who]) => who).filter((who) => who !== 'caller'))];
  const clients = new Map<string, OpenClient>();
  for (const name of names) {
    const client = new OpenClient(path);
    clients.set(name, client);
    await client.ask(`CLIENT SETNAME ${name}`);
  }
  for (const [who, line] of before) {
    clients.get(who)!.send(line);
    await wait(PATIENCE_MS / 2);
    if (!line.startsWith('PSYNC')) continue;
    clients.get(who)!.send('REPLCONF ACK 0');
    await until(async () => (await admin.ask('INFO replication')).includes('state=online'));
  }
  const list = await admin.ask('CLIENT LIST');
  const owners = new Map(
    [...list.matchAll(/ fd=(\d+) name=(\w+)/g)].map(([, fd = '', name = '']) => [fd, name]),
  );
  await wait(PATIENCE_MS);
  const from = statSync(trace).size;
  clients.get('caller')!.send(...act);
  const count = (): number => written(trace, from, owners).filter((name) => name === 'admin').length;
  for (let turn = 0; turn < 3; turn++) await admin.ask('PING');
  await until(() => count() >= 3, { what: 'the trace' });
  const order = new Set(written(trace, from, owners));
  for (const client of [admin, ...clients.values()]) client.socket.destroy();
  order.delete('admin');
  return [...order];
}

/** The connections that the server has written to since the trace had this length. */
function written(trace: string, from: number, owners: ReadonlyMap<string, string>): string[] {
  const lines = readFileSync(trace, 'latin1').slice(from);
  const calls = [...lines.matchAll(/\b(?:write|writev|sendto)\((\d+),/g)];
  return calls.map(([, fd = '']) => owners.get(fd)).filter((name) => name !== undefined);
}

async function record(program: string): Promise<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'lostlock-order-'));
  const [path, trace] = [join(folder, 'socket'), join(folder, 'trace')];
  const settings = '--port 0 --notify-keyspace-events KEA --repl-diskless-sync-delay 0 --io-threads 1 --save';
  const server = spawn(program, ['--unixsocket', path, ...settings.split(' '), ''], {
    cwd: folder,
    stdio: 'ignore',
  });
  let tracer: ChildProcess | undefined;
  try {
    await until(() => statSync(path, { throwIfNoEntry: false }), { what: program });
    const calls = 'trace=write,writev,sendto';
    tracer = spawn('strace', ['-f', '-e', calls, '-s', '1', '-o', trace, '-p', String(server.pid)], {
      stdio: 'ignore',
    });
    await until(() => statSync(trace, { throwIfNoEntry: false }), { what: 'strace' });
    await wait(500);
    const orders: Record<string, string> = {};
    for (const each of WRITE_ORDER_CASES) orders[each.name] = (await play(each, path, trace)).join(' ');
    return orders;
  } finally {
    tracer?.kill();
    server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

const recorded: Record<string, Record<string, string>> = {};
for (const word of process.argv.slice(2)) {
  const [dialect = '', program = ''] = word.split('=');
  recorded[dialect] = await record(program);
}
writeFileSync(PAGE, `${JSON.stringify(recorded, undefined, 2)}\n`);
process.exit();
