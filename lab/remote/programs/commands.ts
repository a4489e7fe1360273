/**
 * The subcommands of LAB by which programs take part in explorations: docs/programs.md is their page. Each message after NEXT
 * carries the token of a client in a world.
 */

import { LOSTLOCK_VERSION } from '../../../base/version.ts';
import { asciiLower, type Bytes, fromText } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import { MapReply, OK, type Reply } from '../../../protocol/reply.ts';
import { defineContainer } from '../../../server/commands/define.ts';
import type { Caller } from '../../../server/server.ts';
import type { Command } from '../../../server/table/command.ts';
import type { Outcome } from '../../../server/table/outcome.ts';
import { LabArguments, numberOf, textOf } from '../arguments.ts';
import { about, HEAD } from '../table.ts';
import { whenDone } from '../when-done.ts';
import {
  type ClientAtDesk,
  type HandedWorld,
  PROTOCOL_VERSION,
  type ProgramDesk,
  worldOver,
} from './desk.ts';
import { ENTER_SYNTAX, readEnter } from './enter.ts';

/** The longest text of a message that is kept, in characters. */
const LONGEST = 2000;

/** What a message says about itself beside its arguments. */
const NUMBER = '[NUMBER=number:int]';

/** Runs what a message asks for as the client that its token names. */
type As = (
  client: Caller,
  token: Bytes,
  number: number | undefined,
  act: (as: ClientAtDesk) => Promise<Reply>,
) => Outcome;

/** The subcommands. @param desk returns the desk; it may throw when no exploration runs */
export function programCommands(desk: () => ProgramDesk): Command<Caller> {
  const as: As = (client, token, number, act) => {
    const found = clientAt(desk(), token);
    return whenDone(client, () =>
      found.whileOpen(number === undefined ? act(found) : found.once(number, () => act(found))),
    );
  };
  const parts = [
    worldCommands(desk),
    lifeCommands(desk, as),
    visitCommands(as),
    operationCommands(as),
    judgeCommands(desk),
  ] as const;
  const subcommands = parts.flatMap((part) => [...(part.subcommands ?? [])]);
  return { ...parts[0], subcommands: new Map(subcommands) };
}

function clientAt(desk: ProgramDesk, token: Bytes): ClientAtDesk {
  return desk.clientOf(textOf(token)) ?? worldOver();
}

/** How a program gets worlds. */
function worldCommands(desk: () => ProgramDesk): Command<Caller> {
  return defineContainer('server', 'lab', HEAD, {
    hello: {
      ...about,
      summary: 'Agrees on the version of the protocol for programs.',
      syntax: 'version:int',
      arity: 3,
      run: (_client, argv) => hello(numberOf(argv[2])),
    },
    next: {
      ...about,
      summary:
        'Waits for a world, and returns the client that the program plays in it; nil when the time is over.',
      syntax: '[WITHIN=milliseconds:int]',
      arity: -2,
      run(client, argv) {
        const within = atLeast0('WITHIN', new LabArguments(argv.slice(2), ['WITHIN']).number('WITHIN'));
        const local = client.connection?.local ?? '';
        const port = Number(local.slice(local.lastIndexOf(':') + 1));
        return whenDone(client, async () => {
          const world = await desk().next(port, within);
          return world === undefined ? null : worldReply(world);
        });
      },
    },
  });
}

/** What a client says about itself. */
function lifeCommands(desk: () => ProgramDesk, as: As): Command<Caller> {
  return defineContainer('server', 'lab', HEAD, {
    sleep: {
      ...about,
      summary: 'Waits, as the client of a world.',
      syntax: `token milliseconds:double ${NUMBER}`,
      arity: -4,
      run(client, argv) {
        const ms = atLeast0('the time', numberOf(argv[3])) as number;
        return as(client, argv[2], numberIn(argv.slice(4)), (own) => own.sleep(ms).then(() => OK));
      },
    },
    now: {
      ...about,
      summary: 'Returns the milliseconds since the clients of the world started.',
      syntax: 'token',
      arity: 3,
      run: (client, argv) => as(client, argv[2], undefined, async (own) => Math.round(await own.now())),
    },
    note: {
      ...about,
      summary: 'A remark of the client, for the story.',
      syntax: `token text ${NUMBER}`,
      arity: -4,
      run: (client, argv) =>
        as(client, argv[2], numberIn(argv.slice(4)), (own) => own.note(told(argv[3])).then(() => OK)),
    },
    broken: {
      ...about,
      summary: "A promise of the program's own is broken.",
      syntax: `token text ${NUMBER}`,
      arity: -4,
      run: (client, argv) =>
        as(client, argv[2], numberIn(argv.slice(4)), (own) => own.broken(told(argv[3])).then(() => OK)),
    },
    beat: {
      ...about,
      summary: 'The program runs. LATE says how late its timer was at most since the last beat.',
      syntax: 'token [LATE=milliseconds:double]',
      arity: -3,
      run(_client, argv) {
        const late = new LabArguments(argv.slice(3), ['LATE']).number('LATE') ?? 0;
        clientAt(desk(), argv[2]).beat(late);
        return OK;
      },
    },
    done: {
      ...about,
      summary: "The client's code has ended, with the error if there was one.",
      syntax: `token [error] ${NUMBER}`,
      arity: -3,
      run(client, argv) {
        const { value, options } = valueIn(argv.slice(3), ['NUMBER']);
        return as(client, argv[2], options.number('NUMBER'), (own) => own.done(value).then(() => OK));
      },
    },
  });
}

