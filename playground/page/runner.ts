/** The page's side of the worker: one request at a time, and an end for code that never ends. */
import type { PlayCase } from '../cases/case.ts';
import type { FoundCase, PlayedCase, PlayReply, PlayRequest } from '../cases/messages.ts';

/** How long a worker that plays may say nothing, in milliseconds: it shows twice a second that it goes on. */
const PATIENCE = 8000;
/** How long it may take to start. */
const START = 120_000;

/** Asks a worker, and replaces it when it does not answer. */
export class Runner {
  #worker: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #id = 0;
  #giveUp: ((why: string) => void) | undefined;

  /** Plays a case. Rejects with an Error that says why it could not be played. */
  async play(play: PlayCase): Promise<PlayedCase> {
    const reply = await this.#ask('play', play, () => {});
    if (reply.what !== 'played') throw new Error('the worker answered something else');
    return reply.played;
  }

  /** Searches for faults that break the lock. @param progress called after every world */
  async find(play: PlayCase, progress: (worlds: number, of: number) => void): Promise<FoundCase> {
    const reply = await this.#ask('find', play, progress);
    if (reply.what !== 'found') throw new Error('the worker answered something else');
    return reply.found;
  }

  /** Ends what is under way. */
  stop(): void {
    this.#giveUp?.('Stopped.');
  }

  #ask(
    what: PlayRequest['what'],
    play: PlayCase,
    progress: (worlds: number, of: number) => void,
  ): Promise<PlayReply> {
    const asked = this.#last.then(() => this.#askNow({ id: ++this.#id, what, play }, progress));
    this.#last = asked.catch(() => {});
    return asked;
  }

  #askNow(request: PlayRequest, progress: (worlds: number, of: number) => void): Promise<PlayReply> {
    return new Promise((resolve, reject) => {
      const worker = (this.#worker ??= new Worker('worker.js'));
      let alarm = 0;
      const done = (): void => {
        clearTimeout(alarm);
        this.#giveUp = undefined;
      };
      const giveUp = (why: string): void => {
        done();
        worker.terminate();
        this.#worker = undefined;
        reject(new Error(why));
      };
      const wait = (ms: number, why: string): void => {
        clearTimeout(alarm);
        alarm = window.setTimeout(() => giveUp(why), ms);
      };
      const loops = `The code has not come to an end for ${PATIENCE / 1000} s: is there an endless loop in it?`;
      this.#giveUp = giveUp;
      worker.onerror = (event) => event.preventDefault();
      worker.onmessage = ({ data }: MessageEvent<PlayReply>) => {
        if (data.id !== request.id) return;
        if (data.what === 'progress' || data.what === 'alive') {
          wait(PATIENCE, loops);
          if (data.what === 'progress') progress(data.worlds, data.of);
          return;
        }
        done();
        if (data.what === 'failed') reject(new Error(data.why));
        else resolve(data);
      };
      wait(START, 'The worker does not start.');
      worker.postMessage(request);
    });
  }
}
