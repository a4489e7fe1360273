/** What a client does before WAIT while the replica hears nothing, and what WAIT answers then on each server. */
import { RawClient } from '../../support/raw-client.ts';
import { printReply, request } from '../../support/reply-text.ts';
import { splitWords } from '../../transcripts/transcript.ts';

/** A primary, and the link to its only replica. */
export interface Stage {
  /** The primary's port on 127.0.0.1. */
  readonly port: number;
  /** From now on the replica hears nothing and is not heard. */
  hold(): void;
  release(): void;
}

/** A conversation, and the last reply of it. */
interface WaitCase {
  readonly title: string;
  /**
   * `A> REQUEST` waits for the reply; `A~ REQUEST` does not, because it blocks or has none; `A<` waits for the reply to an
   * earlier request; HOLD and RELEASE are about the link. A line that ends in `…` waits until a client is blocked.
   */
  readonly lines: readonly string[];
  /** The last reply of Redis 7.0, of Redis 8 and of Valkey, as transcripts print it. */
  readonly answers: readonly [redis7: string, redis8: string, valkey: string];
}

const LONG = 'local n = 0 for i = 1, 300000 do n = n + 1 end';
const LIBRARY =
  "#!lua name=l\\nredis.register_function('f', function() return redis.call('set', 'x', '1') end) redis.register_function{function_name='g', callback=function() return redis.call('get', 'x') end, flags={'no-writes'}}";
const FUNCTION_WAITS =
  "#!lua name=w\\nredis.register_function('w', function() return redis.call('wait', 1, 0) end)";
const LAZY = ['M> DEBUG SET-ACTIVE-EXPIRE 0', 'B> SET e 1 PX 1', 'M> DEBUG SLEEP 0.01'];

/** A's last write has been acknowledged, and B's has not. Then A does this. */
function after(title: string, things: readonly string[], answers: WaitCase['answers']): WaitCase {
  const before = ['B> SET taken 1', `B> FUNCTION LOAD REPLACE "${LIBRARY}"`, 'A> SET base 1', 'A> WAIT 1 0'];
  return { title, lines: [...before, 'HOLD', 'B> SET other 1', ...things, 'A> WAIT 1 20'], answers };
}

/** The request runs and has no effect. */
const idle = (title: string, ...things: string[]): WaitCase => after(title, things, [':0', ':1', ':1']);
/** The request has an effect in the stream. */
const effective = (title: string, ...things: string[]): WaitCase => after(title, things, [':0', ':0', ':0']);
/** The request is not run. */
const unrun = (title: string, ...things: string[]): WaitCase => after(title, things, [':1', ':1', ':1']);

const NOT_IN_SCRIPT = (ends: string): string => `-ERR This Redis command is not allowed from script${ends}`;

