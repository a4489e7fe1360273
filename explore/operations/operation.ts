/** The operations that clients record on what they share: each with its invocation and its response. */

/** How an operation ended. `unknown`: nobody knows whether it took effect, or when. */
export type OperationOutcome = 'ok' | 'failed' | 'unknown';

/** One operation. Times are in milliseconds since the clients started. */
export interface RecordedOperation {
  /** The client that recorded it; `probe` for the one that looks whether the lock can be had. */
  readonly client: string;
  /** The number of the client's life. */
  readonly life: number;
  /** What it is called, such as `enqueue`. */
  readonly operation: string;
  /** The name of the object; '' for the only one. */
  readonly of: string;
  /** What it was given. */
  readonly input: unknown;
  /** What came back; undefined unless its outcome is `ok`. */
  readonly output: unknown;
  /** When it began. */
  readonly from: number;
  /** When its response was known; Infinity if it never was. */
  readonly to: number;
  /** `unknown` while nobody has said how it ended: an error or a death came first, or the world ended. */
  readonly outcome: OperationOutcome;
}

/** What a client says about an operation that it has begun. Only the first call counts. */
export interface Recording {
  /** It took effect. @param output what came back */
  ok(output?: unknown): void;
  /** It surely took no effect. Do not call it after an error of the network: the request may have been executed. */
  failed(): void;
}

type Open = { -readonly [K in keyof RecordedOperation]: RecordedOperation[K] };

/** The operations of one world. */
export class OperationLog {
  /** All operations, in the order in which they began. */
  readonly all: RecordedOperation[] = [];
  readonly #now: () => number;

  /** @param now milliseconds since the clients started */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** An operation begins. */
  begin(
    who: { readonly name: string; readonly life: number },
    operation: string,
    input: unknown,
    of: string,
  ): Recording {
    const { name: client, life } = who;
    const begun: Open = {
      client,
      life,
      operation,
      of,
      input,
      output: undefined,
      from: this.#now(),
      to: Infinity,
      outcome: 'unknown',
    };
    this.all.push(begun);
    const end = (outcome: OperationOutcome, output?: unknown): void => {
      // A process that died says nothing any more.
      if (begun.outcome !== 'unknown' || who.life !== life) return;
      begun.outcome = outcome;
      begun.output = output;
      begun.to = this.#now();
    };
    return { ok: (output) => end('ok', output), failed: () => end('failed') };
  }
}

/** A value as text, by which values are compared: what Redis returns for 5 is '5'. */
export function valueText(value: unknown): string {
  if (value === undefined || value === null) return 'null';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** An operation in words: `B dequeue() = 3`. */
export function operationText({ client, operation, input, output, outcome }: RecordedOperation): string {
  const given = input === undefined ? '' : valueText(input);
  const came = outcome === 'ok' ? (output === undefined ? '' : ` = ${valueText(output)}`) : ` (${outcome})`;
  return `${client} ${operation}(${given})${came}`;
}
