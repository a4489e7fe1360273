/** Nodes whose replication is broken on purpose, one rule in each: the recorded programs must find every one. */
import type { Bytes } from '../../../protocol/bytes.ts';
import type { Client } from '../../../server/clients/client.ts';
import { allCommands } from '../../../server/commands/index.ts';
import type { Dialect } from '../../../server/dialects/dialect.ts';
import type { Caller, Server } from '../../../server/server.ts';
import type { Command } from '../../../server/table/command.ts';
import type { Outcome } from '../../../server/table/outcome.ts';
import type { Mutation } from './own.ts';

type Run = (client: Caller, argv: Bytes[]) => Outcome;

/** The table's command with another handler in its place, for each of its subcommands too. */
function changed(name: Bytes, change: (run: Run) => Run): Mutation {
  const command = allCommands.find((each) => each.name === name);
  if (command === undefined) throw new Error(`no command ${name}`);
  const with_ = (each: Command<Caller>): Command<Caller> => ({
    ...each,
    run: change(each.run),
    subcommands:
      each.subcommands && new Map([...each.subcommands].map(([sub, entry]) => [sub, with_(entry)])),
  });
  return { commands: [with_(command)] };
}

/** WAIT waits for everything that was in the stream when this command ran, whatever it did. */
function counts(name: Bytes): Mutation {
  return changed(name, (run) => (client, argv) => {
    try {
      return run(client, argv);
    } finally {
      client.writeOffset = client.server.replication.offset;
    }
  });
}

/** A node that makes other choices where servers differ. */
function speaks(choices: Partial<Dialect>): Mutation {
  return {
    change: (server) =>
      Object.defineProperty(server, 'dialect', { value: { ...server.dialect, ...choices } }),
  };
}

function patched<T extends object, K extends keyof T>(part: T, name: K, value: T[K]): void {
  // tidy patches: a mutant is what this is
  part[name] = value;
}

const NEWER = ['redis-8.0', 'redis-8.2', 'redis-8.6', 'valkey-8.1', 'valkey-9'] as const;
const EVERY = ['redis-7.0', ...NEWER] as const;

/** What is broken, and the dialects whose recordings must show it. */
export interface Mutant {
  readonly dialects: readonly (typeof EVERY)[number][];
  readonly mutation: Mutation;
}

const harmless = ['set', 'get', 'eval', 'del', 'pexpire', 'lpush', 'exec', 'select', 'ping', 'wait'];

export const mutants: Readonly<Record<string, Mutant>> = {
  'WAIT waits for what others wrote before the last command': {
    dialects: NEWER,
    mutation: speaks({ waitsFor: 'its last command' }),
  },
  'WAIT waits for the last effect alone': {
    dialects: ['redis-7.0'],
    mutation: speaks({ waitsFor: 'its last effect' }),
  },
  ...Object.fromEntries(
    [...harmless, 'script', 'config'].map((name): [string, Mutant] => [
      `WAIT waits for others' writes after ${name.toUpperCase()}`,
      { dialects: NEWER, mutation: counts(name) },
    ]),
  ),
  "WAIT waits for another client's push after BLPOP": {
    dialects: NEWER,
    mutation: {
      change({ blocking, replication }) {
        const release = blocking.release.bind(blocking);
        const served = (
          client: Client,
          ...rest: [reply: Parameters<typeof release>[1], served?: boolean]
        ): void => {
          release(client, ...rest);
          client.writeOffset = replication.offset;
        };
        patched(blocking, 'release', served);
      },
    },
  },
  "WAIT's own question counts for the next WAIT": {
    dialects: EVERY,
    mutation: changed('wait', (run) => (client, argv) => {
      const outcome = run(client, argv);
      client.server.waiting.askOnce();
      client.writeOffset = client.server.replication.offset;
      return outcome;
    }),
  },
  'each WAIT asks by itself': {
    dialects: ['redis-7.0'],
    mutation: changed('wait', (run) => (client, argv) => {
      const outcome = run(client, argv);
      client.server.waiting.askOnce();
      return outcome;
    }),
  },
  'WAITAOF counts what is not on a disk': {
    dialects: NEWER,
    mutation: {
      change: ({ replication }) =>
        patched(replication, 'countSynced', (offset) => replication.countAcknowledged(offset)),
    },
  },
  'an acknowledgement makes a replica good at once': {
    dialects: EVERY,
    mutation: {
      change({ replication }) {
        const acknowledge = replication.acknowledge.bind(replication);
        patched(replication, 'acknowledge', (...words) => {
          acknowledge(...words);
          replication.good.refresh();
        });
      },
    },
  },
  'a replica may come while a failover is in progress': {
    dialects: EVERY,
    mutation: changed('psync', (run) => (client, argv) => {
      const { failover } = client.server.replication;
      const { state } = failover;
      failover.state = 'no-failover';
      try {
        return run(client, argv);
      } finally {
        failover.state = state;
      }
    }),
  },
  'a WAIT does not see a replica that comes': {
    dialects: EVERY,
    mutation: { change: withoutReviews },
  },
  'a replica forgets to answer its primary': {
    dialects: EVERY,
    mutation: changed(
      'replconf',
      (run) => (client, argv) => (/^getack$/i.test(argv[1] ?? '') ? null : run(client, argv)),
    ),
  },
};

/** WAIT looks at acknowledgements alone. */
function withoutReviews({ replication, waiting }: Server): void {
  let acknowledges = false;
  const acknowledge = replication.acknowledge.bind(replication);
  patched(replication, 'acknowledge', (...words) => {
    acknowledges = true;
    acknowledge(...words);
    acknowledges = false;
  });
  patched(replication, 'onAcknowledged', () => {
    if (acknowledges) waiting.review();
  });
}
