/** What a program and the thread of its server send each other. */

/** A server or Sentinel in the thread, as the program sees it. */
export interface Described {
  /** The number by which calls name it. */
  readonly id: number;
  readonly host: string;
  readonly port: number;
  readonly tlsPort: number | undefined;
  readonly url: string;
  readonly password: string | undefined;
  readonly replicas: readonly Described[];
  readonly sentinels: readonly Pick<Described, 'id' | 'host' | 'port'>[];
}

/** What to do with a member of an object in the thread: call it with `args`, set it to `value`, or read it. */
export interface Call {
  /** The object: a server, a Sentinel, a rule or a recording. */
  readonly id: number;
  readonly member: string;
  readonly args?: readonly unknown[];
  readonly value?: unknown;
}

/** The outcome of a call. `properties` are the error's own, which a copy of an error loses. */
export type Answer =
  | { readonly result: unknown }
  | { readonly error: unknown; readonly properties: Readonly<Record<string, unknown>> };

/** What the thread tells without being asked: a line of the log, or the outcome of the start or of a `stop()`. */
export type Told =
  | { readonly log: readonly [level: string, text: string, role: string] }
  | { readonly started: Answer }
  | { readonly stopped: number; readonly outcome: Answer };

/** The states of the number that both threads share. */
export const WAITING = 0;
export const ANSWERED = 1;
/** The thread has ended, so that no answer will come. */
export const ENDED = 2;

/** The outcome of `run`, in a form that can be sent. */
export async function answerOf(run: () => unknown): Promise<Answer> {
  try {
    return { result: await run() };
  } catch (error) {
    return failure(error);
  }
}

/** An error in a form that can be sent. */
export function failure(error: unknown): Answer {
  return { error, properties: error instanceof Error ? { ...error } : {} };
}

/** What an outcome means: returns the result or throws the error. */
export function resultOf(outcome: Answer): unknown {
  if ('result' in outcome) return withBuffers(outcome.result);
  throw Object.assign(outcome.error as object, outcome.properties);
}

/** Bytes are sent as Uint8Array. The API gives them as Buffer. */
function withBuffers(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (Array.isArray(value)) return value.map(withBuffers);
  if (value instanceof Set) return new Set([...value].map(withBuffers));
  if (value instanceof Map)
    return new Map([...value].map(([key, item]) => [withBuffers(key), withBuffers(item)]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withBuffers(item)]));
}
