/** The thread of a server: starts it, and does what the program asks. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { LostlockServer } from '../running.ts';
import type { LostlockSentinel } from '../sentinel.ts';
import { startServer } from '../start.ts';
import type { StartOptions } from '../start-options.ts';
import {
  ANSWERED,
  type Answer,
  answerOf,
  type Call,
  type Described,
  ENDED,
  failure,
  type Told,
} from './messages.ts';

/** What the thread is started with. */
export interface ThreadData {
  readonly options: StartOptions;
  /** Whether lines of the log are sent. */
  readonly logs: boolean;
  /** Requests that the program waits for. */
  readonly calls: MessagePort;
  /** One number: whether the last of them has been answered. */
  readonly state: Int32Array;
}

const { options, logs, calls, state } = workerData as ThreadData;
const program = parentPort as MessagePort;
const objects: Record<string, unknown>[] = [];

/** Members whose results stay here. The program gets their number. */
const KEPT = new Set(['intercept', 'requests']);

function keep(object: unknown): number {
  return objects.push(object as Record<string, unknown>) - 1;
}

function describe(server: LostlockServer): Described {
  const { host, port, tlsPort, url } = server;
  const password = server.getPassword();
  const id = keep(server);
  const replicas = server.replicas.map(describe);
  const sentinels = server.sentinels.map((each: LostlockSentinel) => ({
    id: keep(each),
    host: each.host,
    port: each.port,
  }));
  return { id, host, port, tlsPort, url, password, replicas, sentinels };
}

function perform({ id, member, args, value }: Call): unknown {
  const object = objects[id] as Record<string, unknown>;
  if (value !== undefined) object[member] = value;
  if (args === undefined) return object[member];
  const result = (object[member] as (...args: readonly unknown[]) => unknown)(...args);
  return KEPT.has(member) ? keep(result) : result;
}

function tell(told: Told): void {
  program.postMessage(told);
}

calls.on('message', (call: Call) => {
  let outcome: Answer;
  try {
    outcome = { result: perform(call) };
  } catch (error) {
    outcome = failure(error);
  }
  calls.postMessage(outcome);
  Atomics.store(state, 0, ANSWERED);
  Atomics.notify(state, 0);
});
program.on('message', (id: number) => {
  const stop = (): Promise<void> => (objects[id] as unknown as LostlockServer).stop();
  void answerOf(stop).then((outcome) => tell({ stopped: id, outcome }));
});
process.on('exit', () => {
  Atomics.store(state, 0, ENDED);
  Atomics.notify(state, 0);
});

const log = logs && {
  log: (level: string, text: string, role: string): void => tell({ log: [level, text, role] }),
};
const started = await answerOf(async () => describe(await startServer({ ...options, ...log })));
tell({ started });
// A server that shuts down ends its thread. One that does not keep the process alive has no handle that keeps the thread.
if (options.keepAlive !== false || 'error' in started) for (const port of [calls, program]) port.unref();
