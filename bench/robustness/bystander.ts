/** A client in its own process that sends PING and GET all the time and records how long it waits. */
import { type ChildProcess, fork } from 'node:child_process';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';

/** What the bystander has measured, in milliseconds. */
export interface Waits {
  readonly asked: number;
  readonly median: number;
  readonly p99: number;
  readonly worst: number;
}

const SELF = fileURLToPath(import.meta.url);

/** The bystander's process. */
export class Bystander {
  readonly #child: ChildProcess;

  constructor(port: number) {
    this.#child = fork(SELF, [String(port)], { execArgv: ['--import', 'tsx'] });
  }

  /** Resolves when it has begun. */
  ready(): Promise<unknown> {
    return this.#next('ready');
  }

  /** Discards the measurements so far, such as those of the warm-up. */
  reset(): void {
    this.#child.send('reset');
  }

  /** Ends the process and returns its measurements. */
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
  // Both replies arrive in one piece, or each is an error (BUSY), which also counts as a reply.
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
    // A request that is still open counts with its time so far.
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
