/** Measures the CPU time of requests on data of 10^3, 10^5 and 10^6 elements beside redis-server, to find cliffs. */
import { connect, type Socket } from 'node:net';
import { encodeRequest } from '../protocol/encode.ts';
import { oracleOf } from '../test/support/oracles.ts';
import { type Contestant, cpuOf, launch, startOurs, stop } from './contestants.ts';
import { cliffsOf, DATA, FIRST, SIZES } from './loads/cliffs.ts';
import { type Row, ratio } from './report.ts';

/** A row is measured until a server has used so much CPU time, in microseconds, or so many times. */
const ENOUGH = 100_000;
const MOST = 300;
/** Before that it runs so often, so that compiling its code is not measured: so much CPU time, or so many times. */
const WARM = 200_000;
const WARM_MOST = 1000;

/** How many elements one script builds. */
const BATCH = 5000;

/** How many of the worst rows are named. */
const WORST = 10;

const MARK = 'the-end-of-the-replies-of-a-row';

/** A connection that sends requests and waits for the last reply without reading the others. */
class Sender {
  readonly #socket: Socket;

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1').setNoDelay(true);
  }

  /** Sends requests in one write. Resolves to the beginning of the first reply. */
  send(requests: readonly (readonly string[])[]): Promise<string> {
    const end = `${MARK}\r\n`;
    return new Promise((resolve, reject) => {
      let [head, tail] = ['', ''];
      const hear = (chunk: Buffer): void => {
        if (head === '') head = chunk.toString('latin1', 0, 100);
        tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - end.length))).slice(-end.length);
        if (tail !== end) return;
        this.#socket.off('data', hear).off('error', reject);
        resolve(head);
      };
      this.#socket.on('data', hear).once('error', reject);
      this.#socket.write([...requests, ['ECHO', MARK]].map(encodeRequest).join(''), 'latin1');
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}

async function fill(sender: Sender, size: number): Promise<void> {
  await sender.send([['FLUSHALL'], ...FIRST.map((line) => line.split(' '))]);
  for (const [what, script] of DATA) {
    const text = `for i = ARGV[1], ARGV[2] do ${script} end`;
    for (let from = 1; from <= size; from += BATCH) {
      const range = [String(from), String(Math.min(size, from + BATCH - 1))];
      const reply = await sender.send([['EVAL', text, '0', ...range]]);
      if (reply.startsWith('-')) throw new Error(`${what}: ${reply}`);
    }
  }
}

/** CPU time of one request in microseconds. */
async function costOf(
  contestant: Contestant,
  sender: Sender,
  requests: readonly (readonly string[])[],
): Promise<number> {
  const reply = await sender.send(requests);
  if (reply.startsWith('-')) throw new Error(`${requests.join(' | ')}: ${reply}`);
  await repeat(contestant, sender, requests, WARM, WARM_MOST);
  return repeat(contestant, sender, requests, ENOUGH, MOST);
}

/**
 * Sends requests again and again. Returns the CPU time of one round in microseconds.
 * @param enough stops after so much CPU time, in microseconds
 * @param most stops after so many rounds
 */
async function repeat(
  contestant: Contestant,
  sender: Sender,
  requests: readonly (readonly string[])[],
  enough: number,
  most: number,
): Promise<number> {
  const before = cpuOf(contestant);
  let times = 0;
  while (times < most && cpuOf(contestant) - before < enough) {
    await sender.send(requests);
    times++;
  }
  return (cpuOf(contestant) - before) / times;
}

/**
 * Measures every row at every size, and names the worst on standard error.
 * @param sizes how many elements the data has, each in turn
 * @param wanted which rows, by their names
 */
export async function cliffs(
  sizes: readonly number[] = SIZES,
  wanted: (name: string) => boolean = () => true,
): Promise<Row[]> {
  const newest = oracleOf('redis-8.2');
  const program = newest ?? 'redis-server';
  const args = ['--save', '', '--appendonly', 'no'];
  const contestants = [
    await startOurs(),
    await launch('redis-server', program, (port) => ['--port', port, ...args]),
  ] as const;
  const senders = contestants.map(({ port }) => new Sender(port)) as [Sender, Sender];
  const rows: Row[] = [];
  try {
    for (const size of sizes) {
      for (const sender of senders) await fill(sender, size);
      for (const { command, requests } of cliffsOf(size)) {
        const name = `${command} of ${size}`;
        if (!wanted(name)) continue;
        // The system's redis-server may be older than the commands. Its refusal costs nothing to compare with.
        const [refusal = ''] = (await senders[1].send(requests)).split('\r\n');
        if (newest === undefined && refusal.startsWith('-')) {
          process.stderr.write(`${name}: not measured, because redis-server answers ${refusal}\n`);
          continue;
        }
        const ours = await costOf(contestants[0], senders[0], requests);
        const other = await costOf(contestants[1], senders[1], requests);
        rows.push({ name, ours, other, unit: 'µs of CPU', lessIsBetter: true });
        process.stderr.write(`${name}: ${(ours / other).toFixed(2)}\n`);
      }
    }
  } finally {
    for (const sender of senders) sender.close();
    await Promise.all(contestants.map(stop));
  }
  const worst = rows.toSorted((a, b) => (ratio(a) ?? 0) - (ratio(b) ?? 0)).slice(0, WORST);
  for (const row of worst)
    process.stderr.write(`worst: ${row.name}, ${(1 / (ratio(row) ?? 1)).toFixed(1)} times\n`);
  return rows;
}
