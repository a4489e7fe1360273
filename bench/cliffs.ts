/** Measures the CPU time of requests on data of 10^3, 10^5 and 10^6 elements beside redis-server, to find cliffs. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeRequest } from '../protocol/encode.ts';
import { oracleOf } from '../test/support/oracles.ts';
import { until } from '../test/support/until.ts';
import { type Contestant, cpuOf, launch, median, startOurs, stop } from './contestants.ts';
import { CLUSTER, type Cliff, cliffsOf, DATA, FIRST, SIZES } from './loads/cliffs.ts';
import { PLAIN } from './loads/plain.ts';
import { type Row, ratio } from './report.ts';

/**
 * How a row is measured, so that neither the load of the machine nor what every request costs decides:
 * - The figure is the CPU time of each server's process, with all its threads, not the time that passes.
 * - So many copies of the requests go in one write that the write, the read and the event loop take a small part
 *   ({@link COPIES}, {@link BATCH_COST}). What one request costs without data is not a cliff.
 * - Both servers are warmed up on the row, so that what is measured is compiled ({@link WARM}).
 * - The servers take turns, {@link ROUNDS} times; the figure is the median. What slows one of them for a while, such as
 *   another process that empties the caches, slows the other too.
 */
const ROUNDS = 5;
/** A turn takes at least so much CPU time, in microseconds, and at least one write. */
const TURN = 8_000;
/** CPU time in microseconds in which each server is warmed up, and the most writes for that. */
const WARM = 150_000;
const WARM_MOST = 300;
/**
 * Copies of the requests in one write: at most so many, of at most so much CPU time together, in microseconds, and with so
 * many bytes of replies.
 */
const COPIES = 200;
const BATCH_COST = 5000;
const BATCH_BYTES = 500_000;

/** The dialect of the server to compare with: the default one. */
const NEWEST = 'redis-8.2';

/** How many elements one script builds. */
const BATCH = 5000;

/** How many of the worst rows are named, of each size. */
const WORST = 10;
/** No row may cost more than so many times the CPU time of redis-server. */
const LIMIT = 5;

/** How the name of a row of a size ends. */
function sizeNamed(size: number): string {
  return ` of 10^${Math.log10(size)}`;
}

const MARK = 'the-end-of-the-replies-of-a-row';

