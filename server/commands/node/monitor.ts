/** MONITOR: shows the commands that run (https://redis.io/docs/latest/commands/monitor/). */
import { fail } from '../../../protocol/errors.ts';
import { OK } from '../../../protocol/reply.ts';
import { IN_MULTI, MONITOR, REPLICA_LINK } from '../../clients/client.ts';
import { SILENT } from '../../table/outcome.ts';
import { defineCommands } from '../define.ts';

export const monitorCommands = defineCommands('server', {
  monitor: {
    summary: 'Shows every command that runs from now on.',
    since: '1.0.0',
    arity: 1,
    flags: ['admin', 'noscript', 'loading', 'stale'],
    run(client) {
      if (client.has(IN_MULTI)) fail("ERR MONITOR isn't allowed for DENY BLOCKING client");
      // A replica's MONITOR is ignored.
      if (client.has(REPLICA_LINK)) return SILENT;
      client.mark(REPLICA_LINK | MONITOR, true);
      client.server.observer.watch(client);
      return OK;
    },
  },
});
