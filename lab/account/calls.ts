/** The commands that clients sent, each with its own reply, and the command behind each write. */
import { createHash } from 'node:crypto';
import type { ReadMessage } from '../timeline/connections.ts';
import type { RecordedRun, RecordedWrite } from '../timeline/record.ts';

/** The reply to a command. */
export interface CallReply {
  readonly text: string;
  /** The index of the message that has it. */
  readonly message: number;
  readonly sent: number;
  /** When the client had it; null when it never did. */
  readonly arrived: number | null;
  /** For a reply that did not arrive: lost, or still under way when the run ended. */
  readonly fate: 'lost' | 'waiting' | undefined;
}

/** One command of a client. Times are in microseconds since the run began. */
export interface SentCommand {
  readonly client: string;
  readonly node: string;
  /** The connection, from the client's end. */
  readonly connection: string;
  /** The number of its database. */
  readonly db: number;
  readonly words: readonly string[];
  /** Its name in small letters. */
  readonly name: string;
  /** The index of the message that has it. */
  readonly message: number;
  readonly sent: number;
  /** When the node had it, or the EXEC of its transaction; null when it never did. */
  executed: number | null;
  reply: CallReply | undefined;
  /** The names of the keys that it changed. */
  wrote: ReadonlySet<string>;
}

/** Commands that enter the replication stream under another name. */
const EFFECTS: Record<string, readonly string[]> = {
  set: ['setex', 'psetex', 'getset', 'msetnx', 'mset', 'setnx', 'getex'],
  pexpireat: ['expire', 'pexpire', 'expireat', 'pexpireat', 'getex'],
  del: ['unlink', 'getdel', 'delex', 'delifeq', 'expire', 'pexpire', 'rename', 'hgetdel'],
  unlink: ['del', 'getdel'],
  hset: ['hmset', 'hsetnx'],
  persist: ['getex'],
  incrby: ['incr', 'decr', 'decrby'],
};
/** What a command that changed nothing has changed: most of a long run do so. */
const NOTHING: ReadonlySet<string> = new Set();
const SCRIPT = /^(?:eval|evalsha|fcall)(?:_ro)?$/;

/** True for a command that runs a script or a function. */
export function isScript({ name }: Pick<SentCommand, 'name'>): boolean {
  return SCRIPT.test(name);
}

/** What tells one script from another: its SHA-1, or the name of the function. */
export function scriptOf({ name, words }: Pick<SentCommand, 'name' | 'words'>): string | undefined {
  if (!SCRIPT.test(name)) return undefined;
  const text = words[1] ?? '';
  if (name.startsWith('evalsha')) return text.toLowerCase();
  return name.startsWith('fcall') ? `function ${text}` : shaOf(text);
}

const shas = new Map<string, string>();

/** A run sends few scripts, many times. */
function shaOf(text: string): string {
  let sha = shas.get(text);
  if (sha === undefined) {
    if (shas.size > 1000) shas.clear();
    shas.set(text, (sha = createHash('sha1').update(Buffer.from(text, 'latin1')).digest('hex')));
  }
  return sha;
}

/** The keys and the arguments that a script is given. */
export function scriptKeys({ words }: Pick<SentCommand, 'words'>): {
  keys: readonly string[];
  args: readonly string[];
} {
  const count = Number(words[2]);
  return { keys: words.slice(3, 3 + count), args: words.slice(3 + count) };
}

/** The commands of a run. */
export class Calls {
  /** In the order in which they were sent. */
  readonly all: readonly SentCommand[];
  /** The texts of the scripts that were sent, by their SHA-1. */
  readonly scripts = new Map<string, string>();
  readonly #between = new Map<string, SentCommand[]>();
  readonly #isVirtual: boolean;
  /** Where the search for the next write goes on, of each pair of a client and a node. */
  readonly #next = new Map<string, number>();
  readonly #causes = new Map<RecordedWrite, SentCommand | undefined>();

