/** LAB at a server that is no lab: what a test in the server's own process can do to it, over the wire. */
import { asciiUpper } from '../../protocol/bytes.ts';
import { fail } from '../../protocol/errors.ts';
import { defineContainer } from '../../server/commands/define.ts';
import type { Caller, Server } from '../../server/server.ts';
import type { Command } from '../../server/table/command.ts';
import { withHelp } from '../../server/table/help.ts';
import type { Interception, Intervention, RequestFilter } from '../../start/control/interceptor.ts';
import type { RequestRecording } from '../../start/control/recording.ts';
import type { DumpEntry, Seed } from '../../start/dataset.ts';
import { dataCommands } from './data-commands.ts';
import { interceptCommands } from './intercept-commands.ts';
import type { LabSubject } from './session.ts';
import { about, HEAD } from './table.ts';
import { timeCommands } from './time-commands.ts';

/** A server as `startServer` returns it, as far as LAB needs it. */
interface PlainServer {
  readonly node: Pick<Server, 'dialect'>;
  intercept(filter: RequestFilter, intervention: Intervention): Interception;
  requests(): RequestRecording;
  seed(data: Seed): void;
  dump(): DumpEntry[];
  fastForward(ms: number): void;
}

/** The subcommands that only a lab has. */
export const LAB_ONLY = [
  ...['nodes', 'hold', 'release', 'delay', 'bandwidth', 'slowclose', 'drop', 'partition', 'heal', 'reset'],
  ...['crash', 'restart', 'pause', 'resume', 'clock', 'failover', 'promote', 'demote', 'lost', 'sync'],
  ...['actor', 'trace', 'holders', 'overlaps', 'locks', 'enter', 'leave', 'note', 'new'],
] as const;

const START = 'start lostlock with --lab';

/** A subcommand that says where it works. */
function refused(name: string): Command<Caller> {
  const text = `ERR LAB ${asciiUpper(name)} needs a lab, and this server has none; ${START}`;
  return defineContainer('server', 'lab', HEAD, {
    [name]: {
      ...about,
      summary: 'Needs lostlock --lab.',
      syntax: '[word...]',
      arity: -2,
      run: () => fail(text),
    },
  });
}

/** The LAB command of a server that is no lab. */
export function plainLabCommand(server: PlainServer): Command<Caller> {
  const subject: LabSubject = {
    intercept: (filter, intervention) => server.intercept(filter, intervention),
    requests: () => server.requests(),
    seed: (data) => server.seed(data),
    dump: () => server.dump(),
    advance: async (ms) => server.fastForward(ms),
    nodes: [],
  };
  const parts = [interceptCommands, dataCommands, timeCommands].map((part) => part(() => subject));
  const all = [...parts, ...LAB_ONLY.map(refused)];
  const subcommands = new Map(all.flatMap((part) => [...(part.subcommands ?? [])]));
  const helped = withHelp({ ...(parts[0] as Command<Caller>), subcommands }, server.node.dialect);
  return {
    ...helped,
    arity: -1,
    run: () => fail(`ERR LAB needs a subcommand; most need a lab: ${START}. Try LAB HELP.`),
  };
}
