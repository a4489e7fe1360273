/** Generates requests for a Sentinel: valid and invalid ones of every command, about primaries that nobody can reach. */
import type { Random } from '../random.ts';

type Words = readonly string[];

const NAMES = ['m1', 'm2', 'm3', 'm[1]', 'none', ''];
const HOSTS = ['127.0.0.1', '127.0.0.2', '127.1', '0x7f.1', '127.0.0.010', '::1', '2130706433'];
const BAD_HOSTS = ['localhost', 'nowhere', '256.1.1.1', '1.2.3.4.5', '', '127.0.0.1:1', 'fe80::g'];
const PORTS = ['1', '2', '3', '0', '65535'];
const BAD_PORTS = ['-1', '65536', 'x', '', '1.5', '01', '99999999999999999999'];
const IDS = ['a', 'b', 'c'].map((letter) => letter.repeat(40));
const TIMES = ['30000', '45000', '180000', '0', '-5', 'x', ''];
const COUNTS = ['1', '2', '3', '0', '-1', 'x'];
const TIME_OPTIONS = ['down-after-milliseconds', 'Failover-Timeout'];
const COUNT_OPTIONS = ['parallel-syncs', 'QUORUM'];
const OTHER_OPTIONS = [
  'auth-pass',
  'auth-user',
  'master-reboot-down-after-period',
  'primary-reboot-down-after-period',
  'rename-command',
];
const REFUSED_OPTIONS = ['notification-script', 'client-reconfig-script', 'nonsense', ''];
const PARAMETERS = ['announce-ip', 'announce-port', 'sentinel-user', 'resolve-hostnames'];
const PATTERNS = ['*', 'announce*', 'sentinel-user', 'SENTINEL-*', 'x', '[ar]*', 'loglevel', 'm?', 'm1', ''];
const PERIODS = [
  'info-period',
  'ASK-period',
  'publish-period',
  'election-timeout',
  'default-down-after',
  'nonsense',
];

function host(random: Random): string {
  return random.percent(85) ? random.pick(HOSTS) : random.pick(BAD_HOSTS);
}

function port(random: Random): string {
  return random.percent(85) ? random.pick(PORTS) : random.pick(BAD_PORTS);
}

function name(random: Random): string {
  return random.percent(85) ? random.pick(NAMES.slice(0, 3)) : random.pick(NAMES);
}

/** A hello message of another Sentinel. */
function hello(random: Random): string {
  const epoch = String(random.below(6));
  const about = [name(random), random.pick(HOSTS.slice(0, 2)), random.pick(PORTS.slice(0, 3))];
  const from = [random.pick(HOSTS.slice(0, 2)), random.pick(PORTS.slice(0, 4)), random.pick(IDS)];
  const words = [...from, epoch, ...about, String(random.below(6))];
  if (random.percent(8)) words.pop();
  // A negative epoch is a very large one in C.
  if (random.percent(4)) words[random.below(words.length)] = random.pick(['', 'x']);
  if (random.percent(4)) words[1] = '-1';
  return words.join(',');
}

function setting(random: Random): string[] {
  const kind = random.below(10);
  if (kind < 3) return [random.pick(TIME_OPTIONS), random.pick(TIMES)];
  if (kind < 6) return [random.pick(COUNT_OPTIONS), random.pick(COUNTS)];
  if (kind < 8) {
    const option = random.pick(OTHER_OPTIONS);
    const values = random.pick([[], ['x'], ['0'], ['x', 'y'], ['CONFIG', 'config'], ['', 'y'], ['y', '']]);
    return [option, ...values];
  }
  return [random.pick(REFUSED_OPTIONS), 'x'];
}

