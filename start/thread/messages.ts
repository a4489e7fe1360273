/** What a program and the thread of its server send each other. */
import type { MessagePort } from 'node:worker_threads';
import type { AddressParts } from '../control/address.ts';
import type { StartOptions } from '../start-options.ts';

/** What the thread is started with. */
export interface ThreadData {
  readonly options: StartOptions;
  /** Whether lines of the log are sent. */
  readonly logs: boolean;
  /** The calls that the program waits for. */
  readonly calls: MessagePort;
  /** One number: the state of the last call. */
  readonly state: Int32Array;
}

/** A server or Sentinel in the thread, as the program sees it. */
export interface Described extends AddressParts {
  /** The number by which calls name it. */
  readonly id: number;
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

/** The result of a call, or its error. `properties` are the error's own, which a copy of an error loses. */
export type Answer =
  | { readonly result: unknown }
  | { readonly error: unknown; readonly properties: Readonly<Record<string, unknown>> };

/** What the program does not wait for while it stands still: a line of the log, the end of the start or of a `stop()`. */
export type Notice =
  | { readonly log: readonly [level: string, text: string, role: string] }
  | { readonly started: Answer }
  | { readonly stopped: number; readonly answer: Answer };

/** States of the number that both threads share: a call is waiting for its answer. */
export const WAITING = 0;
/** The last call has been answered. */
export const ANSWERED = 1;
/** The thread has ended, so that no answer will come. */
export const ENDED = 2;

/** What `run` returns or throws, in a form that can be sent. */
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

/** Returns the result, or throws the error. */
export function resultOf(answer: Answer): unknown {
  if ('result' in answer) return withBuffers(answer.result);
  throw Object.assign(answer.error as object, answer.properties);
}

/** Bytes arrive as Uint8Array. The API returns Buffers. */
function withBuffers(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (Array.isArray(value)) return value.map(withBuffers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withBuffers(item)]));
}
