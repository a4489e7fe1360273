/** SHUTDOWN: stops the node (https://redis.io/docs/latest/commands/shutdown/). */

import { asciiUpper, type Bytes } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import { ReplyError } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { type Outcome, SILENT } from '../../table/outcome.ts';
import { defineCommands } from '../define.ts';

function shutDown(client: Caller, argv: readonly Bytes[]): Outcome {
  const { server } = client;
  const words = new Set(argv.slice(1).map(asciiUpper));
  for (const word of words) if (!['SAVE', 'NOSAVE', 'NOW', 'FORCE', 'ABORT'].includes(word)) fail(SYNTAX);
  if (words.has('ABORT')) {
    if (words.size > 1 || argv.length > 2) fail(SYNTAX);
    fail('ERR No shutdown in progress.');
  }
  if (words.has('SAVE') && words.has('NOSAVE')) fail(SYNTAX);
  if (server.slowScript.active && !words.has('NOSAVE')) fail(server.slowScript.busyText);
  const saves = words.has('SAVE') || (server.settings.save !== '' && !words.has('NOSAVE'));
  if (saves) {
    try {
      server.dumpFile.saveUncounted();
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error;
      if (!words.has('FORCE')) fail('ERR Errors trying to SHUTDOWN. Check logs.');
    }
  }
  server.log('notice', 'User requested shutdown');
  client.close();
  server.host.clock.soon(() => server.onShutdown());
  return SILENT;
}

export const shutdownCommands = defineCommands('server', {
  shutdown: {
    summary: 'Saves the dataset if asked or configured to, and stops the server.',
    since: '1.0.0',
    complexity: 'O(N) with N the number of keys when it saves',
    arity: -1,
    flags: ['admin', 'noscript', 'loading', 'stale', 'no_multi', 'allow_busy'],
    run: shutDown,
  },
});
