/** A raw connection for tests: sends requests, returns the reply's bytes as they came. */
import { createConnection, type NetConnectOpts } from 'node:net';
import type { Duplex } from 'node:stream';

/** Splits a line as a shell would, without escapes: `SET k "a b"` is three words. */
export function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '');
}

/** A multibulk request of latin1 words. */
export function request(argv: readonly string[]): string {
  return `*${argv.length}\r\n${argv.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`;
}

/** One connection, on which replies are told apart by an ECHO behind each request. */
export class Wire {
  readonly #stream: Duplex;
  #received = '';
  #closed = false;
  #wake: () => void = () => {};
  #marks = 0;

  constructor(stream: Duplex) {
    this.#stream = stream;
    stream.on('data', (chunk: Buffer) => {
      this.#received += chunk.toString('latin1');
      this.#wake();
    });
    const close = (): void => {
      this.#closed = true;
      this.#wake();
    };
    stream.on('close', close).on('error', close);
  }

  /** Opens a TCP or unix socket connection. */
  static open(where: NetConnectOpts): Wire {
    return new Wire(createConnection(where));
  }

  /** The bytes that a request was answered with; ends in `<closed>` where the far end closed. */
  async call(...argv: string[]): Promise<string> {
    return this.send(request(argv));
  }

  /** As `call`, of raw bytes. */
  async send(bytes: string): Promise<string> {
    const mark = `mark-${this.#marks++}`;
    const echoed = `$${mark.length}\r\n${mark}\r\n`;
    this.#stream.write(Buffer.from(bytes + request(['ECHO', mark]), 'latin1'));
    for (;;) {
      const at = this.#received.indexOf(echoed);
      if (at >= 0) {
        const reply = this.#received.slice(0, at);
        this.#received = this.#received.slice(at + echoed.length);
        return reply;
      }
      if (this.#closed) return `${this.#received}<closed>`;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  close(): void {
    this.#stream.destroy();
  }
}
