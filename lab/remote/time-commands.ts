/** LAB ADVANCE: lets time pass at once. */
import { fail } from '../../protocol/errors.ts';
import { OK } from '../../protocol/reply.ts';
import { defineContainer } from '../../server/commands/define.ts';
import type { Caller } from '../../server/server.ts';
import type { Command } from '../../server/table/command.ts';
import { numberOf } from './arguments.ts';
import type { LabSubject } from './session.ts';
import { about, HEAD } from './table.ts';
import { whenDone } from './when-done.ts';

/** The subcommand about time. @param subject returns what the time passes for */
export function timeCommands(subject: () => LabSubject): Command<Caller> {
  return defineContainer('server', 'lab', HEAD, {
    advance: {
      ...about,
      summary:
        'Lets time pass at once, for all nodes and their timers, for delayed messages, and for leases as the lab counts them. It does not move the timers of clients.',
      syntax: 'milliseconds:int',
      arity: 3,
      run(client, argv) {
        const ms = numberOf(argv[2]);
        if (!Number.isInteger(ms) || ms < 0)
          fail('ERR the time must be a whole number of milliseconds, 0 or more');
        return whenDone(client, () =>
          subject()
            .advance(ms)
            .then(() => OK),
        );
      },
    },
  });
}
