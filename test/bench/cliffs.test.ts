/** The rows of `npm run bench -- --only cliffs`: every command that touches several elements has one, and none is an error. */
import { expect, test } from 'vitest';
import { cliffsOf, DATA, FIRST, WITHOUT_ROW } from '../../bench/loads/cliffs.ts';
import { commandsOf } from '../../server/commands/index.ts';
import { dialectNamed, dialectNames } from '../../server/dialects/index.ts';
import { createNode } from '../../server/index.ts';
import { TestHost } from '../support/targets.ts';
import { Conversation } from '../transcripts/own.ts';

const SIZE = 20;

/** The commands of every dialect whose entry in the table does not say that they touch one element. */
function ofSeveral(): string[] {
  const all = dialectNames
    .flatMap((name) => commandsOf(dialectNamed(name), true))
    .flatMap((command) =>
      command.subcommands === undefined ? [command] : [...command.subcommands.values()],
    );
  const names = all.filter(({ spec }) => spec.complexity !== 'O(1)').map(({ fullName }) => fullName);
  return [...new Set(names)];
}

test('each command has a row, a reason for none, or O(1) as its complexity in the table', () => {
  const rows = new Set(cliffsOf(SIZE).map(({ command }) => command));
  const isApart = (name: string): boolean => WITHOUT_ROW.some(([names]) => names.test(name));
  const missing = ofSeveral().filter((name) => !rows.has(name) && !isApart(name));
  expect(missing, 'each gets a row in bench/loads/cliffs.ts, or a reason in WITHOUT_ROW there').toEqual([]);
  expect([...rows].filter(isApart)).toEqual([]);
});

test('every row is of its command, and is answered without an error', () => {
  const node = createNode(new TestHost(), { dialect: 'redis-8.2' });
  const client = new Conversation(node);
  const ask = (words: readonly string[]): string =>
    client.ask(words.map((word) => JSON.stringify(word)).join(' '));
  for (const line of FIRST) ask(line.split(' '));
  for (const [, script] of DATA)
    ask(['EVAL', `for i = ARGV[1], ARGV[2] do ${script} end`, '0', '1', String(SIZE)]);
  expect(client.ask('DBSIZE')).toBe(`:${SIZE + 14}`);
  for (const { command, requests } of cliffsOf(SIZE)) {
    const name = command.split('|').join(' ');
    expect(requests.map((words) => words.join(' ').toLowerCase().startsWith(name))).toContain(true);
    for (const words of requests) expect(ask(words), words.join(' ')).not.toMatch(/^-|^$/);
  }
  node.stop();
});
