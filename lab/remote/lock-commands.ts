/** The subcommands of LAB that show the holders of locks, and the times at which two clients held one. */
import { fail, SYNTAX } from '../../protocol/errors.ts';
import { defineContainer } from '../../server/commands/define.ts';
import type { Caller } from '../../server/server.ts';
import type { Command } from '../../server/table/command.ts';
import { checkLocks } from '../account/queries.ts';
import type { RealClockPair } from '../real-clock/pair.ts';
import { LabArguments } from './arguments.ts';
import { holderReply, overlapReply } from './replies.ts';
import { about, done, HEAD } from './table.ts';

/** The subcommands about what happened to locks. */
export function lockCommands(lab: () => RealClockPair): Command<Caller> {
  return defineContainer('server', 'lab', HEAD, {
    holders: {
      ...about,
      summary: 'Lists the clients that hold a lock now, or believe so, or are inside (ENTER).',
      syntax: 'key',
      arity: 3,
      run: (_client, argv) => lab().holders(argv[2]).map(holderReply),
    },
    overlaps: {
      ...about,
      summary:
        'Lists the times in which two clients believed that they held the same lock, or were inside one resource (ENTER).',
      arity: 2,
      run: () => lab().overlaps().map(overlapReply),
    },
    locks: {
      ...about,
      summary: 'Lists the locks so far; or says which keys are locks, and which are none, by patterns.',
      syntax: '[change:(ADD=pattern | EXCLUDE=pattern | RESET)]',
      arity: -2,
      run(_client, argv) {
        const { trace } = lab().network;
        const options = new LabArguments(argv.slice(2), ['ADD', 'EXCLUDE'], ['RESET']);
        if (argv.length === 2) return [...lab().account().locks];
        if (argv.length > (options.has('RESET') ? 3 : 4)) fail(SYNTAX);
        const [add, exclude] = [options.text('ADD'), options.text('EXCLUDE')];
        const pattern = add ?? (exclude === undefined ? undefined : `!${exclude}`);
        const patterns = pattern === undefined ? [] : [...trace.locks, pattern];
        return done(() => {
          checkLocks(patterns);
          trace.locks = patterns;
        });
      },
    },
  });
}
