/** List commands that wait for an element (https://redis.io/docs/latest/commands/?group=list). */

import { asciiLower, type Bytes } from '../../../protocol/bytes.ts';
import { NULL_ARRAY, type Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { wordAt } from '../../table/arguments.ts';
import { countedKeys, type Flag, key, keys } from '../../table/command.ts';
import type { Outcome } from '../../table/outcome.ts';
import { secondsToWait } from '../../table/timeouts.ts';
import { defineCommands } from '../define.ts';
import {
  type End,
  listEnd,
  type Move,
  move,
  multiPop,
  parseMultiPop,
  popEffect,
  popNow,
  take,
} from './parts.ts';

const BLOCKS: readonly Flag[] = ['write', 'noscript', 'blocking'];
const MOVES = [...key('RW ACCESS DELETE'), ...key('RW INSERT', 2)];

/** Pops one element of the first list that has one. Returns it with the list's name. */
function pop(client: Caller, names: readonly Bytes[], end: End): [name: Bytes, element: Bytes] | undefined {
  for (const name of names) {
    const list = client.db.get(name, 'list');
    if (list !== undefined) return [name, take(client, name, list, end, 1)[0]!];
  }
  return undefined;
}

function blockingPop(end: End) {
  return (client: Caller, argv: readonly Bytes[]): Outcome => {
    const { server } = client;
    const timeout = secondsToWait(client, wordAt(argv, argv.length - 1));
    const names = argv.slice(1, -1);
    const popped = pop(client, names, end);
    if (popped !== undefined) {
      if (server.effects.feeding) server.effects.propagateAs(popEffect(popped[0], end));
      return popped;
    }
    const serve = (ready: readonly Bytes[]): Reply | undefined => {
      const served = pop(client, ready, end);
      if (served !== undefined) server.effects.propagateAlso(client.db, popEffect(served[0], end));
      return served;
    };
    return server.blocking.block(client, {
      type: 'list',
      keys: names,
      timeout,
      serve,
      timeoutReply: NULL_ARRAY,
    });
  };
}

/**
 * Moves an element, waiting for it if necessary. It is propagated as the client wrote it, or as Redis writes it if the
 * client had to wait.
 */
function blockingMove(
  client: Caller,
  moving: Move,
  text: Bytes,
  effect: readonly Bytes[],
  servedEffect = effect,
): Outcome {
  const { server } = client;
  const timeout = secondsToWait(client, text);
  const moved = move(client, moving);
  if (moved !== undefined) {
    if (server.effects.feeding) server.effects.propagateAs(effect);
    return moved;
  }
  return server.blocking.block(client, {
    type: 'list',
    keys: [moving.source],
    timeout,
    serve() {
      const served = move(client, moving);
      if (served !== undefined) server.effects.propagateAlso(client.db, servedEffect);
      return served;
    },
    timeoutReply: NULL_ARRAY,
    refusal: null,
  });
}

export const blockingListCommands = defineCommands('list', {
  blpop: {
    summary: 'Takes an element from the head of the first list that has one; waits for it.',
    since: '2.0.0',
    complexity: 'O(N) with N the number of lists',
    changes: [{ since: '7.2.0', flags: ['write', 'blocking'] }],
    arity: -3,
    flags: BLOCKS,
    keys: keys('RW ACCESS DELETE', 1, 1, -2),
    run: blockingPop('LEFT'),
  },
  brpop: {
    summary: 'Takes an element from the tail of the first list that has one; waits for it.',
    since: '2.0.0',
    complexity: 'O(N) with N the number of lists',
    changes: [{ since: '7.2.0', flags: ['write', 'blocking'] }],
    arity: -3,
    flags: BLOCKS,
    keys: keys('RW ACCESS DELETE', 1, 1, -2),
    run: blockingPop('RIGHT'),
  },
  brpoplpush: {
    summary: "Moves an element from one list's tail to another's head; waits for it.",
    since: '2.2.0',
    complexity: 'O(1)',
    changes: [{ since: '7.2.0', flags: ['write', 'denyoom', 'blocking'] }],
    arity: 4,
    flags: ['write', 'denyoom', 'noscript', 'blocking'],
    keys: MOVES,
    run: (client, [, source, target, timeout]) =>
      blockingMove(client, { source, target, from: 'RIGHT', to: 'LEFT' }, timeout, [
        'RPOPLPUSH',
        source,
        target,
      ]),
  },
  blmove: {
    summary: 'Moves an element from an end of one list to an end of another; waits for it.',
    since: '6.2.0',
    complexity: 'O(1)',
    changes: [{ since: '7.2.0', flags: ['write', 'denyoom', 'blocking'] }],
    arity: 6,
    flags: ['write', 'denyoom', 'noscript', 'blocking'],
    keys: MOVES,
    run(client, [, source, target, first, second, timeout]) {
      const from = listEnd(first);
      const to = listEnd(second);
      const effect = ['LMOVE', source, target, first, second];
      const small = client.server.dialect.servedMove === 'in small letters';
      const served = small ? ['LMOVE', source, target, asciiLower(from), asciiLower(to)] : effect;
      return blockingMove(client, { source, target, from, to }, timeout, effect, served);
    },
  },
  blmpop: {
    summary: 'Takes elements from the first of several lists that is not empty; waits for one.',
    since: '7.0.0',
    complexity: 'O(N+M) with N the number of lists and M that of elements taken',
    arity: -5,
    flags: ['write', 'blocking', 'movablekeys'],
    keys: countedKeys('RW ACCESS DELETE', 2),
    run(client, argv) {
      const { server } = client;
      const wanted = parseMultiPop(argv, 2);
      const timeout = secondsToWait(client, argv[1]);
      const serve = (names: readonly Bytes[]): Reply | undefined => {
        const popped = multiPop(client, { ...wanted, names });
        if (popped === undefined) return undefined;
        server.effects.propagateAlso(client.db, popped.effect);
        return popped.reply;
      };
      return (
        popNow(client, wanted) ??
        server.blocking.block(client, {
          type: 'list',
          keys: wanted.names,
          timeout,
          serve,
          timeoutReply: NULL_ARRAY,
        })
      );
    },
  },
});
