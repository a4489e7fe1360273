/** Measures what many connections wait for, beside redis-server: messages, elements of a list, transactions, expiry. */
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { encodeRequest } from '../protocol/encode.ts';
import { type Contestant, cpuOf, median, spreadOf, startOurs, startReal, stop } from './contestants.ts';
import { startBare } from './platform/index.ts';
import type { Row } from './report.ts';

/** One measurement: how many steps a second, and the server's CPU time per step in microseconds. */
interface Measured {
  readonly rate: number;
  readonly cpu: number;
}

/** A connection that counts what it receives. */
class Line {
  readonly socket: Socket;
  received = 0;
  #wanted = 0;
  #wake: () => void = () => {};

  constructor(port: number) {
    this.socket = createConnection(port, '127.0.0.1').setNoDelay();
    this.socket.on('error', () => {}); // The server's end ends the measurement too.
    this.socket.on('data', ({ length }) => {
      this.received += length;
      if (this.received >= this.#wanted) this.#wake();
    });
  }

  /** Sends requests, and resolves when as many bytes have been received in all. */
  async send(requests: string, bytes: number): Promise<void> {
    this.#wanted = this.received + bytes;
    const received = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.socket.write(requests);
    await received;
  }
}

async function lines(port: number, count: number): Promise<Line[]> {
  const all = Array.from({ length: count }, () => new Line(port));
  await Promise.all(all.map(({ socket }) => once(socket, 'connect')));
  return all;
}

function close(all: readonly Line[]): void {
  for (const { socket } of all) socket.destroy();
}

async function timed(contestant: Contestant, steps: number, work: () => Promise<void>): Promise<Measured> {
  const [cpu, started] = [cpuOf(contestant), performance.now()];
  await work();
  return { rate: (steps * 1000) / (performance.now() - started), cpu: (cpuOf(contestant) - cpu) / steps };
}

/** PUBLISH to so many subscribers, until every one of them has every message. */
const publish = (subscriberCount: number) => async (contestant: Contestant, count: number) => {
  const subscribers = await lines(contestant.port, subscriberCount);
  const confirmed = '*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n'.length;
  await Promise.all(subscribers.map((line) => line.send('SUBSCRIBE c\r\n', confirmed)));
  const [publisher] = await lines(contestant.port, 1);
  const message = '*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$4\r\nfree\r\n'.length;
  const measured = await timed(contestant, count, async () => {
    const all = subscribers.map((line) => line.send('', count * message));
    await publisher?.send('PUBLISH c free\r\n'.repeat(count), count * `:${subscriberCount}\r\n`.length);
    await Promise.all(all);
  });
  close([...subscribers, ...(publisher ? [publisher] : [])]);
  return measured;
};

/** RPUSH hands elements to the clients that wait in BLPOP, which wait again at once. */
async function handOver(contestant: Contestant, count: number): Promise<Measured> {
  const waiters = await lines(contestant.port, 100);
  const [pusher] = await lines(contestant.port, 1);
  const element = '*2\r\n$1\r\nl\r\n$1\r\nx\r\n'.length;
  const rounds = Math.ceil(count / waiters.length);
  const measured = await timed(contestant, rounds * waiters.length, async () => {
    for (let i = 0; i < rounds; i++) {
      const waiting = waiters.map((line) => line.send('BLPOP l 0\r\n', element));
      await Promise.all([
        pusher?.send('RPUSH l x\r\n'.repeat(waiters.length), 4 * waiters.length),
        ...waiting,
      ]);
    }
  });
  close([...waiters, ...(pusher ? [pusher] : [])]);
  return measured;
}

/** Transactions of ten writes, 16 at a time. */
async function transactions(contestant: Contestant, count: number): Promise<Measured> {
  const [line] = await lines(contestant.port, 1);
  const requests = `MULTI\r\n${'SET key value\r\n'.repeat(10)}EXEC\r\n`.repeat(16);
  const replies = 16 * `+OK\r\n${'+QUEUED\r\n'.repeat(10)}*10\r\n${'+OK\r\n'.repeat(10)}`.length;
  const rounds = Math.ceil(count / 16);
  const measured = await timed(contestant, rounds * 16, async () => {
    for (let i = 0; i < rounds; i++) await line?.send(requests, replies);
  });
  close(line ? [line] : []);
  return measured;
}

/**
 * Keys that all expire within one second: the longest time that a PING took then, in milliseconds. Without keys, it is what
 * the machine adds by itself.
 */
async function longestStall(contestant: Contestant, keys: number): Promise<number> {
  const [line] = await lines(contestant.port, 1);
  if (line === undefined) throw new Error('no connection');
  // The servers need this long to store the keys.
  const first = Date.now() + (keys === 0 ? 0 : 4000 + keys / 100);
  for (let from = 0; from < keys; from += 10_000) {
    let requests = '';
    for (let i = from; i < from + 10_000; i++) {
      const deadline = String(Math.round(first + (i * 1000) / keys));
      requests += encodeRequest(['SET', `expiring:${i}`, '12345678', 'PXAT', deadline]);
    }
    await line.send(requests, 10_000 * '+OK\r\n'.length);
  }
  if (keys > 0 && Date.now() > first)
    throw new Error('the keys began to expire before the last one was stored');
  let longest = 0;
  while (Date.now() < first + 1500) {
    const sent = performance.now();
    await line.send(encodeRequest(['PING']), '+PONG\r\n'.length);
    if (Date.now() >= first) longest = Math.max(longest, performance.now() - sent);
    await new Promise((resolve) => setImmediate(resolve));
  }
  close([line]);
  return longest;
}

/** What is measured of several servers, which take turns. */
type Work = (contestant: Contestant, count: number) => Promise<Measured>;

async function inTurn(
  contestants: readonly Contestant[],
  work: Work,
  count: number,
  rounds: number,
): Promise<Measured[][]> {
  const figures: Measured[][] = contestants.map(() => []);
  for (let round = 0; round <= rounds; round++) {
    const turn = [...contestants.entries()];
    for (const [i, contestant] of round % 2 === 0 ? turn : turn.reverse()) {
      const measured = await work(contestant, count);
      if (round > 0) figures[i]?.push(measured);
    }
  }
  return figures;
}

/** The row of a server beside redis-server. */
function rowOf(name: string, ours: readonly Measured[], real: readonly Measured[]): Row {
  const rates = (list: readonly Measured[]): number[] => list.map(({ rate }) => rate);
  const cpuTime = (list: readonly Measured[]): number => median(list.map(({ cpu }) => cpu));
  const [rate, other] = [median(rates(ours)), median(rates(real))];
  process.stderr.write(`${name}: ${(rate / other).toFixed(2)}\n`);
  const cpu = [cpuTime(ours), cpuTime(real)] as const;
  return { name, ours: rate, other, unit: 'per second', spread: spreadOf(rates(ours)), cpu };
}

/** The rows of this chapter. */
export async function crowds(rounds: number, scale: number): Promise<Row[]> {
  const contestants = [await startOurs(), await startReal()];
  const [handing, expiring] = [await startBare('hand-over'), await startBare('expiring')];
  const kinds: [string, number, Work][] = [
    ['PUBLISH to 1 subscriber', 100_000, publish(1)],
    ['PUBLISH to 10 subscribers', 40_000, publish(10)],
    ['PUBLISH to 100 subscribers', 20_000, publish(100)],
    ['PUBLISH to 1000 subscribers', 2000, publish(1000)],
    ['an element handed over by BLPOP, 100 clients wait', 40_000, handOver],
    ['MULTI, ten SET, EXEC, 16 at a time', 40_000, transactions],
  ];
  try {
    const rows: Row[] = [];
    for (const [name, count, work] of kinds) {
      const measured = work === handOver ? [...contestants, handing] : contestants;
      const [ours = [], real = [], other] = await inTurn(measured, work, Math.ceil(count * scale), rounds);
      rows.push(rowOf(name, ours, real));
      if (other !== undefined) rows.push(rowOf(`${name}: a server that does nothing else`, other, real));
    }
    const keys = scale < 0.5 ? 20_000 : 1_000_000;
    for (const [name, count] of [
      [`${keys} keys that expire within one second: the longest PING`, keys],
      ['no key expires: the longest PING of as much time', 0],
    ] as const) {
      const measured = count === 0 ? contestants : [...contestants, expiring];
      const stalls = measured.map((): number[] => []);
      // A round with keys takes 16 seconds on each server, most of them to store the keys.
      for (let round = 0; round < Math.min(rounds, 3); round++) {
        for (const [i, each] of measured.entries()) stalls[i]!.push(await longestStall(each, count));
      }
      const [ours, other, bare] = stalls.map(median);
      const common = { other, unit: 'ms', lessIsBetter: true };
      rows.push({ ...common, name, ours: ours! });
      if (bare !== undefined) rows.push({ ...common, name: `${name}: a server with a Map`, ours: bare });
    }
    return rows;
  } finally {
    await Promise.all([...contestants, handing, expiring].map(stop));
  }
}
