/** The thread of a server: starts it, and does what the program asks. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { LostlockServer } from '../running/server.ts';
import { startServer } from '../start.ts';
import {
  ANSWERED,
  type Answer,
  answerOf,
  type Call,
  type Described,
  ENDED,
  failure,
  type Notice,
  type ThreadData,
} from './messages.ts';

const { options, logs, calls, state } = workerData as ThreadData;
const program = parentPort as MessagePort;
const objects: Record<string, unknown>[] = [];

/** Members whose results stay here. The program gets their numbers. */
const KEPT = new Set(['intercept', 'requests']);

function keep(object: unknown): number {
  return objects.push(object as Record<string, unknown>) - 1;
}

function describe(server: LostlockServer): Described {
  const { host, port, tlsPort } = server;
  const password = server.getPassword();
  const id = keep(server);
  const replicas = server.replicas.map(describe);
  const sentinels = server.sentinels.map((each) => ({ id: keep(each), host: each.host, port: each.port }));
  return { id, host, port, tlsPort, password, replicas, sentinels };
}

function perform(call: Call): unknown {
  const { id, member, args } = call;
  const object = objects[id] as Record<string, unknown>;
  if ('value' in call) object[member] = call.value;
  if (args === undefined) return object[member];
  const result = (object[member] as (...args: readonly unknown[]) => unknown)(...args);
  return KEPT.has(member) ? keep(result) : result;
}

function send(notice: Notice): void {
  program.postMessage(notice);
}

function setState(to: number): void {
  Atomics.store(state, 0, to);
  Atomics.notify(state, 0);
}

calls.on('message', (call: Call) => {
  let answer: Answer;
  try {
    answer = { result: perform(call) };
  } catch (error) {
    answer = failure(error);
  }
  calls.postMessage(answer);
  setState(ANSWERED);
});
program.on('message', (id: number) => {
  const stop = (): Promise<void> => (objects[id] as unknown as LostlockServer).stop();
  void answerOf(stop).then((answer) => send({ stopped: id, answer }));
});
process.on('exit', () => setState(ENDED));

const log = logs && {
  log: (level: string, text: string, role: string): void => send({ log: [level, text, role] }),
};
// The built thread is a CommonJS module, in which nothing is awaited at the top.
void answerOf(async () => describe(await startServer({ ...options, ...log }))).then((started) => {
  send({ started });
  // A server that shuts down leaves nothing that keeps its thread running. With keepAlive false, only these ports keep it running.
  if (options.keepAlive !== false || 'error' in started) for (const port of [calls, program]) port.unref();
});
