/** Commands of a connection's life (https://redis.io/docs/latest/commands/?group=connection). */

import { fail } from '../../protocol/errors.ts';
import { OK, PONG } from '../../protocol/reply.ts';
import { integer } from '../arguments.ts';
import { push, RESP2_SUBSCRIBER } from '../client.ts';
import { defineCommands } from '../command.ts';

export const connectionCommands = defineCommands('connection', {
  ping: {
    summary: 'Answers PONG, or the message it was given.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: -1,
    flags: ['fast'],
    run(client, argv) {
      if (argv.length > 2) fail("ERR wrong number of arguments for 'ping' command");
      if (client.has(RESP2_SUBSCRIBER)) return push('pong', argv[1] ?? '');
      return argv[1] ?? PONG;
    },
  },
  echo: {
    summary: 'Answers the message it was given.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 2,
    flags: ['fast'],
    run: (_client, argv) => argv[1],
  },
  select: {
    summary: 'Makes another database the current one.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 2,
    flags: ['loading', 'stale', 'fast'],
    run(client, argv) {
      const index = integer(argv[1]);
      if (index < 0 || index >= client.server.databases.length) fail('ERR DB index is out of range');
      client.db = client.server.db(index);
      return OK;
    },
  },
  quit: {
    summary: 'Closes the connection after the replies so far.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: -1,
    flags: ['noscript', 'loading', 'stale', 'fast', 'no_auth', 'allow_busy'],
    run(client) {
      client.reply(OK);
      client.close();
      return undefined;
    },
  },
});
