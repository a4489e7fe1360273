/**
 * LAB: the controls of a pair on the real clock as commands, so that tests in any language can lose a lock on purpose.
 * Every node answers them, and so does the lab's own port, which outlives all nodes.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pageCode } from '../../page/bundle.ts';
import type { TimelineFile } from '../../page/format.ts';
import { timelineHtml } from '../../page/html.ts';
import { asciiLower, type Bytes, fromText, toBuffer } from '../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../protocol/errors.ts';
import { OK } from '../../protocol/reply.ts';
import { defineContainer } from '../../server/commands/define.ts';
import type { Caller } from '../../server/server.ts';
import type { Command } from '../../server/table/command.ts';
import { ANYBODY } from '../real-clock/endpoint.ts';
import type { RealClockNode } from '../real-clock/node.ts';
import type { RealClockPair } from '../real-clock/pair.ts';
import type { KeepData } from '../replica-group/journal.ts';
import type { CrashOptions } from '../replica-group/node.ts';
import { recordedRun } from '../timeline/real-clock.ts';
import { amountOf, LabArguments, lastNumber, numberOf, textOf } from './arguments.ts';
import { dataCommands } from './data-commands.ts';
import { interceptCommands } from './intercept-commands.ts';
import { lockCommands } from './lock-commands.ts';
import { newCommands } from './new-commands.ts';
import { failoverReply, type NodeState, nodeReply, stateOf, writeReply } from './replies.ts';
import { about, attempt, done, HEAD } from './table.ts';
import { timeCommands } from './time-commands.ts';
import { traceInThread } from './trace-thread.ts';
import { visitCommands } from './visit-commands.ts';
import { whenDone } from './when-done.ts';

const KEEP = '[kept:(KEEP=data:(NOTHING | SYNCED | EVERYTHING))]';

/** Whether a word of KEEP names data that a crash can keep. */
function isKept(word: string): word is KeepData & string {
  return ['nothing', 'synced', 'everything'].includes(word);
}

/** The options of a crash; undefined if none was given. */
function crashOf(options: LabArguments): CrashOptions | undefined {
  const keep = options.text('KEEP');
  if (keep === undefined && !options.has('SILENT')) return undefined;
  const kept = keep === undefined ? undefined : asciiLower(keep);
  if (kept !== undefined && !isKept(kept)) fail('ERR KEEP is NOTHING, SYNCED or EVERYTHING');
  return { ...(kept !== undefined && { keep: kept }), silent: options.has('SILENT') };
}

/** The name of a party of a link. Throws Redis' error for one that does not exist, whose link would affect nobody. */
function partyOf(lab: RealClockPair, word: Bytes): string {
  const name = textOf(word);
  const { parties } = lab;
  if (parties.includes(name)) return name;
  return fail(fromText(`ERR no party is called '${name}'; there are ${parties.join(', ')}`));
}

/** The names of two parties. Throws an error for one party twice, which has no link to itself. */
function partiesOf(lab: RealClockPair, one: Bytes, other: Bytes): [string, string] {
  if (one === other) fail(fromText(`ERR ${textOf(one)} has no link to itself`));
  return [partyOf(lab, one), partyOf(lab, other)];
}

/** A node in one of the states that a control needs. Throws an error in others, in which the control would do nothing. */
function nodeThat(lab: RealClockPair, word: Bytes, ...needed: readonly NodeState[]): RealClockNode {
  const node = attempt(() => lab.node(textOf(word)));
  const state = stateOf(node);
  if (!needed.includes(state)) fail(fromText(`ERR ${node.name} is ${state}, not ${needed.join(' or ')}`));
  return node;
}

/** The subcommands for one direction of a link. */
function laneCommands(lab: () => RealClockPair): Command<Caller> {
  const lane = (from: Bytes, to: Bytes) => lab().network.lane(...partiesOf(lab(), from, to));
  return defineContainer('server', 'lab', HEAD, {
    hold: {
      ...about,
      summary:
        'Holds all messages from one party to another, such as the stream from a primary to its replica.',
      syntax: 'from to',
      arity: 4,
      run: (_client, argv) => done(() => lane(argv[2], argv[3]).hold()),
    },
    release: {
      ...about,
      summary: 'Delivers what is held: all of it, or the given number of messages or bytes.',
      syntax: 'from to [amount:(MESSAGES=messages:int | BYTES=bytes:int)]',
      arity: -4,
      run: (_client, argv) => done(() => lane(argv[2], argv[3]).release(amountOf(argv.slice(4)))),
    },
    delay: {
      ...about,
      summary: 'Delays every later message from one party to another; 0 ends it.',
      syntax: 'from to milliseconds:int',
      arity: 5,
      run: (_client, argv) => done(() => lane(argv[2], argv[3]).delay(numberOf(argv[4]))),
    },
    bandwidth: {
      ...about,
      summary: 'Limits how many bytes per second pass from one party to another; inf ends it.',
      syntax: 'from to bytes-per-second:double',
      arity: 5,
      run: (_client, argv) => done(() => lane(argv[2], argv[3]).bandwidth(numberOf(argv[4]))),
    },
    slowclose: {
      ...about,
      summary: 'Delays the end of connections from one party to another; 0 ends it.',
      syntax: 'from to milliseconds:int',
      arity: 5,
      run: (_client, argv) => done(() => lane(argv[2], argv[3]).slowClose(numberOf(argv[4]))),
    },
    drop: {
      ...about,
      summary:
        'Loses the next messages from one party to another, by default all later ones, then breaks their connections; 0 ends it.',
      syntax: 'from to [messages:int]',
      arity: -4,
      run: (_client, argv) => done(() => lane(argv[2], argv[3]).drop(...lastNumber('drop', argv.slice(4)))),
    },
  });
}

