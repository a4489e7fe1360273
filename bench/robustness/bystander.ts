/** An innocent client in a process of its own: it asks PING and GET all the time, and keeps the longest wait. */
import { type ChildProcess, fork } from 'node:child_process';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';

/** What the bystander has seen, in milliseconds. */
export interface Waits {
  readonly asked: number;
  readonly median: number;
  readonly p99: number;
  readonly worst: number;
}

const SELF = fileURLToPath(import.meta.url);

export class Bystander {
  readonly #child: ChildProcess;

  constructor(port: number) {
    this.#child = fork(SELF, [String(port)], { execArgv: ['--import', 'tsx'] });
  }

  /** Resolves once it asks. */
  ready(): Promise<unknown> {
    return this.#next('ready');
  }

  /** Forgets what it has seen so far, such as its own warming up. */
  reset(): void {
    this.#child.send('reset');
  }

  /** Ends it, and answers what it has seen. */
  async stop(): Promise<Waits> {
    const waits = this.#next('waits');
    this.#child.send('stop');
    return (await waits) as Waits;
  }

  #next(kind: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      this.#child.on('message', (message) => {
        const [what, value] = message as [string, unknown];
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
    process.send?.(['ready']);
  });
  process.on('message', (what) => {
    if (what === 'reset') {
      waits = [];
      return;
    }
    // A question that is still open counts as far as it has come.
    if (performance.now() - sentAt > 1000) waits.push(performance.now() - sentAt);
    process.send?.(['waits', summary(waits)], () => process.exit(0));
  });
}

function summary(waits: number[]): Waits {
  const sorted = [...waits].sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { asked: sorted.length, median: at(0.5), p99: at(0.99), worst: sorted.at(-1) ?? 0 };
}

if (process.argv[1] === SELF) watch(Number(process.argv[2]));
