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

/** The requests that a server has received since the log began, in order. Those that a script sends are not in it. */
export class RequestRecording implements Disposable {
  /** The requests so far. */
  readonly entries: RecordedRequest[] = [];
  readonly #stop: () => void;

  /** @internal */
  constructor(stop: () => void) {
    this.#stop = stop;
  }

  /** @internal */
  add(request: InterceptedRequest, at: Millis): void {
    this.entries.push({ ...request, at });
  }

  /** Forgets the requests so far. */
  clear(): void {
    this.entries.length = 0;
  }

  /** Ends the log. The entries stay. */
  stop(): void {
    this.#stop();
  }

  [Symbol.dispose](): void {
    this.stop();
  }
}
