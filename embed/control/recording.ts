/** A log of the requests that clients send, for tests that count them or look at their order. */
import type { Millis } from '../../protocol/bytes.ts';
import type { Text } from '../dataset.ts';

/** A request, as a rule sees it. */
export interface InterceptedRequest {
  /** The command's name in lower case. */
  readonly command: string;
  /** The words after the command's name; a Buffer when the bytes are not valid UTF-8. */
  readonly args: readonly Text[];
  /** The connection's id and its CLIENT SETNAME name. */
  readonly client: { readonly id: number; readonly name: string };
}

/** A request in a log. */
export interface RecordedRequest extends InterceptedRequest {
  /** When it was received, in milliseconds since the epoch, by the server's clock. */
  readonly at: number;
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

/** A recording in progress. */
export class Recorder implements RequestRecording {
  readonly entries: RecordedRequest[] = [];
  readonly #ended: () => void;

  constructor(ended: () => void) {
    this.#ended = ended;
  }

  add(request: InterceptedRequest, at: Millis): void {
    this.entries.push({ ...request, at });
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