  constructor(run: Pick<RecordedRun, 'lanes' | 'clock'>, messages: readonly ReadMessage[]) {
    const clients = new Set(run.lanes.filter(({ kind }) => kind === 'client').map(({ name }) => name));
    this.#isVirtual = run.clock === 'virtual';
    this.all = readCalls(messages, clients);
    for (const call of this.all) {
      this.#learn(call);
      if (call.executed === null) continue;
      const name = `${call.client}\n${call.node}`;
      const list = this.#between.get(name);
      if (list === undefined) this.#between.set(name, [call]);
      else list.push(call);
    }
    for (const list of this.#between.values()) list.sort((a, b) => (a.executed ?? 0) - (b.executed ?? 0));
  }

  /** The command that made the write; undefined when it is not known. Ask for the writes in their order. */
  causeOf(write: RecordedWrite): SentCommand | undefined {
    if (this.#causes.has(write)) return this.#causes.get(write);
    const found = write.write.client === undefined ? undefined : this.#find(write);
    if (found !== undefined && !found.wrote.has(write.write.key))
      found.wrote = new Set([...found.wrote, write.write.key]);
    this.#causes.set(write, found);
    return found;
  }

  #find({ at, node, write }: RecordedWrite): SentCommand | undefined {
    const name = `${write.client}\n${node}`;
    const list = this.#between.get(name) ?? [];
    const effect = (write.command[0] ?? '').toLowerCase();
    const begin = this.#next.get(name) ?? 0;
    let best: number | undefined;
    let bestScore = 0;
    for (let i = lastUpTo(list, at); i >= 0; i--) {
      const call = list[i] as SentCommand;
      // A reply that was sent before shows that the command was over.
      if (call.reply !== undefined && call.reply.sent < at) {
        if (this.#isVirtual) break;
        continue;
      }
      const score = scoreOf(
        call,
        effect,
        write.key,
        i >= begin && (isScript(call) || !call.wrote.has(write.key)),
      );
      if (score > 0 && score >= bestScore) [best, bestScore] = [i, score];
      if (this.#isVirtual && best !== undefined && call.executed !== at) break;
      if (!this.#isVirtual && (bestScore >= 6 || lastUpTo(list, at) - i > 200)) break;
    }
    // On the real clock, the last command that names the key is the likeliest, even if its reply seems to be older.
    if (best === undefined && !this.#isVirtual)
      best = list.findLastIndex(
        (call) => (call.executed ?? Infinity) <= at && scoreOf(call, effect, write.key, true) >= 4,
      );
    if (best === undefined || best < 0) return undefined;
    this.#next.set(name, best);
    return list[best];
  }

  #learn({ name, words }: SentCommand): void {
    const text = name.startsWith('eval') ? words[1] : name === 'script' ? words[2] : undefined;
    if (text !== undefined && !name.startsWith('evalsha')) this.scripts.set(shaOf(text), text);
  }
}

/** How well the command explains the write; 0 for not at all. */
function scoreOf(call: SentCommand, effect: string, key: string, isNext: boolean): number {
  const names = call.words.includes(key);
  const later = isNext ? 2 : 0;
  if (names && (call.name === effect || EFFECTS[effect]?.includes(call.name) === true)) return 6 + later;
  if (isScript(call)) return (names ? 4 : 2) + later;
  return names ? 1 + later : 0;
}

/** The index of the last command that the node had by then; -1 for none. */
function lastUpTo(list: readonly SentCommand[], at: number): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle]?.executed ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** A transaction on a connection. */
interface OpenTransaction {
  readonly queued: SentCommand[];
}

function readCalls(messages: readonly ReadMessage[], clients: ReadonlySet<string>): SentCommand[] {
  const calls: SentCommand[] = [];
  const byPart = new Map<string, SentCommand>();
  const databases = new Map<string, number>();
  for (const [message, { from, to, port, sent, arrived, asks }] of messages.entries()) {
    if (asks === undefined || !clients.has(from)) continue;
    for (const [part, { words }] of asks.entries()) {
      const connection = `${from}:${port}>${to}`;
      const name = (words[0] ?? '').toLowerCase();
      if (name === 'select') databases.set(connection, Number(words[1]));
      const call: SentCommand = {
        ...{
          client: from,
          node: to,
          connection,
          db: databases.get(connection) ?? 0,
          words,
          name,
          message,
          sent,
        },
        ...{ executed: arrived, reply: undefined, wrote: NOTHING },
      };
      calls.push(call);
      byPart.set(`${message} ${part}`, call);
    }
  }
  for (const [message, { answers = [], sent, arrived, fate }] of messages.entries()) {
    for (const { request, part, text } of answers) {
      const call = byPart.get(`${request} ${part}`);
      if (call !== undefined) call.reply = { text, message, sent, arrived, fate };
    }
  }
  executeTogether(calls);
  return calls;
}

/** The commands of a transaction are executed with its EXEC, whose reply has theirs. */
function executeTogether(calls: readonly SentCommand[]): void {
  const open = new Map<string, OpenTransaction>();
  for (const call of calls) {
    const { name, connection } = call;
    const transaction = open.get(connection);
    if (name === 'multi') open.set(connection, { queued: [] });
    else if (name === 'exec' || name === 'discard') {
      open.delete(connection);
      const replies = elementsOf(call.reply?.text ?? '');
      const isDone =
        name === 'exec' && call.executed !== null && (call.reply === undefined || replies !== undefined);
      for (const [i, queued] of (transaction?.queued ?? []).entries()) {
        queued.executed = isDone ? call.executed : null;
        queued.reply =
          call.reply === undefined ? undefined : { ...call.reply, text: replies?.[i] ?? call.reply.text };
      }
    } else if (transaction !== undefined) transaction.queued.push(call);
  }
}

/** The parts of a collection's short text; undefined for another reply. */
function elementsOf(text: string): string[] | undefined {
  return /^\[(.*)\]$/s.exec(text)?.[1]?.split(', ');
}