const bySubcommand: Readonly<Record<string, (random: Random) => Words>> = {
  monitor: (random) => [name(random), host(random), port(random), random.pick(COUNTS)],
  remove: (random) => [name(random)],
  master: (random) => [name(random)],
  masters: () => [],
  replicas: (random) => [name(random)],
  slaves: (random) => [name(random)],
  sentinels: (random) => [name(random)],
  'get-master-addr-by-name': (random) => [name(random)],
  ckquorum: (random) => [name(random)],
  failover: (random) => [name(random)],
  reset: (random) => [random.pick(['m*', 'm1', 'm?', 'm[12]', 'M1', '*', 'x', ''])],
  set: (random) => [name(random), ...setting(random), ...(random.percent(40) ? setting(random) : [])],
  config: (random) =>
    random.percent(50)
      ? ['GET', random.pick(PATTERNS), ...(random.percent(20) ? [random.pick(PATTERNS)] : [])]
      : [
          random.pick(['set', 'SET', 'SET', 'reset']),
          random.pick(random.percent(90) ? PARAMETERS : ['nonsense', '']),
          random.pick(['yes', 'no', '127.0.0.1', '0', '26379', '65536', 'x', '']),
          ...(random.percent(15) ? [random.pick(PARAMETERS), 'no'] : []),
        ],
  debug: (random) => (random.percent(30) ? [] : [random.pick(PERIODS), random.pick(TIMES)]),
  'is-master-down-by-addr': (random) => [
    host(random),
    port(random),
    random.pick(['0', '1', '2', '3', '4', '5', 'x']),
    random.pick(['*', ...IDS]),
  ],
  'info-cache': (random) => [name(random), ...(random.percent(30) ? [name(random)] : [])],
  myid: () => [],
  'pending-scripts': () => [],
  flushconfig: () => [],
  'simulate-failure': (random) =>
    random.pick([['help'], ['HELP', 'x'], ['crash-after-election', 'nonsense'], ['nonsense']]),
  help: () => [],
  nonsense: () => [],
};

const SUBCOMMANDS = Object.keys(bySubcommand);
/** The commands that change what later ones show are asked for more often. */
const FREQUENT = [
  'monitor',
  'monitor',
  'monitor',
  'set',
  'set',
  'masters',
  'sentinels',
  'replicas',
  'is-master-down-by-addr',
];

const OTHERS: readonly Words[] = [
  ['PING'],
  ['PING', 'x'],
  ['PING', 'x', 'y'],
  ['ROLE'],
  ['ROLE', 'x'],
  ['INFO'],
  ['INFO', 'sentinel'],
  ['INFO', 'SERVER', 'sentinel'],
  ['INFO', 'everything'],
  ['INFO', 'replication'],
  ['HELLO'],
  ['HELLO', '2'],
  ['HELLO', '3'],
  ['HELLO', '4'],
  ['COMMAND', 'COUNT'],
  ['COMMAND', 'LIST'],
  ['COMMAND', 'INFO', 'sentinel', 'publish', 'get', 'sentinel|set'],
  ['COMMAND', 'GETKEYS', 'SENTINEL', 'MASTERS'],
  ['AUTH', 'x'],
  ['AUTH', 'default', 'x'],
  ['ACL', 'WHOAMI'],
  ['ACL', 'CAT'],
  ['ACL', 'CAT', 'dangerous'],
  ['ACL', 'SETUSER', 'u', 'on', 'nopass', '+sentinel|masters', '+ping'],
  ['ACL', 'SETUSER', 'u', '+get'],
  ['ACL', 'DRYRUN', 'u', 'SENTINEL', 'MASTERS'],
  ['ACL', 'DRYRUN', 'u', 'SENTINEL', 'REMOVE', 'x'],
  ['ACL', 'DELUSER', 'u'],
  ['CLIENT', 'GETNAME'],
  ['CLIENT', 'SETNAME', 'n'],
  ['CLIENT', 'GETREDIR'],
  ['GET', 'x'],
  ['SET', 'x', 'y'],
  ['MULTI'],
  ['QUIT'],
  ['RESET'],
  ['CONFIG', 'GET', '*'],
  ['SELECT', '0'],
  ['EVAL', 'return 1', '0'],
  ['SUBSCRIBE'],
  ['PUBLISH', 'x', 'y'],
  ['PUBLISH', 'x'],
  ['SENTINEL'],
];

/** One request. */
export function sentinelRequest(random: Random): Words {
  const kind = random.below(100);
  if (kind < 15) return random.pick(OTHERS);
  if (kind < 30) return ['PUBLISH', '__sentinel__:hello', hello(random)];
  const sub = random.percent(40) ? random.pick(FREQUENT) : random.pick(SUBCOMMANDS);
  const words = ['SENTINEL', random.percent(30) ? sub.toUpperCase() : sub, ...bySubcommand[sub]!(random)];
  const surplus = random.below(25);
  if (surplus === 0) words.push('x');
  else if (surplus === 1) words.pop();
  return words;
}
