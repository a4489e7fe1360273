/** A log of the requests that clients send, for tests that count them or look at their order. */
import type { Text } from '../dataset.ts';

/** A request, as a rule sees it. */
export interface InterceptedRequest {
  /** The command's name in lower case. */
  readonly command: string;
  /** The words after the command's name; a Buffer when the bytes are not valid UTF-8. */
  readonly args: readonly Text[];
  /** The connection's id, its CLIENT SETNAME name, and the name that the client has in the lab, if it is there. */
  readonly client: { readonly id: number; readonly name: string; readonly party?: string };
  /** The node of the lab that received it; undefined for a server that is in no lab. */
  readonly node?: string;
}

/** A command that a script called. */
export interface RecordedCall {
  /** The command's name in lower case. */
  readonly command: string;
  /** The words after the command's name; a Buffer when the bytes are not valid UTF-8. */
  readonly args: readonly Text[];
  /** What the script got, as redis-cli prints it; of a long reply its beginning. */
  readonly reply: string;
}

/** A request in a log. */
export interface RecordedRequest extends InterceptedRequest {
  /** When it was received, in milliseconds since the epoch, by the server's clock. */
  readonly at: number;
  /**
   * What the server answered, as redis-cli prints it: `OK`, `(integer) 1`, `"value"`, `(nil)`, `(error) ERR …`; of a long reply
   * its beginning. Undefined while there is no reply, and when none was sent.
   */
  readonly reply: string | undefined;
  /** What the request's script called, at most the first 50 commands. */
  readonly calls: readonly RecordedCall[];
}

/** The requests that a server has received since the recording began, in order. Those that a script sends are not in it. */
export interface RequestRecording extends Disposable {
  /** The requests so far. */
  readonly entries: readonly RecordedRequest[];
  /** Forgets the requests so far. */
  clear(): void;
  /** Ends the recording. The entries stay. */
  stop(): void;
}

/** A recording of requests that are all known. */
export function ended(entries: readonly RecordedRequest[]): RequestRecording {
  let kept = entries;
  return {
    get entries() {
      return kept;
    },
    clear: () => {
      kept = [];
    },
    stop: () => {},
    [Symbol.dispose]: () => {},
  };
}

/** A recording in progress. */
export class Recorder implements RequestRecording {
  readonly entries: RecordedRequest[] = [];
  readonly #ended: () => void;
  readonly #most: number;

  /** @param most how many requests it keeps: the newest ones */
  constructor(ended: () => void, most: number) {
    this.#ended = ended;
    this.#most = most;
  }

  add(request: RecordedRequest): void {
    // Twice as many may stand here, so that entries are moved once in a while and not for every request.
    if (this.entries.length >= 2 * this.#most) this.entries.splice(0, this.#most);
    this.entries.push(request);
  }

  clear(): void {
    this.entries.length = 0;
  }

  stop(): void {
    this.#ended();
  }

  [Symbol.dispose](): void {
    this.stop();
  }
}
