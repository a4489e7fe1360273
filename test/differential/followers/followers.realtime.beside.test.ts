/** Replicas and primaries of real servers and ours, in each dialect, have the same data after generated commands. */
import { describe, expect } from 'vitest';
import { dialectNames } from '../../../server/dialects/index.ts';
import { testBeside } from '../../support/beside/each.ts';
import { sampleOf } from '../../support/long.ts';
import { compareFollowers } from './pair.ts';

const LIMIT = 600_000;

describe('a pair of a real server and ours has the same data', () => {
  for (const roles of ['real to lostlock', 'lostlock to real'] as const) {
    testBeside(
      dialectNames,
      `${roles}, %s`,
      async (dialect, program) => {
        const commands = sampleOf(20_000, 2600);
        const done = await compareFollowers(dialect, program, roles, { commands, seed: 3 });
        expect(done.differences).toEqual([]);
        expect(done.commands).toBeGreaterThanOrEqual(commands);
        // The link was cut, and the replica came back in both ways.
        expect(done.partial).toBeGreaterThan(0);
        expect(done.full).toBeGreaterThan(0);
      },
      LIMIT,
    );
  }

  testBeside(
    dialectNames,
    'and a replica of %s that is changed is found',
    async (dialect, program) => {
      const library = "#!lua name=mine\nredis.register_function('mine', function() return 1 end)";
      const changes = [
        ['CONFIG', 'SET', 'replica-read-only', 'no'],
        ['SET', 'changed', 'x'],
        ['FUNCTION', 'LOAD', 'REPLACE', library],
        ['XGROUP', 'CREATE', 'made', 'grp', '0', 'MKSTREAM'],
      ] as const;
      const done = await compareFollowers(dialect, program, 'real to lostlock', {
        ...{ commands: 1, seed: 3, most: 1 },
        async meddle(replica) {
          for (const [name, ...words] of changes) await replica.ask(name, ...words);
        },
      });
      const [found = ''] = done.differences;
      for (const name of ['0 "changed"', 'library mine', '0 "made"'])
        expect(found).toContain(`\n  ${name}\n`);
    },
    LIMIT,
  );
});