/** What a client does at resources. */
function visitCommands(as: As): Command<Caller> {
  return defineContainer('server', 'lab', HEAD, {
    enter: {
      ...about,
      summary: 'The client has the lock, and begins to use the resource. Returns the number of the visit.',
      syntax: `token resource ${ENTER_SYNTAX}`,
      arity: -4,
      run(client, argv) {
        const { how, options } = readEnter(argv.slice(4));
        const resource = textOf(argv[3]);
        if (resource === '') fail('ERR the resource needs a name');
        return as(client, argv[2], options.number('NUMBER'), (own) => own.enter(resource, how));
      },
    },
    write: {
      ...about,
      summary:
        'The client writes to the resource of a visit. Returns 1 when the resource has taken it, else 0.',
      syntax: `token visit:int ${NUMBER}`,
      arity: -4,
      run: (client, argv) =>
        as(client, argv[2], numberIn(argv.slice(4)), async (own) =>
          (await own.write(numberOf(argv[3]))) ? 1 : 0,
        ),
    },
    leave: {
      ...about,
      summary: 'The client is done with the resource of a visit.',
      syntax: `token visit:int ${NUMBER}`,
      arity: -4,
      run: (client, argv) =>
        as(client, argv[2], numberIn(argv.slice(4)), (own) => own.leave(numberOf(argv[3])).then(() => OK)),
    },
  });
}

/** What a client does to what clients share. */
function operationCommands(as: As): Command<Caller> {
  return defineContainer('server', 'lab', HEAD, {
    invoke: {
      ...about,
      summary: 'An operation on what clients share begins. Returns its number.',
      syntax: `token operation [value] [OF=object] ${NUMBER}`,
      arity: -4,
      run(client, argv) {
        const { value, options } = valueIn(argv.slice(4), ['OF', 'NUMBER']);
        const of = options.text('OF') ?? '';
        return as(client, argv[2], options.number('NUMBER'), (own) => own.invoke(textOf(argv[3]), value, of));
      },
    },
    result: {
      ...about,
      summary: 'How an operation has ended. One without a result is unknown.',
      syntax: `token operation:int outcome:(OK | FAILED | UNKNOWN) [value] ${NUMBER}`,
      arity: -5,
      run(client, argv) {
        const outcome = asciiLower(argv[4]);
        if (outcome !== 'ok' && outcome !== 'failed' && outcome !== 'unknown')
          fail('ERR a result is OK, FAILED or UNKNOWN');
        const { value, options } = valueIn(argv.slice(5), ['NUMBER']);
        return as(client, argv[2], options.number('NUMBER'), (own) =>
          own.result(numberOf(argv[3]), outcome as 'ok', value).then(() => OK),
        );
      },
    },
  });
}

/** How a process judges promises of its own. */
function judgeCommands(desk: () => ProgramDesk): Command<Caller> {
  return defineContainer('server', 'lab', HEAD, {
    judge: {
      ...about,
      summary: 'Waits for a world that was played, and returns its history; nil when there are no more.',
      syntax: '',
      arity: 2,
      run: (client) =>
        whenDone(client, async () => {
          const world = await desk().judge(() => client.blocked?.kind === 'lab');
          if (world === undefined) return null;
          return new MapReply(['token', fromText(world.token), 'history', fromText(world.history)]);
        }),
    },
    verdict: {
      ...about,
      summary:
        'What is wrong with a world, as JSON: an object with the names of the promises that are broken.',
      syntax: 'token json',
      arity: 4,
      run(_client, argv) {
        let known: boolean;
        try {
          known = desk().decided(textOf(argv[2]), textOf(argv[3]));
        } catch (error) {
          return fail(fromText(`ERR ${(error as Error).message}`));
        }
        return known ? OK : worldOver();
      },
    },
  });
}

/** Answers HELLO. Throws for a version that this lostlock does not speak, with what to update. */
function hello(version: number): Reply {
  if (version === PROTOCOL_VERSION)
    return new MapReply(['version', PROTOCOL_VERSION, 'lostlock', LOSTLOCK_VERSION]);
  const what =
    version > PROTOCOL_VERSION
      ? `update lostlock, which is ${LOSTLOCK_VERSION}`
      : "update the program's front end";
  return fail(
    fromText(
      `ERR the program speaks version ${version} of the protocol, and lostlock speaks version ${PROTOCOL_VERSION}: ${what}`,
    ),
  );
}

function worldReply({ token, client, urls, seed, lease, probe }: HandedWorld): Reply {
  const fields: [Bytes, Reply][] = [
    ['token', fromText(token)],
    ['client', fromText(client)],
    ['urls', urls.map(fromText)],
    ['seed', seed],
    ['lease', lease],
    ['probe', probe ? 1 : 0],
  ];
  return new MapReply(fields.flat());
}

/** The number of a message, if it has one. */
function numberIn(words: readonly Bytes[]): number | undefined {
  return new LabArguments(words, ['NUMBER']).number('NUMBER');
}

/** A value that may come first, and the options behind it. */
function valueIn(
  words: readonly Bytes[],
  valued: readonly string[],
): { readonly value: string | undefined; readonly options: LabArguments } {
  // An even number of words is options alone: each of them has a value.
  const hasValue = words.length % 2 === 1;
  return {
    value: hasValue ? told(words[0] as Bytes) : undefined,
    options: new LabArguments(hasValue ? words.slice(1) : words, valued),
  };
}

function told(word: Bytes): string {
  return textOf(word).slice(0, LONGEST);
}

function atLeast0(what: string, value: number | undefined): number | undefined {
  if (value !== undefined && !(value >= 0 && value < 1e9)) fail(`ERR ${what} must be 0 or more milliseconds`);
  return value;
}
