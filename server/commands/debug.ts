/** DEBUG: what test suites ask of it: sleep, expiry on and off, an object's encoding, an error of one's own. */
import { asciiUpper, type Bytes, parseDouble } from '../../protocol/bytes.ts';
import { fail } from '../../protocol/errors.ts';
import { OK, type Reply, ReplyError, SimpleString } from '../../protocol/reply.ts';
import type { Client } from '../client.ts';
import { type Command, defineCommands } from '../command.ts';
import { encodingOf } from '../encodings.ts';

/** Everybody waits on the host's clock; the sleeper is answered at its end. */
function sleep(client: Client, seconds: Bytes): Reply | undefined {
  const { pausing, blocking } = client.server;
  const timeout = Math.floor((parseDouble(seconds) ?? 0) * 1000);
  if (!(timeout > 0)) return OK;
  pausing.pause(timeout, true);
  const awake = (): Reply => {
    client.server.observer.record(
      client,
      client.lastCommand as Command,
      ['DEBUG', 'SLEEP', seconds],
      timeout * 1000,
    );
    return OK;
  };
  return blocking.block(client, { kind: 'wait', timeout, timeoutReply: awake, refusal: OK });
}

function setActiveExpire(client: Client, word: Bytes): Reply {
  const { expiry } = client.server;
  expiry.active = word !== '0';
  if (!expiry.active) expiry.cancel();
  return OK;
}

function describe(client: Client, key: Bytes): Reply {
  const entry = client.db.peek(key) ?? fail('ERR no such key');
  const what = `refcount:1 encoding:${encodingOf(entry)} serializedlength:1`;
  return new SimpleString(`Value at:0x000000000000 ${what} lru:0 lru_seconds_idle:0`);
}

const SUBCOMMANDS: Record<string, (client: Client, word: Bytes) => Reply | undefined> = {
  SLEEP: sleep,
  'SET-ACTIVE-EXPIRE': setActiveExpire,
  OBJECT: describe,
  ERROR: (_client, text) => new ReplyError(text.replace(/[\r\n]/g, ' ')),
};

export const debugCommands = defineCommands('server', {
  debug: {
    summary: 'Helps to test: SLEEP, SET-ACTIVE-EXPIRE, OBJECT, ERROR.',
    since: '1.0.0',
    complexity: 'Depends on subcommand.',
    arity: -2,
    flags: ['admin', 'noscript', 'loading', 'stale'],
    run(client, argv) {
      const name = asciiUpper(argv[1]);
      const run = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
      if (run !== undefined && argv.length === 3) return run(client, argv[2] as Bytes);
      return fail(`ERR unknown subcommand or wrong number of arguments for '${argv[1]}'. Try DEBUG HELP.`);
    },
  },
});
