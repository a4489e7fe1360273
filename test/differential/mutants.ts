/** Commands broken on purpose, one in each: the tester must find every one of them. */

import { asciiLower, type Bytes } from '../../protocol/bytes.ts';
import { allCommands } from '../../server/commands/index.ts';
import type { Caller } from '../../server/server.ts';
import type { Command } from '../../server/table/command.ts';
import type { Outcome } from '../../server/table/outcome.ts';
import type { RealSide } from './sides.ts';
import { test } from './tester.ts';

type Run = (client: Caller, argv: Bytes[]) => Outcome;

/** The table's command with another handler in its place. */
function mutant(name: Bytes, change: (run: Run) => Run): readonly Command[] {
  const command = allCommands.find((each) => each.name === name);
  if (command === undefined) throw new Error(`no command ${name}`);
  return [{ ...command, run: change(command.run) }];
}

/** A seed may meet a difference of another kind first, or never use the broken command in a way that shows: then the next one is tried. */
const SEEDS = [3, 12, 99, 4, 1, 2, 5, 6, 7, 8, 9, 10];
/** What a difference is shrunk to, at most. */
const STEPS_MAX = 6;

/**
 * Tests a server with broken commands; says how many requests it took until a short program showed the fault, undefined
 * when none did.
 */
export async function findMutant(
  real: RealSide,
  commands: readonly Command<Caller>[],
): Promise<string | undefined> {
  const names = commands.map(({ name }) => name);
  let sent = 0;
  for (const seed of SEEDS) {
    const result = await test(real, { seed, commands: 20_000, mutants: commands });
    sent += result.commands;
    const steps = result.shrunk[0]?.program.steps ?? [];
    const words = steps.flatMap(({ argv }) => argv.map((word) => asciiLower(word)));
    if (steps.length <= STEPS_MAX && names.some((name) => words.includes(name))) {
      return `${sent} requests, shown by ${steps.length}`;
    }
  }
  return undefined;
}

/** Runs a command without waking the clients that wait for its keys. */
function withoutSignals(run: Run): Run {
  return (client, argv) => {
    const { blocking } = client.server;
    const signal = blocking.signal.bind(blocking);
    // tidy patches: a mutant is what this is
    blocking.signal = () => {};
    try {
      return run(client, argv);
    } finally {
      // tidy patches: a mutant is what this is
      blocking.signal = signal;
    }
  };
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
    if (typeof reply === 'number' && reply > 0) client.server.effects.propagateAs();
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
    client.watches.touched = false;
    return run(client, argv);
  }),
  'a script that forgets its keys': mutant('eval', (run) => (client, argv) => {
    return run(client, argv[2] === '2' ? [...argv.slice(0, 3), argv[3]!, argv[3]!, ...argv.slice(5)] : argv);
  }),
  'a message that is lost': mutant('publish', (run) => (client, argv) => {
    return argv[2] === 'foo' ? 0 : run(client, argv);
  }),
  'a claim that leaves entries out': mutant('xclaim', (run) => (client, argv) => {
    const reply = run(client, argv);
    return Array.isArray(reply) ? reply.slice(1) : reply;
  }),
  'an acknowledgement that is forgotten': mutant('xack', (run) => (client, argv) => {
    return run(client, [...argv.slice(0, 3), '9999-9']);
  }),
  'a bit that is counted twice': mutant('bitcount', (run) => (client, argv) => {
    const reply = run(client, argv);
    return argv.length > 3 && typeof reply === 'number' && reply > 0 ? reply + 1 : reply;
  }),
  'an overflow that wraps': mutant('bitfield', (run) => (client, argv) => {
    return run(
      client,
      argv.filter((word, i) => i < 2 || !/^(overflow|sat)$/i.test(word)),
    );
  }),
  'a place too few': mutant('georadius', (run) => (client, argv) => {
    const reply = run(client, argv);
    return Array.isArray(reply) && reply.length > 1 ? reply.slice(1) : reply;
  }),
  'a register that is not merged': mutant('pfmerge', (run) => (client, argv) => {
    return run(client, argv.length > 3 ? argv.slice(0, -1) : argv);
  }),
  'a wait that does not end': [...mutant('lpush', withoutSignals), ...mutant('rpush', withoutSignals)],
};
