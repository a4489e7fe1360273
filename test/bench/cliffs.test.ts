/** The rows of `npm run bench -- --only cliffs`: every command that touches several elements has one, and none is an error. */
import { expect, test } from 'vitest';
import { CLUSTER, cliffsOf, DATA, FIRST, WITHOUT_ROW } from '../../bench/loads/cliffs.ts';
import { commandsOf } from '../../server/commands/index.ts';
import { dialectNamed, dialectNames } from '../../server/dialects/index.ts';
import { createNode } from '../../server/index.ts';
import { TestHost } from '../support/targets.ts';
import { Conversation } from '../transcripts/own.ts';

const SIZE = 20;

interface Told {
  readonly fullName: string;
  readonly spec: { readonly complexity?: string };
}

/** Every command and subcommand of every dialect, with its complexity. */
function allCommands(): Told[] {
  return dialectNames
    .flatMap((name) => commandsOf(dialectNamed(name), true))
    .flatMap((command) =>
      command.subcommands === undefined ? [command] : [...command.subcommands.values()],
    );
}

const rows = new Set(cliffsOf(SIZE).map(({ command }) => command));
const isApart = (name: string): boolean => WITHOUT_ROW.some(([names]) => names.test(name));

/** The commands without a row and without a reason for none, though their entries in the table do not say that they touch one element. */
function missingOf(commands: readonly Told[]): string[] {
  const names = commands.filter(({ spec }) => spec.complexity !== 'O(1)').map(({ fullName }) => fullName);
  return [...new Set(names)].filter((name) => !rows.has(name) && !isApart(name));
}

test('each command has a row, a reason for none, or O(1) as its complexity in the table', () => {
  const names = new Set(['command', ...allCommands().map(({ fullName }) => fullName)]);
  const advice = 'each gets a row in bench/loads/cliffs.ts, or a reason in WITHOUT_ROW there';
  expect(missingOf(allCommands()), advice).toEqual([]);
  expect([...rows].filter(isApart)).toEqual([]);
  expect([...rows].filter((name) => !names.has(name))).toEqual([]);
});

test('a command that is added without a row is named, unless it touches one element', () => {
  const added = ['O(N)', 'O(1)'].map((complexity) => ({
    fullName: `planted ${complexity}`,
    spec: { complexity },
  }));
  expect(missingOf([...allCommands(), ...added])).toEqual(['planted O(N)']);
});

test('every row is of its command, and is answered without an error', () => {
  expect([...new Set(cliffsOf(SIZE).map(({ data }) => data))].toSorted()).toEqual(
    Object.keys(DATA).toSorted(),
  );
  for (const [data, script] of Object.entries(DATA)) {
    const node = createNode(new TestHost(), { dialect: 'redis-8.2' });
    const client = new Conversation(node);
    const ask = (words: readonly string[]): string =>
      client.ask(words.map((word) => JSON.stringify(word)).join(' '));
    for (const line of FIRST) ask(line.split(' '));
    ask(['EVAL', `for i = ARGV[1], ARGV[2] do ${script} end`, '0', '1', String(SIZE)]);
    for (const { command, requests } of cliffsOf(SIZE).filter((row) => row.data === data)) {
      const name = command.split('|').join(' ');
      expect(requests.map((words) => words.join(' ').toLowerCase().startsWith(name))).toContain(true);
      if (data === CLUSTER) continue;
      for (const words of requests) expect(ask(words), words.join(' ')).not.toMatch(/^-|^$/);
    }
    node.stop();
  }
});
