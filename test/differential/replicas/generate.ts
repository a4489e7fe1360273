/** Generates programs about replication. Steps that make no sense in a state are skipped when they are played. */
import { defined } from '../../../base/defined.ts';
import { Random } from '../random.ts';
import { CLIENTS, MAX_LAG, OFFERS, PEERS, type PeerName, type Program, type Step } from './program.ts';

type Words = readonly string[];

/** What programs are about. */
const THEMES = ['waiting', 'waiting', 'waiting on a disk', 'good replicas', 'failover', 'following'] as const;
export type Theme = (typeof THEMES)[number];

const KEYS = ['k', 'x'];

/** A timeout that no program reaches, and one that is waited for. */
const FAR = '100000';
const NEAR = '200';

function write(random: Random): Words {
  const key = random.pick(KEYS);
  return random.pick<Words>([
    ['SET', key, 'v'],
    ['SET', key, 'v'],
    ['SET', key, 'v', 'NX'],
    ['SET', key, 'v', 'XX', 'GET'],
    ['INCR', 'n'],
    ['DEL', key],
    ['UNLINK', key],
    ['PEXPIRE', key, '1000000'],
    ['PERSIST', key],
    ['EXPIRE', key, '-1'],
    ['LPUSH', 'l', 'e'],
    ['RPOP', 'l'],
    ['HSET', 'h', 'f', 'v'],
    ['SADD', 's', 'm'],
    ['SREM', 's', 'm'],
    ['PFADD', 'hll', 'e'],
    ['EVAL', "return redis.call('SET',KEYS[1],'s')", '1', key],
    ['EVAL', "redis.call('INCR','n') return redis.call('INCR','n')", '0'],
    ['EVAL', "return redis.call('DEL',KEYS[1])", '1', key],
    ['PUBLISH', 'c', 'm'],
    ['SWAPDB', '0', '1'],
    ['COPY', 'k', 'x'],
  ]);
}

function harmless(random: Random): Words {
  const key = random.pick(KEYS);
  return random.pick<Words>([
    ['GET', key],
    ['GET', 'short'],
    ['PING'],
    ['SELECT', random.pick(['0', '0', '1'])],
    ['SCRIPT', 'LOAD', 'return 1'],
    ['SCRIPT', 'FLUSH'],
    ['CONFIG', 'SET', 'slowlog-max-len', '128'],
    ['EVAL', "return redis.call('GET',KEYS[1])", '1', key],
    ['INCR', 'l'],
    ['LPUSH', 'k', 'e'],
    ['GETEX', key],
    ['WATCH', key],
    ['UNWATCH'],
    ['CLIENT', 'GETNAME'],
    ['TTL', key],
    ['ECHO', 'x'],
    ['NOTHING'],
    ['BLPOP', 'l', random.pick(['0', '0', '0.01'])],
    ['MULTI'],
    ['EXEC'],
    ['DISCARD'],
    ['CLIENT', 'UNBLOCK', `<${random.pick(CLIENTS)}>`, ...random.pick([[], [], ['ERROR'], ['TIMEOUT']])],
    ['CLIENT', 'KILL', 'ID', `<${random.pick(CLIENTS)}>`],
    ['RESET'],
    ['CLIENT', 'PAUSE', FAR, 'WRITE'],
    ['CLIENT', 'UNPAUSE'],
  ]);
}

function wait(random: Random): Words {
  const count = random.pick(['0', '1', '1', '1', '2', '3', '-1']);
  const timeout = random.weighted([
    ['0', 5],
    [FAR, 2],
    [NEAR, 2],
  ]);
  if (random.percent(3))
    return ['WAIT', random.pick(['x', '', '1']), random.pick(['-1', 'x', '1.5', '9223372036854775807'])];
  if (random.percent(65)) return ['WAIT', count, timeout];
  return ['WAITAOF', random.pick(['0', '0', '0', '1', '2', '-1']), count, timeout];
}

function look(random: Random): Words {
  return random.pick<Words>([['ROLE'], ['INFO', 'replication'], ['DBSIZE']]);
}

function failover(random: Random): Words {
  const to = random.percent(60) ? ['TO', '127.0.0.1', `<${random.pick(PEERS)}>`] : [];
  const timeout = random.weighted([
    [[], 5],
    [['TIMEOUT', FAR], 3],
    [['TIMEOUT', NEAR], 2],
    [['TIMEOUT', random.pick(['0', '-1', 'x'])], 1],
  ]);
  const force = random.percent(25) ? ['FORCE'] : [];
  if (random.percent(25)) return ['FAILOVER', 'ABORT'];
  return ['FAILOVER', ...random.shuffle([to, timeout, force]).flat()];
}

