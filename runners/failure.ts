/** Explains a failed test: what happened in its pairs, what its servers were asked and answered, and what they still have. */
import { type Drawn, tellFailure } from '../lab/timeline/failing.ts';
import type { RecordedCall, RecordedRequest } from '../start/control/recording.ts';
import type { DumpEntry } from '../start/dataset.ts';
import type { Remains } from '../start/running/server.ts';

/** How many requests, calls of one script and keys are shown. */
const REQUESTS = 20;
const CALLS = 10;
const KEYS = 20;
/** The longest words of a request and of a value, in characters. */
const WORD = 80;

/** A server, as far as it explains a failure. */
interface ReadableServer {
  readonly url: string;
  remains(): Remains | undefined;
}

/** What a failed test used. */
export interface UsedInTest {
  readonly pairs: readonly Drawn[];
  readonly servers: readonly ReadableServer[];
}

/**
 * Adds the explanation to the error with which a test failed, so that it stands in the runner's report. Prints it when the
 * error cannot take it.
 * @param test the test's name
 */
export async function explainFailure(
  test: string,
  errors: readonly unknown[],
  { pairs, servers }: UsedInTest,
): Promise<void> {
  const told = [...servers.map(serverText), await tellFailure(test, pairs)].filter((text) => text !== '');
  if (told.length === 0) return;
  const text = told.join('\n\n');
  if (!appendTo(errors.at(-1), text)) process.stderr.write(`${text}\n`);
}

/** Appends to the message of an error, and to its stack, which begins with the message. Returns false when it has none. */
export function appendTo(error: unknown, text: string): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const failed = error as { message?: unknown; stack?: unknown };
  const { message, stack } = failed;
  if (typeof message !== 'string') return false;
  const longer = `${message}\n\n${text}\n`;
  try {
    failed.message = longer;
    if (typeof stack === 'string' && stack.includes(message)) {
      const at = stack.indexOf(message) + message.length;
      failed.stack = `${stack.slice(0, at)}\n\n${text}\n${stack.slice(at)}`;
    }
  } catch {
    return false; // The error is frozen.
  }
  return failed.message === longer;
}

/** The last requests of a server with their replies, and the keys that are left. */
function serverText(server: ReadableServer): string {
  const remains = server.remains();
  if (remains === undefined) return '';
  const requests = remains.requests.filter((request) => !isGreeting(request));
  const last = requests.slice(-REQUESTS);
  const head =
    requests.length > REQUESTS
      ? `The last ${REQUESTS} requests to ${server.url}:`
      : `The requests to ${server.url}:`;
  const lines = last.length === 0 ? ['  none'] : last.flatMap(requestLines);
  return [head, ...lines, keysText(remains)].join('\n');
}

/** True for what client libraries send by themselves when they connect. */
function isGreeting({ command, args: [first] }: RecordedRequest): boolean {
  if (command === 'client') return /^set(info|name)$/i.test(String(first));
  return command === 'hello' || (command === 'info' && first === undefined);
}

function requestLines({ command, args, client, reply, calls }: RecordedRequest): string[] {
  const who = client.name === '' ? `client ${client.id}` : client.name;
  const words = command === 'auth' ? ['(not shown)'] : args.map(wordText);
  const called = calls.slice(0, CALLS).map((call) => `      the script called ${callText(call)}`);
  const more = calls.length > CALLS ? [`      and ${calls.length - CALLS} commands more`] : [];
  return [
    `  ${who}: ${[command.toUpperCase(), ...words].join(' ')} -> ${reply ?? 'no reply'}`,
    ...called,
    ...more,
  ];
}

function callText({ command, args, reply }: RecordedCall): string {
  return `${[command.toUpperCase(), ...args.map(wordText)].join(' ')} -> ${reply}`;
}

/** A word on one line, in quotes if it would not be read as one word. */
function wordText(word: unknown): string {
  const text = Buffer.isBuffer(word) ? word.toString('latin1') : String(word);
  const short = text.length > WORD ? `${text.slice(0, WORD - 3)}...` : text;
  return /^[!-~]+$/.test(short) && !short.includes('"') ? short : JSON.stringify(short);
}

function keysText({ dump, at }: Remains): string {
  if (dump.length === 0) return 'No keys were left.';
  const lines = dump.slice(0, KEYS).map((entry) => `  ${keyText(entry, at)}`);
  if (dump.length > KEYS) lines.push(`  and ${dump.length - KEYS} keys more`);
  return `The keys that were left:\n${lines.join('\n')}`;
}

function keyText({ db = 0, key, type, value, expiresAt }: DumpEntry, at: number): string {
  const where = db === 0 ? '' : ` (database ${db})`;
  const what = type === 'string' ? wordText(value) : `${type} ${wordText(JSON.stringify(value))}`;
  const until = expiresAt === undefined ? 'never expires' : `expires in ${Math.max(0, expiresAt - at)} ms`;
  return `${wordText(key)}${where} = ${what}, ${until}`;
}
