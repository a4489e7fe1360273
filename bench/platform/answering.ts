/** What ioredis itself takes in memory: a connector whose stream answers each request at once, without a server. */
import { EventEmitter } from 'node:events';

/** The reply to what a client writes at once. */
export type Answer = (request: string | Buffer) => Buffer;

/** As much of a socket as ioredis uses. */
class AnsweringStream extends EventEmitter {
  readonly writable = true;
  readonly connecting = false;
  readonly destroyed = false;
  readonly #answer: Answer;
  readonly #later: (task: () => void) => void;

  constructor(answer: Answer, later: (task: () => void) => void) {
    super();
    this.#answer = answer;
    this.#later = later;
  }

  write(request: string | Buffer): boolean {
    const reply = this.#answer(request);
    this.#later(() => this.emit('data', reply));
    return true;
  }

  end(): void {
    this.emit('close');
  }

  destroy(): void {
    this.end();
  }

  resume(): void {}
  setNoDelay(): void {}
  setKeepAlive(): void {}
  setTimeout(): void {}
}

/** Options of a client whose stream answers by itself. @param later runs the task that hands the reply to the client */
export function answeredBy(answer: Answer, later: (task: () => void) => void) {
  return {
    protocol: 2 as const,
    enableReadyCheck: false,
    Connector: class {
      async connect(): Promise<unknown> {
        return new AnsweringStream(answer, later);
      }

      disconnect(): void {}

      check(): boolean {
        return true;
      }
    } as never,
  };
}

const NULL = Buffer.from('$-1\r\n');
/** The requests with which a client introduces itself are shorter or longer than `GET key`. */
const GET_LENGTH = '*2\r\n$3\r\nget\r\n$3\r\nkey\r\n'.length;

/** Options of a client that nobody serves: every command gets a null. */
export const answered = answeredBy((request) => {
  const count = request.length === GET_LENGTH ? 1 : request.toString('latin1').split('*').length - 1;
  return count === 1 ? NULL : Buffer.concat(Array(count).fill(NULL));
}, process.nextTick);
