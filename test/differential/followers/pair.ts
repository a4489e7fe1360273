/**
 * A primary and its replica, one of them a real server and the other one ours in its dialect: generated commands go to the
 * primary, links are cut, and both must have the same data after each round.
 */
import type { Bytes } from '../../../protocol/bytes.ts';
import type { DialectName } from '../../../server/dialects/index.ts';
import { startServer } from '../../../start/start-server.ts';
import { RawClient } from '../../support/raw-client.ts';
import { startRedisServer } from '../../support/redis-server.ts';
import type { RawReply } from '../../support/reply-text.ts';
import { until } from '../../support/until.ts';
import { Random, seedOf } from '../random.ts';
import { grammarOf } from '../requests.ts';
import { askAll, contentOf, differencesOf, type Found } from './content.ts';
import { limitsOf, requestsOf } from './stream.ts';

/** The primary and its replica. */
export type Roles = 'real to lostlock' | 'lostlock to real' | 'real to real';

/** Commands of a round, and how many of them are sent at once. */
const ROUND = 500;
const BATCH = 50;

/** Every so many rounds the link is cut halfway, and the primary forgets its history. */
const CUT = 3;
const FORGET = 5;

/** After so many comparisons with the same result, nothing changes any more. */
const SAME = 10;

/** Within so many milliseconds Redis 8.6 sweeps a stream. */
const SWEEP = 1500;

/** How long a link may take, in milliseconds. */
const PATIENCE = 10_000;

/** A server of a pair. */
interface Party {
  readonly port: number;
  /** A new connection, for a round. */
  readonly connect: () => Promise<RawClient>;
  readonly obituary: () => Promise<string>;
  readonly stop: () => Promise<unknown>;
}

async function startReal(program: string): Promise<Party> {
  const args = ['--enable-debug-command', 'yes', '--hz', '100', '--repl-diskless-sync-delay', '0'];
  const server = await startRedisServer({ tcp: true, program, args });
  const connect = () => RawClient.connect({ path: server.path });
  return { port: server.port, connect, obituary: server.obituary, stop: server.stop };
}

async function startOurs(dialect: DialectName): Promise<Party> {
  const settings = { 'enable-debug-command': 'yes', hz: 100, 'repl-diskless-sync-delay': 0 } as const;
  const server = await startServer({ dialect, strict: true, settings });
  return {
    port: server.port,
    connect: () => RawClient.connect({ port: server.port }),
    obituary: async () => `lostlock had ${server.node.stats.unexpectedErrors} unexpected errors`,
    stop: () => server.stop(),
  };
}

/** Fields of INFO, by their names. */
async function infoOf(client: RawClient): Promise<(name: string) => string> {
  const text = String((await client.ask('INFO', 'everything')).value[1]);
  return (name) => new RegExp(`^${name}:(.*)\r$`, 'm').exec(text)?.[1] ?? '';
}

/** What a comparison has done. */
export interface Followed {
  commands: number;
  /** Commands that the primary refused. */
  errors: number;
  rounds: number;
  /** Bytes of the stream. */
  bytes: number;
  /** Resyncs after links that were cut: by the backlog, and by a snapshot. */
  partial: number;
  full: number;
  /** Rounds after which two real servers differ from each other in the same way. */
  alike: number;
  readonly differences: string[];
}

/** What to compare. */
export interface FollowOptions {
  readonly commands: number;
  readonly seed: number;
  /** Ends after so many rounds with a difference. */
  readonly most?: number;
  /** Plays this round alone. */
  readonly only?: number | undefined;
  /** Meddles with the replica before it is compared: the tester's own test. */
  readonly meddle?: (replica: RawClient) => Promise<unknown>;
  readonly report?: (text: string) => void;
}

