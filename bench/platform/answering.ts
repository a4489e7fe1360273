/** What ioredis itself takes in memory: a connector whose stream answers each request at once, without a server. */
import { EventEmitter } from 'node:events';

const NULL = Buffer.from('$-1\r\n');
/** The requests with which a client introduces itself are shorter or longer than `GET key`. */
const GET_LENGTH = '*2\r\n$3\r\nget\r\n$3\r\nkey\r\n'.length;

/** As much of a socket as ioredis uses. */
class AnsweringStream extends EventEmitter {
  readonly writable = true;
  readonly connecting = false;
  readonly destroyed = false;

  write(request: string | Buffer): boolean {
    const count = request.length === GET_LENGTH ? 1 : request.toString('latin1').split('*').length - 1;
    process.nextTick(() => this.emit('data', count === 1 ? NULL : Buffer.concat(Array(count).fill(NULL))));
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

/** Options of a client that nobody serves: every command gets a null. */
export const answered = {
  protocol: 2 as const,
  enableReadyCheck: false,
  Connector: class {
    async connect(): Promise<unknown> {
      return new AnsweringStream();
    }

    disconnect(): void {}

    check(): boolean {
      return true;
    }
  } as never,
};