const WAIT_CASES: readonly WaitCase[] = [
  // The fourteen with which this table began.
  idle('SET NX of a key that exists', 'A> SET taken 2 NX'),
  idle('GET', 'A> GET taken'),
  idle('a script that reads', `A> EVAL "return redis.call('get', 'taken')" 0`),
  idle('DEL of a missing key', 'A> DEL missing'),
  idle('PEXPIRE of a missing key', 'A> PEXPIRE missing 1000'),
  idle('a command that fails', 'A> LPUSH taken 1'),
  idle('a transaction that reads', 'A> MULTI', 'A> GET taken', 'A> EXEC'),
  idle(
    'EXEC after a watched key changed',
    'A> WATCH taken',
    'B> SET taken 3',
    'A> MULTI',
    'A> SET x 1',
    'A> EXEC',
  ),
  idle('BLPOP that another client serves', 'A~ BLPOP q 0…', 'B> RPUSH q x', 'A<'),
  idle('SELECT', 'A> SELECT 1'),
  idle('PING', 'A> PING'),
  idle('WAIT', 'A> WAIT 1 5'),
  idle('SCRIPT LOAD', 'A> SCRIPT LOAD "return 1"'),
  idle('CONFIG SET', 'A> CONFIG SET maxmemory-samples 5'),

  idle('a script whose SET NX is refused', `A> EVAL "return redis.call('set', 'taken', '1', 'nx')" 0`),
  idle(
    'a script whose write is not replicated',
    `A> EVAL "redis.set_repl(0) return redis.call('set', 'x', '1')" 0`,
  ),
  idle('a long script that reads', `A> EVAL "${LONG} return redis.call('get', 'taken')" 0`),
  idle('a function that reads', 'A> FCALL g 0'),
  idle('EXEC without commands', 'A> MULTI', 'A> EXEC'),
  idle('EXEC of a spoilt transaction', 'A> MULTI', 'A> NOSUCH', 'A> EXEC'),
  idle('EXEC whose SET NX is refused', 'A> MULTI', 'A> SET taken 1 NX', 'A> EXEC'),
  idle('DISCARD', 'A> MULTI', 'A> SET x 1', 'A> DISCARD'),
  idle('PERSIST without a TTL', 'A> PERSIST taken'),
  idle('SADD of a member', 'B> SADD s a', 'A> SADD s a'),
  idle('BLPOP that times out', 'A> BLPOP q 0.01'),
  idle('BLPOP that another client serves, then GET', 'A~ BLPOP q 0…', 'B> RPUSH q x', 'A<', 'A> GET x'),
  idle('BLPOP that a transaction serves', 'A~ BLPOP q 0…', 'B> MULTI', 'B> RPUSH q x', 'B> EXEC', 'A<'),
  idle('BLMOVE that another client serves', 'A~ BLMOVE q r LEFT RIGHT 0…', 'B> RPUSH q x', 'A<'),
  idle(
    'XREADGROUP that another client serves',
    'B> XGROUP CREATE s g $ MKSTREAM',
    'A~ XREADGROUP GROUP g c BLOCK 0 STREAMS s >…',
    'B> XADD s * a 1',
    'A<',
  ),
  idle('BZPOPMIN that another client serves', 'A~ BZPOPMIN z 0…', 'B> ZADD z 1 a', 'A<'),
  idle('GET that was paused', 'M> CLIENT PAUSE 5 ALL', 'A> GET taken'),
  idle('HELLO', 'A> HELLO 2'),
  idle('RESET', 'A> RESET'),
  idle('MIGRATE of a missing key', 'A> MIGRATE 127.0.0.1 1 missing 0 10'),
  idle('MIGRATE that fails', 'A> MIGRATE 127.0.0.1 1 taken 0 10'),
  idle(
    'GET for which other keys are evicted',
    'M> CONFIG SET maxmemory-policy allkeys-random',
    'M> CONFIG SET maxmemory 1',
    'A> GET taken',
    'M> CONFIG SET maxmemory 0',
    'M> CONFIG SET maxmemory-policy noeviction',
  ),

  idle('GET while another key has expired', 'B> SET e 1 PX 1', 'M> DEBUG SLEEP 0.01', 'A> GET taken'),

  effective('SET', 'A> SET x 1'),
  effective('SET of the same value', 'A> SET taken 1'),
  effective('SET, and then GET', 'A> SET x 1', 'A> GET x', 'A> PING'),
  effective('SET, and then RESET', 'A> SET x 1', 'A> RESET'),
  effective('SET in another database', 'A> SELECT 3', 'A> SET x 1'),
  effective('SET without a reply', 'A~ CLIENT REPLY OFF', 'A~ SET x 1', 'A> CLIENT REPLY ON'),
  effective('SET whose reply is skipped', 'A~ CLIENT REPLY SKIP', 'A~ SET x 1', 'A> PING'),
  effective('SET that was paused', 'M> CLIENT PAUSE 5 WRITE', 'A> SET x 1'),
  effective(
    'SET, and then BLPOP that another client serves',
    'A> SET x 1',
    'A~ BLPOP q 0…',
    'B> RPUSH q x',
    'A<',
  ),
  effective('a transaction that writes', 'A> MULTI', 'A> GET x', 'A> SET x 1', 'A> GET x', 'A> EXEC'),
  effective('a script that writes', `A> EVAL "return redis.call('set', 'x', '1')" 0`),
  effective('a script that writes and fails', `A> EVAL "redis.call('set', 'x', '1') error('no')" 0`),
  effective('a long script that writes', `A> EVAL "${LONG} return redis.call('set', 'x', '1')" 0`),
  effective('a script that publishes', `A> EVAL "return redis.call('publish', 'x', '1')" 0`),
  effective('a function that writes', 'A> FCALL f 0'),
  effective('FUNCTION LOAD', `A> FUNCTION LOAD REPLACE "${FUNCTION_WAITS}"`),
  effective('PUBLISH', 'A> PUBLISH x 1'),
  effective('FLUSHDB of an empty database', 'A> SELECT 5', 'A> FLUSHDB'),
  effective('PEXPIRE into the past', 'A> PEXPIRE taken -1'),
  effective('BLPOP that need not wait', 'B> RPUSH q x', 'A> BLPOP q 0'),
  effective('RPUSH that serves another client', 'B~ BLPOP q 0…', 'A> RPUSH q x', 'B<'),
  effective('GET that removes an expired key', ...LAZY, 'A> GET e', 'M> DEBUG SET-ACTIVE-EXPIRE 1'),
  effective('DEL of an expired key', ...LAZY, 'A> DEL e', 'M> DEBUG SET-ACTIVE-EXPIRE 1'),

  unrun('nothing'),
  unrun('a command that does not exist', 'A> NOSUCH'),
  unrun('a command without its arguments', 'A> GET'),
  unrun(
    'SET that is refused without replicas',
    'M> CONFIG SET min-replicas-to-write 2',
    'A> SET x 1',
    'M> CONFIG SET min-replicas-to-write 0',
  ),
  unrun(
    'SET that is refused without memory',
    'M> CONFIG SET maxmemory 1',
    'A> SET x 1',
    'M> CONFIG SET maxmemory 0',
  ),

  {
    title: 'a connection that has done nothing',
    lines: ['A> SET base 1', 'A> WAIT 1 0', 'HOLD', 'A> SET x 1', 'B> WAIT 1 20'],
    answers: [':1', ':1', ':1'],
  },
  {
    title: 'the question that WAIT itself puts into the stream',
    lines: ['A> SET a 1', 'A> WAIT 1 0', 'HOLD', 'A> WAIT 1 20'],
    answers: [':1', ':1', ':1'],
  },
  {
    title: 'the questions of several WAITs, of other clients too',
    lines: ['B> SET b 1', 'A> SET a 1', 'B> WAIT 1 0', 'B> WAIT 2 5', 'HOLD', 'A> WAIT 1 20'],
    answers: [':1', ':1', ':1'],
  },
  {
    title: 'WAIT in a transaction, behind its write',
    lines: ['A> SET a 1', 'A> WAIT 1 0', 'HOLD', 'A> MULTI', 'A> SET x 1', 'A> WAIT 1 0', 'A> EXEC'],
    answers: ['[+OK :0]', '[+OK :1]', '[+OK :1]'],
  },
  {
    title: 'WAIT in a transaction, behind an earlier write',
    lines: ['A> SET a 1', 'A> WAIT 1 0', 'HOLD', 'A> SET x 1', 'A> MULTI', 'A> WAIT 1 0', 'A> EXEC'],
    answers: ['[:0]', '[:0]', '[:0]'],
  },
  {
    title: 'WAIT in a script, behind its write',
    lines: [
      'A> SET a 1',
      'A> WAIT 1 0',
      'HOLD',
      `A> EVAL "redis.call('set', 'x', 1) return redis.pcall('wait', 1, 0)" 0`,
    ],
    answers: [NOT_IN_SCRIPT(''), ':1', ':1'],
  },
  {
    title: 'WAIT in a script, behind an earlier write of its caller',
    lines: [
      'A> SET a 1',
      'A> WAIT 1 0',
      'HOLD',
      'A> SET x 1',
      `A> EVAL "return redis.pcall('wait', 1, 0)" 0`,
    ],
    answers: [NOT_IN_SCRIPT(''), ':1', ':0'],
  },
  {
    title: 'WAIT in a function, behind an earlier write of its caller',
    lines: [
      `A> FUNCTION LOAD REPLACE "${FUNCTION_WAITS}"`,
      'A> WAIT 1 0',
      'HOLD',
      'A> SET x 1',
      'A> FCALL w 0',
    ],
    answers: [NOT_IN_SCRIPT(' script: w, on @user_function:2.'), ':1', ':0'],
  },
];