/** The subcommands for both directions of a link. */
function linkCommands(lab: () => RealClockPair): Command<Caller> {
  const link = (one: Bytes, other: Bytes) => lab().network.link(...partiesOf(lab(), one, other));
  return defineContainer('server', 'lab', HEAD, {
    partition: {
      ...about,
      summary: 'Stops all traffic between two parties. Neither is notified.',
      syntax: 'one other',
      arity: 4,
      run: (_client, argv) => done(() => link(argv[2], argv[3]).partition()),
    },
    heal: {
      ...about,
      summary: 'Ends a partition.',
      syntax: 'one other',
      arity: 4,
      run: (_client, argv) => done(() => link(argv[2], argv[3]).heal()),
    },
    reset: {
      ...about,
      summary: 'Breaks every connection between two parties.',
      syntax: 'one other',
      arity: 4,
      run: (_client, argv) => done(() => link(argv[2], argv[3]).reset()),
    },
  });
}

/** What TRACE is to return. Throws a syntax error for other words. */
function traceAsked(
  words: readonly Bytes[],
): { readonly form: 'data' | 'story' } | { readonly form: 'html'; readonly file: string | undefined } {
  const [form, ...rest] = words;
  const word = asciiLower(form ?? '');
  if (word === 'html') {
    // FILE may stand before the name.
    if (rest.length === 2 && asciiLower(rest[0] ?? '') === 'file') rest.shift();
    if (rest.length > 1) fail(SYNTAX);
    return { form: 'html', file: rest[0] === undefined ? undefined : textOf(rest[0]) };
  }
  if (rest.length > 0 || (form !== undefined && word !== 'story')) fail(SYNTAX);
  return { form: form === undefined ? 'data' : 'story' };
}

/** The page of a trace; or the path of the file to which it was written, whose name may be relative. */
async function pageOrFile(data: Bytes | Bytes[], file: string | undefined): Promise<Bytes> {
  const html = timelineHtml(JSON.parse(toBuffer(String(data)).toString()) as TimelineFile, await pageCode());
  if (file === undefined) return fromText(html);
  const path = resolve(file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, html);
  return fromText(path);
}

/** The subcommands about the lab as a whole. */
function partyCommands(lab: () => RealClockPair): Command<Caller> {
  return defineContainer('server', 'lab', HEAD, {
    nodes: {
      ...about,
      summary: 'Lists the nodes with their role, state, port and offset.',
      arity: 2,
      run: () => lab().nodes.map((node) => nodeReply(node, node === lab().primary)),
    },
    lost: {
      ...about,
      summary: 'Lists the acknowledged writes that have been lost so far.',
      arity: 2,
      run: () => lab().lost.map(writeReply),
    },
    sync: {
      ...about,
      summary:
        'Waits until every replica has what the primary has, for at most a minute, or the given number of milliseconds. Says at once which hold, partition or pause is in the way.',
      syntax: '[milliseconds:int]',
      arity: -2,
      run(client, argv) {
        const most = lastNumber('sync', argv.slice(2));
        return whenDone(client, () =>
          lab()
            .synchronizeUnlessStopped(...most)
            .then(() => OK),
        );
      },
    },
    trace: {
      ...about,
      summary:
        'Returns what happened so far as the data of a timeline in JSON; with STORY, as sentences; with HTML, as a page for a browser, which a file name has written to that file of the server.',
      syntax: '[form:(STORY | page:{HTML [file]})]',
      arity: -2,
      run(client, argv) {
        const asked = traceAsked(argv.slice(2));
        const run = recordedRun(lab(), 'A run of lostlock --lab');
        if (asked.form !== 'html') return whenDone(client, () => traceInThread(run, asked.form));
        return whenDone(client, async () => pageOrFile(await traceInThread(run, 'data'), asked.file));
      },
    },
    actor: {
      ...about,
      summary: 'Returns a URL for one client, whose links, requests and lost writes have its name.',
      syntax: 'name',
      arity: 3,
      run(client, argv) {
        if (argv[2] === ANYBODY)
          fail(`ERR '${ANYBODY}' is the party of clients without a name; choose another name`);
        return whenDone(client, async () => fromText((await lab().actor(textOf(argv[2]))).url));
      },
    },
  });
}

