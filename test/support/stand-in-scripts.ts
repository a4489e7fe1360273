/** EVAL and EVALSHA for the lock libraries' scripts, told apart by their text, until the scripting engine is there. */
import { createHash } from 'node:crypto';
import type { Bytes } from '../../protocol/bytes.ts';
import { ReplyError } from '../../protocol/reply.ts';
import type { Client } from '../../server/client.ts';
import { type Command, defineCommands } from '../../server/command.ts';

/** The commands of one node; its script cache is empty at first. */
export function standInScripts(): Command[] {
  const scripts = new Map<Bytes, Bytes>();
  return defineCommands('scripting', {
    eval: {
      summary: 'Runs a lock script.',
      since: '2.6.0',
      arity: -3,
      flags: ['noscript'],
      run: (client, argv) => {
        scripts.set(createHash('sha1').update(argv[1], 'latin1').digest('hex'), argv[1]);
        return runScript(client, argv[1], argv.slice(2));
      },
    },
    evalsha: {
      summary: 'Runs a cached lock script.',
      since: '2.6.0',
      arity: -3,
      flags: ['noscript'],
      run: (client, argv) => {
        const text = scripts.get(argv[1]);
        if (text === undefined) return new ReplyError('NOSCRIPT No matching script. Please use EVAL.');
        return runScript(client, text, argv.slice(2));
      },
    },
  });
}

function runScript({ db, server }: Client, text: Bytes, words: Bytes[]): number {
  const name = words[1] as Bytes;
  const [token, lease] = words.slice(-2);
  const release = text.includes('"del"') || text.includes("'del'");
  const holder = release ? words[words.length - 1] : token;
  const entry = db.find(name);
  if (text.includes('exists') ? entry !== undefined : entry?.value !== holder) return 0;
  if (release) {
    db.remove(name);
    db.changed(name, 'del');
  } else {
    const stored = db.put(name, holder as Bytes);
    db.expireAt(name, stored, server.now + parseInt(lease as Bytes, 10));
    db.changed(name, 'set');
  }
  return 1;
}
