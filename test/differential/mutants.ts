/** Commands broken on purpose, one in each: the tester must find every one of them. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Reply } from '../../protocol/reply.ts';
import type { Client } from '../../server/client.ts';
import type { Command } from '../../server/command.ts';
import { allCommands } from '../../server/commands/index.ts';

type Run = (client: Client, argv: Bytes[]) => Reply | undefined;

/** The table's command with another handler in its place. */
function mutant(name: Bytes, change: (run: Run) => Run): readonly Command[] {
  const command = allCommands.find((each) => each.name === name);
  if (command === undefined) throw new Error(`no command ${name}`);
  return [{ ...command, run: change(command.run) }];
}

export const mutants: Record<string, readonly Command[]> = {
  'a reply that is one too much': mutant('strlen', (run) => (client, argv) => {
    const reply = run(client, argv);
    return typeof reply === 'number' && reply > 40 ? reply + 1 : reply;
  }),
  'an error text with another word': mutant('lset', (run) => (client, argv) => {
    try {
      return run(client, argv);
    } catch (error) {
      if (error instanceof Error && error.message.includes('range')) return null;
      throw error;
    }
  }),
  'a write that does not happen': mutant('hdel', (run) => (client, argv) => {
    return run(client, argv.length > 4 ? argv.slice(0, -1) : argv);
  }),
  'an event that is not sent': mutant('persist', (run) => (client, argv) => {
    const { world } = client.server;
    const listening = world.listening;
    world.listening = false;
    try {
      return run(client, argv);
    } finally {
      world.listening = listening;
    }
  }),
  'an effect that is not replicated': mutant('lrem', (run) => (client, argv) => {
    const reply = run(client, argv);
    if (typeof reply === 'number' && reply > 0) client.server.propagateAs();
    return reply;
  }),
  'a deadline that is lost': mutant('rename', (run) => (client, argv) => {
    const reply = run(client, argv);
    const entry = client.db.find(argv[2] ?? '');
    if (entry !== undefined) client.db.persist(entry);
    return reply;
  }),
  'a set operation that forgets a set': mutant('sinterstore', (run) => (client, argv) => {
    return run(client, argv.length > 4 ? argv.slice(0, -1) : argv);
  }),
  'a score that is rounded': mutant('zincrby', (run) => (client, argv) => {
    const amount = argv[2] === '0.5' ? '1' : argv[2];
    return run(client, [argv[0]!, argv[1]!, amount!, argv[3]!]);
  }),
  'a transaction that ignores WATCH': mutant('exec', (run) => (client, argv) => {
    client.touched = false;
    return run(client, argv);
  }),
  'a script that forgets its keys': mutant('eval', (run) => (client, argv) => {
    return run(client, argv[2] === '2' ? [...argv.slice(0, 3), argv[3]!, argv[3]!, ...argv.slice(5)] : argv);
  }),
  'a message that is lost': mutant('publish', (run) => (client, argv) => {
    return argv[2] === 'foo' ? 0 : run(client, argv);
  }),
  'a wait that does not end': mutant('lpush', (run) => (client, argv) => {
    const { blocking } = client.server;
    const signal = blocking.signal.bind(blocking);
    blocking.signal = () => {};
    try {
      return run(client, argv);
    } finally {
      blocking.signal = signal;
    }
  }),
};
