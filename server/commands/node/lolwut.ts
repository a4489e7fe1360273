/** LOLWUT: a drawing, different from Redis' own, and the version (https://redis.io/docs/latest/commands/lolwut/). */

import { LOSTLOCK_VERSION } from '../../../base/version.ts';
import { asciiUpper } from '../../../protocol/bytes.ts';
import { type Reply, Verbatim } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { integer } from '../../table/arguments.ts';
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

/** LOLWUT [VERSION number] [columns [rows]] */
function lolwut(client: Caller, argv: Argv<-1>): Reply {
  const versioned = argv.length >= 3 && asciiUpper(argv[1] ?? '') === 'VERSION';
  const numbers = versioned ? argv.slice(2).map((word) => integer(word)) : [];
  const [, columns = COLUMNS, rows = 1] = numbers.map((number) => Math.max(1, Math.min(MOST, number)));
  const { host, dialect } = client.server;
  const lines: string[] = [];
  for (let i = 0; i < rows; i++) lines.push(...row(columns, () => host.random()), '');
  lines.push(`One of these locks was yours. lostlock ${LOSTLOCK_VERSION}`, dialect.lolwut, '');
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
