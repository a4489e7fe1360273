/** A worker thread from the program's side: calls that wait for their answers, and what the thread tells. */
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { badOption } from '../options.ts';
import type { ThreadOptions } from '../start-options.ts';
import { type Answer, type Call, type Described, ENDED, resultOf, type Told, WAITING } from './messages.ts';
import { workerFile } from './worker-file.ts';

/** The thread of a server. */
export class ServerThread {
  readonly #worker: Worker;
  readonly #calls: MessagePort;
  readonly #state = new Int32Array(new SharedArrayBuffer(4));
  readonly #stopping = new Map<number, (outcome: Answer) => void>();
  /** Resolves when the server runs. */
  readonly started: Promise<Described>;
  /** Resolves when the thread has ended. */
  readonly ended: Promise<void>;

  constructor({ thread: _, log, ...options }: ThreadOptions) {
    const { port1, port2 } = new MessageChannel();
    this.#calls = port1;
    this.#worker = new Worker(workerFile(), {
      workerData: { options, logs: log !== undefined, calls: port2, state: this.#state },
      transferList: [port2],
    });
    this.started = new Promise((resolve, reject) => {
      this.#worker.on('error', reject);
      this.#worker.on('message', (told: Told) => {
        if ('log' in told) log?.(...(told.log as Parameters<typeof log>));
        else if ('stopped' in told) this.#stopping.get(told.stopped)?.(told.outcome);
        else {
          try {
            resolve(resultOf(told.started) as Described);
          } catch (error) {
            reject(error);
          }
        }
      });
    });
    this.ended = new Promise((resolve) => this.#worker.once('exit', () => resolve()));
    void this.ended.then(() => {
      Atomics.store(this.#state, 0, ENDED);
      this.#calls.close();
      for (const stopped of this.#stopping.values()) stopped({ result: undefined });
    });
    if (options.keepAlive === false)
      void this.started.then(
        () => this.#worker.unref(),
        () => undefined,
      );
  }

  /** True once the thread has ended. */
  get hasEnded(): boolean {
    return Atomics.load(this.#state, 0) === ENDED;
  }

  /**
   * Does something with a member of an object in the thread, and waits for the outcome while this thread stands still.
   * @throws Error when the thread has ended, TypeError for what cannot be sent, and what the member throws
   */
  call(call: Call): unknown {
    if (this.hasEnded) throw stopped(call);
    Atomics.compareExchange(this.#state, 0, 1, WAITING);
    try {
      this.#calls.postMessage(call);
    } catch {
      throw badOption(call.member, call.args ?? call.value, 'data: functions cannot be sent to the thread');
    }
    Atomics.wait(this.#state, 0, WAITING);
    const answer = receiveMessageOnPort(this.#calls) as { message: Answer } | undefined;
    if (answer === undefined) throw stopped(call);
    return resultOf(answer.message);
  }

  /** Stops a server or Sentinel in the thread. Resolves when it has stopped, or has already. */
  async stop(id: number): Promise<void> {
    if (this.hasEnded) return;
    const outcome = await new Promise<Answer>((resolve) => {
      this.#stopping.set(id, resolve);
      this.#worker.postMessage(id);
    });
    resultOf(outcome);
  }

  /** Ends the thread, with all that it has open. */
  async end(): Promise<void> {
    await this.#worker.terminate();
    await this.ended;
  }
}

function stopped({ member }: Call): Error {
  return new Error(`lostlock: ${member}() on a server that has stopped`);
}
