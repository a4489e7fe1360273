/** A worker thread from the program's side: calls that wait for their answers, and notices from the thread. */
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { badOption } from '../../base/options.ts';
import type { ThreadOptions } from '../start-options.ts';
import {
  ANSWERED,
  type Answer,
  type Call,
  type Described,
  ENDED,
  type Notice,
  resultOf,
  type ThreadData,
  WAITING,
} from './messages.ts';
import { workerFile } from './worker-file.ts';

/** A `stop()` that has been sent. */
interface Stopping {
  readonly done: Promise<unknown>;
  readonly settle: (answer: Answer) => void;
}

export class ServerThread {
  readonly #worker: Worker;
  readonly #calls: MessagePort;
  readonly #state = new Int32Array(new SharedArrayBuffer(4));
  readonly #stopping = new Map<number, Stopping>();
  /** Resolves when the server runs. */
  readonly started: Promise<Described>;
  /** Resolves when the thread has ended. */
  readonly ended: Promise<void>;

  constructor({ thread: _, log, ...options }: ThreadOptions) {
    const { port1, port2 } = new MessageChannel();
    this.#calls = port1;
    const data: ThreadData = { options, logs: log !== undefined, calls: port2, state: this.#state };
    this.#worker = new Worker(workerFile(), { workerData: data, transferList: [port2] });
    const { promise, settle } = pending();
    this.started = promise as Promise<Described>;
    this.#worker.on('message', (notice: Notice) => {
      if ('log' in notice) log?.(...(notice.log as Parameters<typeof log>));
      else if ('stopped' in notice) this.#stopping.get(notice.stopped)?.settle(notice.answer);
      else settle(notice.started);
    });
    let runs = false;
    this.#worker.on('error', (error) => {
      if (runs) throw error; // A fault of the server ends the program, as it does in the same thread.
      settle({ error, properties: {} });
    });
    this.ended = new Promise((resolve) => this.#worker.once('exit', () => resolve()));
    void this.ended.then(() => {
      Atomics.store(this.#state, 0, ENDED);
      this.#calls.close();
      for (const each of this.#stopping.values()) each.settle({ result: undefined });
    });
    this.started.then(
      () => {
        runs = true;
        if (options.keepAlive === false) this.#worker.unref();
      },
      () => undefined, // startThread reports it.
    );
  }

  /** True once the thread has ended. */
  get hasEnded(): boolean {
    return Atomics.load(this.#state, 0) === ENDED;
  }

  /**
   * Does something with a member of an object in the thread, and waits for the answer while this thread stands still.
   * @throws Error when the thread has ended, TypeError for what cannot be sent, and what the member throws
   */
  call(call: Call): unknown {
    if (this.hasEnded) throw stopped(call);
    Atomics.compareExchange(this.#state, 0, ANSWERED, WAITING);
    try {
      this.#calls.postMessage(call);
    } catch {
      throw badOption(call.member, call.args ?? call.value, 'data: functions cannot be sent to the thread');
    }
    Atomics.wait(this.#state, 0, WAITING);
    const received = receiveMessageOnPort(this.#calls) as { message: Answer } | undefined;
    if (received === undefined) throw stopped(call);
    return resultOf(received.message);
  }

  /** Stops a server or Sentinel in the thread. Resolves when it has stopped, or has already. */
  async stop(id: number): Promise<void> {
    if (this.hasEnded) return;
    let stopping = this.#stopping.get(id);
    if (stopping === undefined) {
      const { promise, settle } = pending();
      stopping = { done: promise, settle };
      this.#stopping.set(id, stopping);
      this.#worker.postMessage(id);
    }
    await stopping.done;
  }

  /** Ends the thread, with all that it has open. */
  async end(): Promise<void> {
    await this.#worker.terminate();
    await this.ended;
  }
}

/** A promise of what an answer says. */
function pending(): { readonly promise: Promise<unknown>; readonly settle: (answer: Answer) => void } {
  let settle: (answer: Answer) => void = () => {};
  const promise = new Promise((resolve) => {
    settle = (answer) => resolve(new Promise((done) => done(resultOf(answer))));
  });
  return { promise, settle };
}

function stopped({ member, args }: Call): Error {
  return new Error(`lostlock: ${member}${args === undefined ? '' : '()'} on a server that has stopped`);
}
