/** LAB NEW: a lab as at its start, between two tests. */
import { OK } from '../../protocol/reply.ts';
import { defineContainer } from '../../server/commands/define.ts';
import type { Caller } from '../../server/server.ts';
import type { Command } from '../../server/table/command.ts';
import { about, HEAD } from './table.ts';
import { whenDone } from './when-done.ts';

/** The subcommand that begins anew. @param renew starts another pair in place of the one that runs */
export function newCommands(renew: () => Promise<void>): Command<Caller> {
  return defineContainer('server', 'lab', HEAD, {
    new: {
      ...about,
      summary:
        'Starts the nodes anew, as at the beginning: empty, with their first roles, links and clocks, without actors, rules and a trace. The URLs of the primary and of the lab stay.',
      arity: 2,
      run: (client) => whenDone(client, () => renew().then(() => OK)),
    },
  });
}
