/** Transactions and optimistic locking (https://redis.io/docs/latest/commands/?group=transactions). */

import { encodeArrayHead } from '../../../protocol/encode.ts';
import { EXECABORT, fail } from '../../../protocol/errors.ts';
import { NULL_ARRAY, OK, ReplyError } from '../../../protocol/reply.ts';
import type { Denial } from '../../acl/selector.ts';
import { call } from '../../call.ts';
import { IN_MULTI, RESTRICTED, type Transaction } from '../../clients/client.ts';
import type { Caller } from '../../server.ts';
import { wordAt } from '../../table/arguments.ts';
import { type Flag, keys } from '../../table/command.ts';
import { type Outcome, PAUSED, SILENT, Unanswered } from '../../table/outcome.ts';
import { defineCommands } from '../define.ts';

const AT_ONCE: readonly Flag[] = ['noscript', 'loading', 'stale', 'fast', 'allow_busy'];

/** Runs the queued commands. Each reply is written at once, because pub/sub messages may be written between them. */
function run(client: Caller, transaction: Transaction): Outcome {
  client.server.effects.propagateAs();
  if (client.protocol === 3) client.output.holdPushes();
  client.output.write(client.muted ? '' : encodeArrayHead(transaction.queue.length));
  return runFrom(client, transaction, 0);
}

/** Runs the queue from the given command on. If a slow script interrupts it, the rest runs later. */
function runFrom(client: Caller, transaction: Transaction, first: number): Outcome {
  const { server } = client;
  const { queue } = transaction;
  const keys = server.dialect.queuedKeys === 'checked again';
  for (let at = first; at < queue.length; at++) {
    const { command, argv } = queue[at]!;
    const denied = client.has(RESTRICTED)
      ? server.acl.refuse(client, command, argv, client.db.index, false, keys)
      : undefined;
    const outcome = denied === undefined ? call(server, client, command, argv) : changedRules(denied);
    if (outcome === PAUSED) {
      server.slowScript.afterwards((later) => {
        if (!(later instanceof Unanswered)) client.reply(later);
        return runFrom(client, transaction, at + 1);
      });
      return PAUSED;
    }
    if (!(outcome instanceof Unanswered)) client.reply(outcome);
    // If the client has closed its own connection (ACL DELUSER, CLIENT KILL), the rest runs without output.
    if (client.closing) client.output.end();
  }
  client.discard();
  client.output.releasePushes();
  return SILENT;
}

const WHY = {
  command: 'no permission to execute the command or subcommand',
  key: 'no permission to touch the specified keys',
  channel: 'no permission to access one of the channels used as arguments',
  database: 'no permission',
};

function changedRules({ what }: Denial): ReplyError {
  return new ReplyError(
    `NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. This command is no longer allowed for the following reason: ${WHY[what]}`,
  );
}

function exec(client: Caller): Outcome {
  const { transaction } = client;
  if (transaction === undefined) fail('ERR EXEC without MULTI');
  if (transaction.aborted || client.watches.isSpoilt()) {
    client.discard();
    return transaction.aborted ? fail(EXECABORT) : NULL_ARRAY;
  }
  client.watches.clear();
  return run(client, transaction);
}

export const transactionCommands = defineCommands('transactions', {
  multi: {
    summary: 'Begins a transaction: the commands that follow are queued.',
    since: '1.2.0',
    complexity: 'O(1)',
    changes: [
      {
        since: { valkey: '8.0.0' },
        flags: ['noscript', 'loading', 'stale', 'fast', 'no_multi', 'allow_busy'],
      },
    ],
    arity: 1,
    flags: AT_ONCE,
    run(client) {
      if (client.has(IN_MULTI)) fail('ERR MULTI calls can not be nested');
      client.transaction = { queue: [], bytes: 0, aborted: false };
      client.watches.used = true;
      client.mark(IN_MULTI, true);
      return OK;
    },
  },
  exec: {
    summary: 'Runs the queued commands as one, unless a watched key has changed.',
    since: '1.2.0',
    complexity: "That of the transaction's commands",
    changes: [{ since: { valkey: '8.0.0' }, flags: ['noscript', 'loading', 'stale', 'skip_commandlog'] }],
    arity: 1,
    flags: ['noscript', 'loading', 'stale', 'skip_slowlog'],
    run: exec,
  },
  discard: {
    summary: 'Drops the queued commands and ends the transaction.',
    since: '2.0.0',
    complexity: 'O(N) with N the number of queued commands',
    arity: 1,
    flags: AT_ONCE,
    run(client) {
      if (!client.has(IN_MULTI)) fail('ERR DISCARD without MULTI');
      client.discard();
      return OK;
    },
  },
  watch: {
    summary: 'Makes the next transaction depend on keys staying as they are.',
    since: '2.2.0',
    complexity: 'O(1) per key',
    changes: [
      {
        since: { valkey: '8.0.0' },
        flags: ['noscript', 'loading', 'stale', 'fast', 'no_multi', 'allow_busy'],
      },
    ],
    arity: -2,
    flags: AT_ONCE,
    keys: keys('RO'),
    run(client, argv) {
      if (client.has(IN_MULTI)) fail('ERR WATCH inside MULTI is not allowed');
      const { db, watches } = client;
      watches.used = true;
      if (!watches.touched) for (let i = 1; i < argv.length; i++) watches.add(db, wordAt(argv, i));
      return OK;
    },
  },
  unwatch: {
    summary: 'Forgets the keys that are watched.',
    since: '2.2.0',
    complexity: 'O(1)',
    arity: 1,
    flags: AT_ONCE,
    run(client) {
      client.watches.clear();
      return OK;
    },
  },
});
