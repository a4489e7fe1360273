/** LAB SEED, DUMP and REQUESTS: data in one step, and what clients have asked for. */
import { asciiUpper, type Bytes, fromText } from '../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../protocol/errors.ts';
import { MapReply, type Reply } from '../../protocol/reply.ts';
import { defineContainer } from '../../server/commands/define.ts';
import { redacted } from '../../server/figures/redaction.ts';
import type { Caller, Server } from '../../server/server.ts';
import type { Command } from '../../server/table/command.ts';
import { commandOf } from '../../server/table/resolve.ts';
import { InterceptRule, keysOf } from '../../start/control/interceptor.ts';
import type { RecordedRequest } from '../../start/control/recording.ts';
import type { DumpEntry, Seed } from '../../start/dataset.ts';
import { encodeText } from '../../start/text.ts';
import { numberOf, textOf } from './arguments.ts';
import { filterOf, placeOf } from './intercept-commands.ts';
import { type LabSubject, sessionOf } from './session.ts';
import { about, attempt, done, HEAD } from './table.ts';

/** Bytes that are not UTF-8, as JSON has them. */
interface Base64 {
  readonly base64: string;
}

function isBase64(value: unknown): value is Base64 {
  return typeof value === 'object' && value !== null && 'base64' in value && typeof value.base64 === 'string';
}

/** The entries of a dump as JSON. */
function dumpText(entries: readonly DumpEntry[]): Bytes {
  // JSON would call toJSON of a Buffer first, so the value is taken from its object.
  const text = JSON.stringify(entries, function (this: Record<string, unknown>, name, value: unknown) {
    const own = this[name];
    return Buffer.isBuffer(own) ? ({ base64: own.toString('base64') } satisfies Base64) : value;
  });
  return fromText(text);
}

/** What JSON says of a seed. Throws an error for text that is no JSON. In a list of entries, { base64 } stands for bytes. */
function seedOf(json: string): Seed {
  let data: unknown;
  try {
    data = JSON.parse(json);
  } catch (error) {
    fail(fromText(`ERR the seed is no JSON: ${(error as Error).message.replace(/\s+/g, ' ')}`));
  }
  if (!Array.isArray(data)) return data as Seed;
  return JSON.parse(json, (_, value: unknown) =>
    isBase64(value) ? Buffer.from(value.base64, 'base64') : value,
  ) as Seed;
}

/** The words of a request, without passwords. */
function wordsOf({ commands, dialect }: Server, request: RecordedRequest): Bytes[] {
  const words = [request.command, ...request.args].map(encodeText);
  const command = commandOf(commands, words);
  return command === undefined ? words : [...redacted(command, words, dialect.hides)];
}

function requestReply(server: Server, request: RecordedRequest): Reply {
  const { at, node, client, reply } = request;
  const { party, name, id } = client;
  return new MapReply([
    ...['at', at, 'node', node === undefined ? null : fromText(node)],
    ...['client', fromText(party ?? name) || null, 'connection', id],
    ...['command', wordsOf(server, request)],
    ...['reply', reply === undefined ? null : fromText(reply)],
  ]);
}

/** The requests so far that match. @param server knows the commands and their keys */
function requests(server: Server, subject: LabSubject, words: readonly Bytes[]): Reply {
  const filters: Bytes[] = [];
  let [count, clears]: [number, boolean] = [Infinity, false];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (asciiUpper(word) === 'CLEAR') clears = true;
    else if (asciiUpper(word) === 'COUNT') count = numberOf(words[++at] ?? fail(SYNTAX));
    else filters.push(word, words[++at] ?? fail(SYNTAX));
  }
  if (count < 0 || (count !== Infinity && !Number.isInteger(count)))
    fail('ERR COUNT must be a whole number from 0');
  const { filter, node } = filterOf(filters);
  if (node !== undefined) placeOf(subject, node);
  const recording = sessionOf(subject).record();
  const rule = attempt(() => new InterceptRule(server, filter, 'disconnect'));
  const found = recording.entries.filter((request) => {
    if (node !== undefined && request.node !== node) return false;
    return rule.hit(request, () => keysOf(server, [request.command, ...request.args].map(encodeText)));
  });
  if (clears) recording.clear();
  const last = count === 0 ? [] : found.slice(-count);
  return last.map((request) => requestReply(server, request));
}

/** The subcommands about data and requests. @param subject returns what has them */
export function dataCommands(subject: () => LabSubject): Command<Caller> {
  return defineContainer('server', 'lab', HEAD, {
    seed: {
      ...about,
      summary:
        'Stores keys in one step: JSON with an object of keys and values, or with the list that DUMP returns. Replaces keys that exist.',
      syntax: 'json',
      arity: 3,
      run: (_client, argv) => done(() => subject().seed(seedOf(textOf(argv[2])))),
    },
    dump: {
      ...about,
      summary:
        'Returns every key of the primary, or of another node, as JSON: a list of entries with key, type, value, db and expiresAt.',
      syntax: '[node]',
      arity: -2,
      run(_client, argv) {
        if (argv.length > 3) fail("ERR wrong number of arguments for 'lab|dump' command");
        const place = placeOf(subject(), argv[2] === undefined ? undefined : textOf(argv[2]));
        return dumpText(attempt(() => place.dump()));
      },
    },
    requests: {
      ...about,
      summary:
        'Lists the requests of clients that match, in order, or the last of them; with CLEAR, forgets all requests so far.',
      syntax: '[FROM=client] [ON=node] [COMMAND=command] [KEY=pattern] [ARGUMENT=word] [COUNT=n:int] [CLEAR]',
      arity: -2,
      run: (client, argv) => requests(client.server, subject(), argv.slice(2)),
    },
  });
}
