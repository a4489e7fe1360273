/** An innocent client on a thread of its own: it asks PING and GET all the time, and keeps the longest wait. */
import { connect } from 'node:net';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/** What the bystander has seen, in milliseconds. */
export interface Waits {
  readonly asked: number;
  readonly median: number;
  readonly p99: number;
  readonly worst: number;
}

export class Bystander {
  readonly #worker: Worker;

  constructor(port: number) {
    this.#worker = new Worker(new URL(import.meta.url), { workerData: port, execArgv: ['--import', 'tsx'] });
  }

  /** Resolves once it asks. */
  ready(): Promise<unknown> {
    return this.#next('ready');
  }

  /** Forgets what it has seen so far, such as its own warming up. */
  reset(): void {
    this.#worker.postMessage('reset');
  }

  /** Ends it, and answers what it has seen. */
  async stop(): Promise<Waits> {
    this.#worker.postMessage('stop');
    const waits = await this.#next('waits');
    await this.#worker.terminate();
    return waits as Waits;
  }

  #next(kind: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#worker.once('error', reject);
      this.#worker.on('message', ([what, value]: [string, unknown]) => {
        if (what === kind) resolve(value);
      });
    });
  }
}

function watch(port: number): void {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  socket.on('error', () => {});
  let waits: number[] = [];
  let sentAt = 0;
  const ask = (): void => {
    sentAt = performance.now();
    socket.write('PING\r\nGET bystander\r\n');
  };
  // Both answers come in one piece, or an error each (BUSY): an answer is an answer.
  let lines = 0;
  socket.on('data', (chunk) => {
    for (const byte of chunk) if (byte === 10) lines++;
    if (lines < 2) return;
    lines = 0;
    waits.push(performance.now() - sentAt);
    setTimeout(ask, 2);
  });
  socket.on('connect', () => {
    ask();
    parentPort?.postMessage(['ready']);
  });
  parentPort?.on('message', (what) => {
    if (what === 'reset') {
      waits = [];
      return;
    }
    // A question that is still open counts as far as it has come.
    if (performance.now() - sentAt > 1000) waits.push(performance.now() - sentAt);
    parentPort?.postMessage(['waits', summary(waits)]);
  });
}

function summary(waits: number[]): Waits {
  const sorted = [...waits].sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { asked: sorted.length, median: at(0.5), p99: at(0.99), worst: sorted.at(-1) ?? 0 };
}

if (!isMainThread) watch(workerData as number);