/** A connection that sends requests and waits for the last reply without reading the others. */
class Sender {
  readonly #socket: Socket;

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1').setNoDelay(true);
  }

  /** Sends encoded requests in one write. Resolves to the beginning of the first reply, and the size of all in bytes. */
  write(requests: Buffer): Promise<{ head: string; bytes: number }> {
    const end = `${MARK}\r\n`;
    return new Promise((resolve, reject) => {
      let [head, tail, bytes] = ['', '', 0];
      const hear = (chunk: Buffer): void => {
        bytes += chunk.length;
        if (head === '') head = chunk.toString('latin1', 0, 100);
        tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - end.length))).slice(-end.length);
        if (tail !== end) return;
        this.#socket.off('data', hear).off('error', reject);
        resolve({ head, bytes });
      };
      this.#socket.on('data', hear).once('error', reject);
      this.#socket.write(requests);
    });
  }

  /** Sends requests. Resolves to the beginning of the first reply. */
  async send(requests: readonly (readonly string[])[]): Promise<string> {
    return (await this.write(encoded(requests, 1))).head;
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** So many copies of the requests as one write, and one that marks the end of the replies. */
function encoded(requests: readonly (readonly string[])[], copies: number): Buffer {
  const once = requests.map(encodeRequest).join('');
  return Buffer.from(once.repeat(copies) + encodeRequest(['ECHO', MARK]), 'latin1');
}

/** One of the two servers, with the connection to it. */
interface Party {
  readonly server: Contestant;
  readonly sender: Sender;
  /** The id of a node of a cluster. */
  readonly id: string;
}

/** Ours and redis-server. */
type Pair = readonly [ours: Party, other: Party];

/** The CPU time of a row's requests in microseconds, once for each copy of them. */
class Measured {
  readonly figures: number[] = [];
  readonly #party: Party;
  readonly #copies: number;
  readonly #requests: Buffer;

  constructor(party: Party, requests: readonly (readonly string[])[], copies: number) {
    this.#party = party;
    this.#copies = copies;
    this.#requests = encoded(requests, copies);
  }

  /** Sends the requests until the server has used so much CPU time, in microseconds, or so many times. Returns the time of one copy. */
  async repeat(enough: number, most = Number.POSITIVE_INFINITY): Promise<number> {
    const { server, sender } = this.#party;
    const before = cpuOf(server);
    let [times, taken] = [0, 0];
    while (times < most && taken < enough) {
      await sender.write(this.#requests);
      times++;
      taken = cpuOf(server) - before;
    }
    return taken / times / this.#copies;
  }

  async turn(): Promise<void> {
    this.figures.push(await this.repeat(TURN));
  }
}

/** Fills a server with the data of rows. Resolves to its error if it refuses that. */
async function fill({ sender }: Party, data: string, size: number): Promise<string | undefined> {
  await sender.send([['FLUSHALL'], ...FIRST.map((line) => line.split(' '))]);
  const text = `for i = ARGV[1], ARGV[2] do ${DATA[data]} end`;
  for (let from = 1; from <= size; from += BATCH) {
    const range = [String(from), String(Math.min(size, from + BATCH - 1))];
    const reply = await sender.send([['EVAL', text, '0', ...range]]);
    if (reply.startsWith('-')) return reply.split('\r\n')[0];
  }
  return undefined;
}

/** Fills both servers. False when the system's redis-server is older than a command that this takes. */
async function fillBoth([ours, other]: Pair, data: string, size: number): Promise<boolean> {
  const refusal = await fill(other, data, size);
  if (refusal !== undefined && oracleOf(NEWEST) === undefined) {
    process.stderr.write(`${data}: not measured, because redis-server answers ${refusal}\n`);
    return false;
  }
  const wrong = refusal ?? (await fill(ours, data, size));
  if (wrong !== undefined) throw new Error(`${data}: ${wrong}`);
  return true;
}

/** The requests of a row for a node, which has its own id. */
function requestsFor({ id }: Party, { requests }: Cliff): string[][] {
  return requests.map((words) => words.map((word) => (word === 'ME' ? id : word)));
}

/** How many copies of the requests go in one write. They are sent for that, after they were sent once. */
async function copiesOf(party: Party, requests: readonly (readonly string[])[]): Promise<number> {
  const once = encoded(requests, 1);
  const { head, bytes } = await party.sender.write(once);
  if (head.startsWith('-')) throw new Error(`${requests.slice(0, 5).join(' | ')}: ${head}`);
  const cost = await new Measured(party, requests, 1).repeat(TURN, 20);
  const most = Math.min(COPIES, BATCH_COST / cost, BATCH_BYTES / Math.max(bytes, once.length));
  return Math.max(1, Math.floor(most));
}

/** CPU time of a row's requests in microseconds, here and on redis-server. Both get the same writes. */
async function costsOf(row: Cliff, [ours, other]: Pair): Promise<[ours: number, other: number]> {
  const copies = await copiesOf(ours, requestsFor(ours, row));
  const both = [ours, other].map((party) => new Measured(party, requestsFor(party, row), copies));
  for (const each of both) await each.repeat(WARM, WARM_MOST);
  for (let round = 0; round < ROUNDS; round++) for (const each of both) await each.turn();
  const [mine = Number.NaN, theirs = Number.NaN] = both.map(({ figures }) => median(figures));
  return [mine, theirs];
}

async function partyOf(server: Contestant): Promise<Party> {
  const sender = new Sender(server.port);
  const [, id = ''] = (await sender.send([['CLUSTER', 'MYID']])).split('\r\n');
  return { server, sender, id };
}

/** Starts both servers with the same options. Files go into a folder for each. */
async function startBoth(program: string, folder: string, options: readonly string[] = []): Promise<Pair> {
  const args = (who: string): string[] => {
    const dir = join(folder, who);
    mkdirSync(dir, { recursive: true });
    return ['--dir', dir, '--save', '', '--appendonly', 'no', ...options];
  };
  const ours = await startOurs(undefined, args('ours'));
  const other = await launch('redis-server', program, (port) => ['--port', port, ...args('other')]);
  return [await partyOf(ours), await partyOf(other)];
}

/** A node of a cluster of one node, which has all slots. */
async function startCluster(program: string, folder: string): Promise<Pair> {
  const pair = await startBoth(program, folder, ['--cluster-enabled', 'yes']);
  for (const { sender } of pair) {
    await sender.send([['CLUSTER', 'ADDSLOTSRANGE', '0', '16383']]);
    const isUp = async (): Promise<boolean> => !(await sender.send([['SET', 'k', '1']])).startsWith('-');
    await until(isUp, { what: 'a cluster of one node', limitMs: 60_000 });
  }
  return pair;
}

/** A measured row, with the time of plain JavaScript in microseconds if that was measured. */
interface MeasuredRow extends Row {
  readonly plain: number | undefined;
}

/** How many times the CPU time of redis-server a row takes. */
function timesOf(row: Row): number {
  return 1 / (ratio(row) ?? 1);
}

/** The CPU time of a loop in plain JavaScript over data of the same size, in microseconds; undefined if there is none for the row. */
function plainCost({ form }: Cliff, size: number): number | undefined {
  const make = PLAIN.find(([forms]) => forms.test(form))?.[1];
  if (make === undefined) return undefined;
  const loop = make(size);
  const repeat = (enough: number): number => {
    const before = process.cpuUsage();
    for (let times = 1; ; times++) {
      loop();
      const { user, system } = process.cpuUsage(before);
      if (user + system >= enough) return (user + system) / times;
    }
  };
  repeat(WARM);
  return median(Array.from({ length: ROUNDS }, () => repeat(TURN)));
}

/** Says on standard error which rows are the worst of each size, and which are above {@link LIMIT}. */
function tellWorst(rows: readonly MeasuredRow[], sizes: readonly number[]): void {
  const plainTimes = ({ plain, other }: MeasuredRow): number => (plain ?? 0) / (other ?? 1);
  const line = (row: MeasuredRow): string => {
    const plain = row.plain === undefined ? '' : ` (plain JavaScript: ${plainTimes(row).toFixed(1)} times)`;
    return `  ${timesOf(row).toFixed(1)} times: ${row.name}${plain}\n`;
  };
  for (const size of sizes) {
    const ofSize = rows.filter(({ name }) => name.endsWith(sizeNamed(size)));
    const worst = ofSize.toSorted((a, b) => timesOf(b) - timesOf(a)).slice(0, WORST);
    if (worst.length === 0) continue;
    process.stderr.write(
      `The worst of ${ofSize.length} rows${sizeNamed(size)}:\n${worst.map(line).join('')}`,
    );
  }
  const above = rows.filter((row) => timesOf(row) > LIMIT && plainTimes(row) <= LIMIT);
  process.stderr.write(
    `Above ${LIMIT} times, where plain JavaScript is not: ${above.length} rows\n${above.map(line).join('')}`,
  );
}

/** The name of a row in the table, which separates its columns by |. */
function nameOf({ form }: Cliff, size: number): string {
  return `${form.replaceAll('|', '·')}${sizeNamed(size)}`;
}

/** Measures rows that need the same data. */
async function measure(rows: readonly Cliff[], size: number, pair: Pair): Promise<MeasuredRow[]> {
  const measured: MeasuredRow[] = [];
  for (const row of rows) {
    const name = nameOf(row, size);
    // The system's redis-server may be older than the commands. Its refusal costs nothing to compare with.
    const [refusal = ''] = (await pair[1].sender.send(requestsFor(pair[1], row))).split('\r\n');
    if (oracleOf(NEWEST) === undefined && refusal.startsWith('-')) {
      process.stderr.write(`${name}: not measured, because redis-server answers ${refusal}\n`);
      continue;
    }
    const [ours, other] = await costsOf(row, pair);
    const plain = ours > LIMIT * other ? plainCost(row, size) : undefined;
    const beside = plain === undefined ? '' : ` (plain JavaScript: ${plain.toFixed(1)})`;
    measured.push({ name, ours, other, unit: `µs of CPU${beside}`, lessIsBetter: true, plain });
    const figures = `${ours.toFixed(2)} / ${other.toFixed(2)} µs`;
    process.stderr.write(`${(ours / other).toFixed(2)} ${name} (${figures})\n`);
  }
  return measured;
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
  const program = oracleOf(NEWEST) ?? 'redis-server';
  const folder = mkdtempSync(join(tmpdir(), 'lostlock-cliffs-'));
  const alone = await startBoth(program, join(folder, 'alone'));
  const inCluster = await startCluster(program, join(folder, 'in a cluster'));
  const rows: MeasuredRow[] = [];
  try {
    for (const size of sizes) {
      const chosen = cliffsOf(size).filter((row) => wanted(nameOf(row, size)));
      for (const data of Object.keys(DATA)) {
        const ofData = chosen.filter((row) => row.data === data);
        if (ofData.length === 0) continue;
        const pair = data === CLUSTER ? inCluster : alone;
        if (await fillBoth(pair, data, size)) rows.push(...(await measure(ofData, size, pair)));
        for (const { sender } of pair) await sender.send([['FLUSHALL']]);
      }
    }
  } finally {
    for (const { sender, server } of [...alone, ...inCluster]) {
      sender.close();
      await stop(server);
    }
    rmSync(folder, { recursive: true });
  }
  tellWorst(rows, sizes);
  return rows;
}
