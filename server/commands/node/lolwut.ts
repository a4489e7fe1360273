/** LOLWUT: a drawing, different from Redis' own, and the version (https://redis.io/docs/latest/commands/lolwut/). */

import { LOSTLOCK_VERSION } from '../../../base/version.ts';
import { asciiUpper, type Bytes } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import { type Reply, Verbatim } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { float, integer } from '../../table/arguments.ts';
import type { Argv } from '../../table/command.ts';
import { defineCommands } from '../define.ts';

/** Padlocks of four lines: closed and open. */
const CLOSED = ['  .--.  ', ' _|  |_ ', '| .--. |', '|__||__|'];
const OPEN = ['  .--.  ', ' _|     ', '| .--. |', '|__||__|'];
const COLUMNS = 6;
const MOST = 20;

/** Draws a row of locks. Each is open with a probability of 0.2. */
function row(columns: number, random: () => number): string[] {
  const locks = Array.from({ length: columns }, () => (random() < 0.2 ? OPEN : CLOSED));
  return CLOSED.map((_, line) => locks.map((lock) => lock[line]).join(' '));
}

/** How many numbers a picture takes: the whole numbers of a version, of which only those of 5 and 6 shape our picture. */
const WHOLE_NUMBERS = new Map([
  [5, 3],
  [6, 2],
  [8, 0],
  [9, 2],
]);

/** Checks the arguments of the Julia set of Valkey 9: none, its size, or its size and a complex number. */
function checkSet(words: readonly Bytes[]): void {
  if (![0, 2, 4].includes(words.length)) {
    fail('ERR Syntax error. Use: LOLWUT [columns rows] [real imaginary]');
  }
  for (const [i, word] of words.entries()) if (i < 2) integer(word);
  for (const word of words.slice(2)) float(word);
}

/** LOLWUT [VERSION number] [argument …]. A version without a picture, here and on the dialect's server, is a line of text. */
function lolwut(client: Caller, argv: Argv<-1>): Reply {
  const { host, dialect } = client.server;
  const { signature, alone, picture } = dialect.lolwut;
  const versioned = argv.length >= 3 && asciiUpper(argv[1] ?? '') === 'VERSION';
  const version = versioned ? integer(argv[2] ?? '') : picture;
  const words = argv.slice(versioned ? 3 : 1);
  if (version !== 5 && version !== 6 && (version === undefined || version !== picture)) {
    return new Verbatim('txt', `${alone}\n`);
  }
  if (version === 9) checkSet(words);
  const numbers = words.slice(0, WHOLE_NUMBERS.get(version)).map((word) => integer(word));
  const [columns = COLUMNS, rows = 1] = numbers.map((number) => Math.max(1, Math.min(MOST, number)));
  const lines: string[] = [];
  for (let i = 0; i < rows; i++) lines.push(...row(columns, () => host.random()), '');
  lines.push(`One of these locks was yours. lostlock ${LOSTLOCK_VERSION}`, signature, '');
  return new Verbatim('txt', lines.join('\n'));
}

export const lolwutCommands = defineCommands('server', {
  lolwut: {
    summary: 'Draws a picture and shows the version.',
    since: '5.0.0',
    arity: -1,
    flags: ['readonly', 'fast'],
    run: lolwut,
  },
});