function change(random: Random): Words {
  return random.weighted<Words>([
    [['REPLICAOF', '127.0.0.1', `<${random.pick(PEERS)}>`], 3],
    [['REPLICAOF', 'NO', 'ONE'], 2],
    [['SLAVEOF', 'no', 'one'], 1],
    [['REPLICAOF', '127.0.0.1', random.pick(['x', '-1', '65536'])], 1],
  ]);
}

/** Requests that clients send, by what the program is about. */
function requests(random: Random, theme: Theme): Words[] {
  const one = (): Words =>
    random.weighted<(random: Random) => Words>([
      [write, 10],
      [harmless, 6],
      [wait, theme === 'following' ? 2 : 8],
      [look, 3],
      [failover, theme === 'failover' ? 5 : 0],
      [change, theme === 'following' ? 4 : theme === 'failover' ? 1 : 0],
    ])(random);
  if (random.percent(75)) return [one()];
  const several = Array.from({ length: random.between(2, 4) }, one);
  // A pause of all requests would hold up the tester too: it ends within the transaction.
  const inside = random.percent(10) ? [['CLIENT', 'PAUSE', FAR], ...several, ['CLIENT', 'UNPAUSE']] : several;
  return random.percent(40) ? [['MULTI'], ...inside, ['EXEC']] : several;
}

function peerStep(random: Random, theme: Theme): Step {
  const who = random.pick<PeerName>(theme === 'following' ? PEERS : ['r1', 'r1', 'r2', 'r3']);
  const synced =
    theme === 'waiting on a disk' ? random.pick([undefined, 0, 0, 1, 2]) : random.percent(10) ? 0 : undefined;
  const ack: Step = {
    kind: 'ack',
    who,
    back: random.pick([0, 0, 0, 1, 2, 3]),
    ...defined({ synced }),
  };
  const isLed = theme === 'following' || theme === 'failover';
  return random.weighted<Step>([
    [ack, 10],
    [{ kind: 'stop', who }, 2],
    [{ kind: 'continue', who }, 3],
    [{ kind: 'follow', who }, 3],
    [{ kind: 'resume', who }, 3],
    [{ kind: 'sync', who }, 1],
    [{ kind: 'leave', who }, 1],
    [{ kind: 'offer', who, offer: random.pick(OFFERS) }, isLed ? 2 : 0],
    [{ kind: 'send', who, words: sent(random), half: random.percent(25) }, isLed ? 8 : 0],
    [{ kind: 'drop', who }, isLed ? 1 : 0],
  ]);
}

/** What a primary sends down its stream. */
function sent(random: Random): Words {
  return random.pick<Words>([
    ['REPLCONF', 'GETACK', '*'],
    ['REPLCONF', 'GETACK', '*'],
    ['PING'],
    ['SELECT', random.pick(['0', '1'])],
    ['SET', 'k', 'p'],
    ['SET', 'x', 'p'],
    ['MULTI'],
    ['EXEC'],
    ['INCR', 'n'],
    ['LPUSH', 'l', 'e'],
    [],
  ]);
}

function step(random: Random, theme: Theme): Step {
  const share = theme === 'following' ? 50 : 65;
  if (random.percent(1)) return { kind: 'hang up', who: random.pick(CLIENTS) };
  if (random.percent(share))
    return { kind: 'ask', who: random.pick(CLIENTS), requests: requests(random, theme) };
  return peerStep(random, theme);
}

/** A key that has expired and is still there: the next request that looks it up removes it. */
function expiry(random: Random): Step[] {
  const requests = [['SET', 'short', 'v', 'PX', '1']];
  return [{ kind: 'ask', who: random.pick(CLIENTS), requests }, { kind: 'time' }];
}

function settingsOf(theme: Theme): Program['settings'] {
  switch (theme) {
    case 'waiting on a disk':
      return [
        ['appendonly', 'yes'],
        ['appendfsync', 'always'],
      ];
    case 'good replicas':
      return [
        ['min-replicas-to-write', '1'],
        ['min-replicas-max-lag', String(MAX_LAG)],
      ];
    default:
      return [];
  }
}

/** A program of so many steps. The first ones make the node a primary with replicas, or a replica. */
export function generate(seed: number, length: number): Program {
  const random = new Random(seed);
  const theme = random.pick(THEMES);
  const steps: Step[] = [];
  if (theme === 'following') {
    if (random.percent(70)) {
      steps.push({ kind: 'ask', who: 'A', requests: [['REPLICAOF', '127.0.0.1', '<r1>']] });
    }
  } else {
    steps.push({ kind: 'follow', who: 'r1' });
    if (random.percent(60)) steps.push({ kind: 'follow', who: 'r2' });
  }
  if (random.percent(60)) steps.push({ kind: 'stop', who: 'r1' });
  while (steps.length < length) {
    if (theme === 'good replicas' && random.percent(4)) steps.push({ kind: 'lag' });
    if (random.percent(2)) steps.push(...expiry(random));
    steps.push(step(random, theme));
  }
  return { settings: settingsOf(theme), steps };
}