/** The requests of a round about a key, the last ones, for a reader of a difference. */
function storyOf(name: string, sent: readonly (readonly Bytes[])[]): string {
  const key = /^\d+ /.test(name)
    ? String(JSON.parse(name.replace(/^\d+ /, '')))
    : name.replace('library ', '');
  const about = sent.filter((argv) => argv.some((word) => word === key || word.includes(` name=${key}`)));
  const lines = about
    .slice(-12)
    .map((argv) => `      ${argv.map((word) => JSON.stringify(word.slice(0, 200))).join(' ')}`);
  return lines.join('\n');
}

/** The connections of a round. */
interface Connections {
  readonly primary: RawClient;
  readonly replica: RawClient;
  /** Sends the generated commands. */
  readonly writer: RawClient;
}

/** What a round sent, and what the two servers then said differently. */
interface Round {
  readonly sent: readonly (readonly Bytes[])[];
  readonly found: readonly Found[];
}

/** One pair, while it is compared. */
class Pair {
  readonly #primary: Party;
  readonly #replica: Party;
  readonly #dialect: DialectName;
  readonly #meddle: FollowOptions['meddle'];
  readonly done: Followed = {
    ...{ commands: 0, errors: 0, rounds: 0, bytes: 0, partial: 0, full: 0, alike: 0 },
    differences: [],
  };

  constructor(primary: Party, replica: Party, dialect: DialectName, meddle?: FollowOptions['meddle']) {
    this.#meddle = meddle;
    this.#primary = primary;
    this.#replica = replica;
    this.#dialect = dialect;
  }

