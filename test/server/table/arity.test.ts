/** How a command's arity types the arguments of its handler. */
import { expect, test } from 'vitest';
import type { Bytes } from '../../../protocol/bytes.ts';
import { defineCommands } from '../../../server/commands/define.ts';
import { wordAt } from '../../../server/table/arguments.ts';
import type { Argv } from '../../../server/table/command.ts';

const about = { summary: 'Proves the types of a handler.', since: '0.1.0', flags: [] } as const;

test('the arity proves which words are there, and the compiler refuses a handler that reads one more', () => {
  const third = (_: unknown, argv: Argv<-3>): Bytes => argv[2];
  const declared = defineCommands('generic', {
    exact: {
      ...about,
      arity: 3,
      run: (_, [name, first, second]) => [name, first, second].map((word: Bytes) => word.length),
    },
    least: { ...about, arity: -3, run: third },
    // @ts-expect-error: -2 proves two words, and the handler reads the third.
    short: { ...about, arity: -2, run: third },
    beyond: {
      ...about,
      arity: 2,
      // @ts-expect-error: there is no third word.
      run: (_, argv) => argv[2],
    },
  });
  expect(declared.map(({ name, arity }) => [name, arity])).toEqual([
    ['exact', 3],
    ['least', -3],
    ['short', -2],
    ['beyond', 2],
  ]);
});

test('reading a missing word throws instead of returning undefined', () => {
  expect(wordAt(['set', 'k'], 1)).toBe('k');
  expect(() => wordAt(['set', 'k'], 2)).toThrow(new RangeError('word 2 of a request of 2 words was read'));
});
