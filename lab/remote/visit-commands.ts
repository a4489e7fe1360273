/** LAB ENTER, LEAVE and NOTE: a test says itself who is inside a resource, and what it does. */
import type { Bytes } from '../../protocol/bytes.ts';
import { fail } from '../../protocol/errors.ts';
import { defineContainer } from '../../server/commands/define.ts';
import type { Caller } from '../../server/server.ts';
import type { Command } from '../../server/table/command.ts';
import type { RealClockPair } from '../real-clock/pair.ts';
import { LabArguments, textOf } from './arguments.ts';
import { about, done, HEAD } from './table.ts';

/** A client's name. Throws an error for the token of a program, which has a port of its own for its messages. */
function clientOf(word: Bytes): string {
  if (word.startsWith('w:'))
    fail('ERR this is the token of a program in an exploration; send it to the port that LOSTLOCK_LAB names');
  return textOf(word);
}

/** The subcommands about visits. */
export function visitCommands(lab: () => RealClockPair): Command<Caller> {
  return defineContainer('server', 'lab', HEAD, {
    enter: {
      ...about,
      summary:
        'Says that a client is inside a resource from now on. HOLDERS, OVERLAPS and TRACE then know who is inside; a resource with the name of a lock stands for it.',
      syntax: 'client resource [FENCE=number:double] [SHARED]',
      arity: -4,
      run(_client, argv) {
        const options = new LabArguments(argv.slice(4), ['FENCE'], ['SHARED']);
        const fence = options.number('FENCE');
        const how = { ...(fence !== undefined && { fence }), shared: options.has('SHARED') };
        return done(() => lab().enter(clientOf(argv[2]), textOf(argv[3]), how));
      },
    },
    leave: {
      ...about,
      summary: 'Says that a client has left a resource.',
      syntax: 'client resource',
      arity: 4,
      run: (_client, argv) => done(() => lab().leave(clientOf(argv[2]), textOf(argv[3]))),
    },
    note: {
      ...about,
      summary: 'Adds a sentence to the story, about a client if one is named.',
      syntax: '[client] text',
      arity: -3,
      run(_client, argv) {
        const [first = '', second, ...more] = argv.slice(2);
        if (more.length > 0)
          fail("ERR wrong number of arguments for 'lab|note' command; a text with blanks is one word");
        if (second === undefined) return done(() => lab().remark(textOf(first)));
        const client = clientOf(first);
        return done(() => lab().note(client, textOf(second)));
      },
    },
  });
}