  /** Plays one round, and answers what the two then say differently. */
  async round(seed: number, index: number): Promise<Round> {
    const [primary, replica] = [await this.#primary.connect(), await this.#replica.connect()];
    // A connection of its own: the other two ask between the commands of a transaction.
    const writer = await this.#primary.connect();
    try {
      return await this.#play(new Random(seedOf(seed, index)), index, { primary, replica, writer });
    } finally {
      for (const client of [primary, replica, writer]) client.close();
    }
  }

  async #play(random: Random, index: number, { primary, replica, writer }: Connections) {
    await this.#follow(primary, replica);
    const limits = limitsOf(random);
    await askAll(primary, limits);
    await askAll(replica, limits);
    const sent = [...requestsOf(random, grammarOf(this.#dialect), this.#dialect, ROUND)];
    const cut = index % CUT === CUT - 1;
    const forget = index % FORGET === FORGET - 1;
    for (let at = 0; at < sent.length; at += BATCH) {
      this.#count(await askAll(writer, sent.slice(at, at + BATCH)));
      const isHalf = at <= sent.length / 2 && at + BATCH > sent.length / 2;
      if (isHalf && (cut || forget)) await this.#cut(primary, forget);
    }
    this.done.commands += sent.length;
    this.done.rounds++;
    return { sent, found: await this.#compare(primary, replica) };
  }

  #count(replies: readonly RawReply[]): void {
    this.done.errors += replies.filter(([marker]) => marker === '-').length;
  }

  /** Makes the replica follow, unless it does, and waits until the link is up. */
  async #follow(primary: RawClient, replica: RawClient): Promise<void> {
    if ((await infoOf(replica))('role') !== 'slave') {
      await replica.ask('REPLICAOF', '127.0.0.1', String(this.#primary.port));
    }
    await until(async () => (await infoOf(primary))('slave0').includes('state=online'), { what: 'the link' });
  }

  /** Cuts the link. The replica comes back by the backlog, or by a snapshot where the primary forgets its history. */
  async #cut(primary: RawClient, forget: boolean): Promise<void> {
    const before = await infoOf(primary);
    if (forget) await primary.ask('DEBUG', 'CHANGE-REPL-ID');
    await primary.ask('CLIENT', 'KILL', 'TYPE', 'replica');
    const name = forget ? 'sync_full' : 'sync_partial_ok';
    await until(async () => Number((await infoOf(primary))(name)) > Number(before(name)), {
      what: `${name} after a cut`,
      limitMs: PATIENCE,
    });
    if (forget) this.done.full++;
    else this.done.partial++;
  }

  async #compare(primary: RawClient, replica: RawClient): Promise<Found[]> {
    const left = async () => differencesOf(await contentOf(primary), await contentOf(replica));
    const isThere = async (): Promise<boolean> => {
      const [mine, theirs] = [await infoOf(primary), await infoOf(replica)];
      return mine('master_repl_offset') === theirs('slave_repl_offset');
    };
    await until(isThere, { what: 'the stream', limitMs: PATIENCE });
    await this.#meddle?.(replica);
    // The two are asked one after the other, and keys may end in between.
    let found = await left();
    // Redis 8.6 forgets the ids of producers once a second, each server at its own time.
    const swept = Date.now() + SWEEP;
    const isSwept = () => Date.now() > swept || !found.some(({ text }) => text.includes('iids-tracked'));
    for (let again = 0; found.length > 0 && !(again >= SAME && isSwept()); ) {
      const next = await left();
      again = JSON.stringify(next) === JSON.stringify(found) ? again + 1 : 0;
      found = next;
    }
    const errors = (await infoOf(replica))('unexpected_error_replies');
    this.done.bytes = Number((await infoOf(primary))('master_repl_offset'));
    if (errors !== '0')
      found.push({ name: '0 ""', text: `  the replica answered its primary ${errors} errors` });
    await askAll(replica, [['CONFIG', 'RESETSTAT']]);
    return found;
  }

  /** What has become of a server that has hung up. */
  async obituaries(): Promise<string> {
    return `${await this.#primary.obituary()}\n${await this.#replica.obituary()}`;
  }

  async stop(): Promise<void> {
    await this.#replica.stop();
    await this.#primary.stop();
  }
}

async function startPair(
  dialect: DialectName,
  program: string,
  roles: Roles,
  meddle?: FollowOptions['meddle'],
): Promise<Pair> {
  const [primary, replica] = roles
    .split(' to ')
    .map((kind) => (kind === 'real' ? startReal(program) : startOurs(dialect)));
  return new Pair(await primary!, await replica!, dialect, meddle);
}

/** What two real servers say differently after the same round. */
async function foundOnReal(dialect: DialectName, program: string, seed: number, index: number) {
  const pair = await startPair(dialect, program, 'real to real');
  try {
    return (await pair.round(seed, index)).found;
  } finally {
    await pair.stop();
  }
}

/** What differs, whenever the round was played. */
function timeless({ text }: Found): string {
  return text.replace(/\b1\d{12}\b/g, 'a time');
}

/**
 * Starts a pair of a real server and ours in its dialect, or two real ones, and plays rounds until so many commands have been
 * sent. A round with a difference is played on two real servers too: what differs there alike is what the server does not
 * replicate exactly, such as a vector set that it rounds when it writes a snapshot.
 */
export async function compareFollowers(
  dialect: DialectName,
  program: string,
  roles: Roles,
  { commands, seed, most = 3, only, meddle, report = () => {} }: FollowOptions,
): Promise<Followed> {
  const pair = await startPair(dialect, program, roles, meddle);
  const { done } = pair;
  try {
    for (let index = only ?? 0; done.commands < commands && done.differences.length < most; index++) {
      const { sent, found } = await pair.round(seed, index);
      const theirs = found.length > 0 ? await foundOnReal(dialect, program, seed, index) : [];
      const known = new Set(theirs.map(timeless));
      const left = found.filter((each) => !known.has(timeless(each)));
      if (left.length > 0) {
        const texts = left.map(({ name, text }) => `${text}\n    after:\n${storyOf(name, sent)}`);
        done.differences.push([`seed ${seed}, round ${index}, ${roles}`, ...texts].join('\n'));
        report(done.differences.at(-1)!);
      } else if (found.length > 0) done.alike++;
      if (only !== undefined) break;
    }
    return done;
  } catch (error) {
    throw new Error(await pair.obituaries(), { cause: error });
  } finally {
    await pair.stop();
  }
}