/** The answers of a dialect's server to all cases. */
export function expectedOf(dialect: string): [title: string, reply: string][] {
  const at = dialect === 'redis-7.0' ? 0 : dialect.startsWith('valkey') ? 2 : 1;
  return WAIT_CASES.map(({ title, answers }) => [title, answers[at]]);
}

/** Plays all cases. `ready` resolves when the replica has acknowledged everything before. Returns what WAIT answers. */
export async function answers(
  stage: Stage,
  ready: () => Promise<unknown>,
): Promise<[title: string, reply: string][]> {
  const all: [string, string][] = [];
  for (const each of WAIT_CASES) {
    await ready();
    all.push([each.title, await play(stage, each)]);
  }
  return all;
}

/** Plays a case on a primary whose replica has its whole stream. Returns the last reply. */
async function play(stage: Stage, { lines }: WaitCase): Promise<string> {
  const clients = new Map<string, RawClient>();
  const clientOf = async (name: string): Promise<RawClient> => {
    const client = clients.get(name) ?? (await RawClient.connect({ port: stage.port }));
    clients.set(name, client);
    return client;
  };
  let last = '';
  try {
    for (const line of ['Z> FLUSHALL', ...lines]) {
      if (line === 'HOLD') stage.hold();
      else if (line === 'RELEASE') stage.release();
      else last = await step(clientOf, line);
    }
    return last;
  } finally {
    for (const client of clients.values()) client.close();
    stage.release();
  }
}

async function step(clientOf: (name: string) => Promise<RawClient>, line: string): Promise<string> {
  const [, name = '', mark = '', text = '', blocks] = /^(\w)([>~<]) ?(.*?)(…?)$/s.exec(line) ?? [];
  const client = await clientOf(name);
  if (mark !== '<') await client.send(request(...splitWords(text)));
  if (mark !== '~') return printReply((await client.read()).value);
  if (blocks === '…') {
    const observer = await clientOf('Z');
    while (!/blocked_clients:1\r/.test((await observer.ask('INFO', 'clients')).raw));
  }
  return '';
}