/** The subcommands for single nodes. */
function nodeCommands(lab: () => RealClockPair): Command<Caller> {
  return defineContainer('server', 'lab', HEAD, {
    crash: {
      ...about,
      summary:
        'Ends the process of a node. By default it keeps no data; with SILENT its machine is gone too.',
      syntax: `node ${KEEP} [SILENT]`,
      arity: -3,
      run(client, argv) {
        const node = nodeThat(lab(), argv[2], 'up', 'paused');
        const options = crashOf(new LabArguments(argv.slice(3), ['KEEP'], ['SILENT']));
        return whenDone(client, () => node.crash(options).then(() => OK));
      },
    },
    restart: {
      ...about,
      summary: 'Starts a node that crashed, as a replica unless it is still the primary.',
      syntax: 'node',
      arity: 3,
      run(client, argv) {
        const { name } = nodeThat(lab(), argv[2], 'down');
        return whenDone(client, () =>
          lab()
            .restart(name)
            .then(() => OK),
        );
      },
    },
    pause: {
      ...about,
      summary: 'Stops the process of a node, as SIGSTOP does.',
      syntax: 'node',
      arity: 3,
      run(client, argv) {
        const { name } = nodeThat(lab(), argv[2], 'up');
        return whenDone(client, async () => done(() => lab().pause(name)));
      },
    },
    resume: {
      ...about,
      summary: 'Continues a paused node.',
      syntax: 'node',
      arity: 3,
      run: (_client, argv) => done(() => lab().resume(nodeThat(lab(), argv[2], 'paused').name)),
    },
    clock: {
      ...about,
      summary: "Returns how far a node's clock is ahead, in milliseconds, after it has jumped or drifted.",
      syntax: 'node [JUMP=milliseconds:int] [DRIFT=rate:double]',
      arity: -3,
      run(_client, argv) {
        const { clock } = attempt(() => lab().node(textOf(argv[2])));
        const options = new LabArguments(argv.slice(3), ['JUMP', 'DRIFT']);
        const [jump, drift] = [options.number('JUMP'), options.number('DRIFT')];
        if (jump !== undefined) attempt(() => clock.jump(jump));
        if (drift !== undefined) attempt(() => clock.drift(drift));
        return clock.offset;
      },
    },
  });
}

/** The subcommands that change roles. */
function roleCommands(lab: () => RealClockPair): Command<Caller> {
  return defineContainer('server', 'lab', HEAD, {
    failover: {
      ...about,
      summary:
        'Promotes a replica as Sentinel does, with CRASH after the primary has failed. Returns what was lost.',
      syntax: `[TO=node] [AFTER=milliseconds:int] [CRASH] ${KEEP} [SILENT] [NODEMOTE]`,
      arity: -2,
      run(client, argv) {
        const options = new LabArguments(
          argv.slice(2),
          ['TO', 'AFTER', 'KEEP'],
          ['CRASH', 'SILENT', 'NODEMOTE'],
        );
        const crash = crashOf(options);
        if (crash !== undefined && !options.has('CRASH')) fail('ERR KEEP and SILENT need CRASH');
        const [to, after] = [options.text('TO'), options.number('AFTER')];
        return whenDone(client, async () =>
          failoverReply(
            await lab().failover({
              ...(options.has('CRASH') && { crash: crash ?? true }),
              ...(to !== undefined && { to }),
              ...(after !== undefined && { after }),
              ...(options.has('NODEMOTE') && { demote: false }),
            }),
          ),
        );
      },
    },
    demote: {
      ...about,
      summary: 'Makes a node follow the primary. Returns the acknowledged writes that it discards.',
      syntax: 'node',
      arity: 3,
      run: (client, argv) => whenDone(client, async () => lab().demote(textOf(argv[2])).lost.map(writeReply)),
    },
    promote: {
      ...about,
      summary: 'Makes a node the primary, and leaves the other nodes as they are.',
      syntax: 'node',
      arity: 3,
      run: (client, argv) => whenDone(client, async () => done(() => lab().promote(textOf(argv[2])))),
    },
  });
}

/**
 * Makes the LAB command.
 * @param lab returns the pair that it controls
 * @param renew starts another pair in its place
 */
export function labCommand(lab: () => RealClockPair, renew: () => Promise<void>): Command<Caller> {
  const parts = [
    partyCommands(lab),
    lockCommands(lab),
    nodeCommands(lab),
    laneCommands(lab),
    linkCommands(lab),
    roleCommands(lab),
    interceptCommands(lab),
    dataCommands(lab),
    timeCommands(lab),
    visitCommands(lab),
    newCommands(renew),
  ] as const;
  const subcommands = parts.flatMap((part) => [...(part.subcommands ?? [])]);
  return { ...parts[0], subcommands: new Map(subcommands) };
}
