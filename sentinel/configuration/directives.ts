/**
 * The configuration of a Sentinel as lines of sentinel.conf: read at the start, and written with the state after every
 * change, so that a Sentinel that restarts keeps its id, its epoch and its vote.
 */
import { asciiLower, type Bytes, parseSafeInteger } from '../../protocol/bytes.ts';
import { quotedIfNeeded, splitInline } from '../../protocol/inline.ts';
import { hostOf } from '../address.ts';
import type { Primary } from '../instances.ts';
import { addReplica, addSentinel, monitor, spreadDownAfter } from '../primaries.ts';
import type { Sentinel } from '../sentinel.ts';

/** A directive cannot be applied. The message says why, in redis-sentinel's words. */
export class BadSentinelDirective extends Error {}

function refuse(why: string): never {
  throw new BadSentinelDirective(why);
}

const NO_SUCH = 'No such master with specified name.';
const BAD_TIME = 'negative or zero time parameter.';
const UNKNOWN = 'Unrecognized sentinel configuration statement.';
const SCRIPTS = 'lostlock runs no scripts of a Sentinel';

function numberOf(text: Bytes): number {
  return parseSafeInteger(text) ?? 0;
}

function timeOf(text: Bytes): number {
  const time = numberOf(text);
  return time > 0 ? time : refuse(BAD_TIME);
}

/** Directives about one primary, by name, without its name: `sentinel quorum mymaster 2` has one argument. */
const OF_PRIMARY: Readonly<
  Record<string, (primary: Primary, args: readonly Bytes[], sentinel: Sentinel) => void>
> = {
  'down-after-milliseconds'(primary, [value = '']) {
    primary.downAfter = timeOf(value);
    spreadDownAfter(primary);
  },
  'failover-timeout'(primary, [value = '']) {
    primary.failoverTimeout = timeOf(value);
  },
  'parallel-syncs'(primary, [value = '']) {
    primary.parallelSyncs = numberOf(value);
  },
  'auth-pass'(primary, [value]) {
    primary.password = value;
  },
  'auth-user'(primary, [value]) {
    primary.user = value;
  },
  'master-reboot-down-after-period'(primary, [value = '']) {
    primary.rebootDownAfter = numberOf(value);
  },
  'config-epoch'(primary, [value = ''], sentinel) {
    primary.configEpoch = numberOf(value);
    sentinel.epoch = Math.max(sentinel.epoch, primary.configEpoch);
  },
  'leader-epoch'(primary, [value = '']) {
    primary.leaderEpoch = numberOf(value);
  },
  'known-replica'(primary, [ip = '', port = ''], sentinel) {
    const address = addressOf(sentinel, ip, port);
    if (addReplica(sentinel, primary, address) === undefined) {
      refuse('Duplicate hostname and port for replica.');
    }
  },
  'known-sentinel'(primary, [ip = '', port = '', id], sentinel) {
    if (id === undefined) return;
    if (addSentinel(sentinel, primary, id, addressOf(sentinel, ip, port)) === undefined) {
      refuse('Duplicate runid for sentinel.');
    }
  },
  'rename-command'(primary, [before = '', after = '']) {
    if (primary.renamed.has(asciiLower(before))) {
      refuse('Same command renamed multiple times with rename-command.');
    }
    primary.renamed.set(asciiLower(before), after);
  },
  'notification-script': () => refuse(SCRIPTS),
  'client-reconfig-script': () => refuse(SCRIPTS),
};

/** The number of words of each directive, its name included; of `known-sentinel` the last one may be missing. */
const WORDS: Readonly<Record<string, number>> = {
  'known-replica': 4,
  'known-sentinel': 5,
  'rename-command': 4,
};

function addressOf(sentinel: Sentinel, ip: Bytes, portText: Bytes): { host: Bytes; port: number } {
  const port = numberOf(portText);
  if (port < 0 || port > 65535) refuse('Invalid port number.');
  const host = hostOf(ip, sentinel.globals['resolve-hostnames']);
  return { host: host ?? refuse("Can't resolve instance hostname."), port };
}

/** Directives about the Sentinel itself, by name. */
const GLOBAL: Readonly<Record<string, (sentinel: Sentinel, value: Bytes) => void>> = {
  myid(sentinel, value) {
    if (value.length !== 40) refuse('Malformed Sentinel id in myid option.');
    sentinel.id = value;
  },
  'current-epoch'(sentinel, value) {
    sentinel.epoch = Math.max(sentinel.epoch, numberOf(value));
  },
  'announce-ip'({ globals }, value) {
    globals['announce-ip'] = value;
  },
  'announce-port'({ globals }, value) {
    globals['announce-port'] = numberOf(value);
  },
  'sentinel-user'({ globals }, value) {
    globals['sentinel-user'] = value;
  },
  'sentinel-pass'({ globals }, value) {
    globals['sentinel-pass'] = value;
  },
  'resolve-hostnames'({ globals }, value) {
    globals['resolve-hostnames'] = yes('resolve-hostnames', value);
  },
  'announce-hostnames'({ globals }, value) {
    globals['announce-hostnames'] = yes('announce-hostnames', value);
  },
  'deny-scripts-reconfig'(_, value) {
    if (!yes('deny-scripts-reconfig options', value)) refuse(SCRIPTS);
  },
};

function yes(what: string, value: Bytes): boolean {
  const word = asciiLower(value);
  if (word === 'yes' || word === 'no') return word === 'yes';
  return refuse(`Please specify yes or no for the ${what}${what.endsWith('options') ? '' : ' option'}.`);
}

/**
 * Applies one directive, without the word `sentinel` in front.
 * @throws BadSentinelDirective
 */
export function applyDirective(sentinel: Sentinel, words: readonly Bytes[]): void {
  const [directive = '', first = '', ...rest] = words;
  const given = asciiLower(directive);
  const renamed = new Map([
    ['known-slave', 'known-replica'],
    [sentinel.traits.rebootParameter, 'master-reboot-down-after-period'],
  ]);
  const name = renamed.get(given) ?? given;
  const global = Object.hasOwn(GLOBAL, name) ? GLOBAL[name] : undefined;
  if (name === 'monitor' && words.length === 5) monitorPrimary(sentinel, first, rest);
  else if (global !== undefined && words.length === 2) global(sentinel, first);
  else applyToPrimary(sentinel, name, words);
}

function applyToPrimary(sentinel: Sentinel, name: Bytes, words: readonly Bytes[]): void {
  const [, first = '', ...rest] = words;
  const apply = Object.hasOwn(OF_PRIMARY, name) ? OF_PRIMARY[name] : undefined;
  const expected = WORDS[name] ?? 3;
  const isLong = words.length === expected || (name === 'known-sentinel' && words.length === 4);
  if (apply === undefined || !isLong) refuse(UNKNOWN);
  apply(sentinel.primaries.get(first) ?? refuse(NO_SUCH), rest, sentinel);
}

function monitorPrimary(sentinel: Sentinel, name: Bytes, rest: readonly Bytes[]): void {
  const [ip = '', port = '', quorumText = ''] = rest;
  const quorum = numberOf(quorumText);
  if (quorum <= 0) refuse('Quorum must be 1 or greater.');
  const primary = monitor(sentinel, name, addressOf(sentinel, ip, port), quorum);
  if (primary === undefined) refuse('Duplicate master name.');
}

/** The directives that a file may have below those that they matter for: they are applied before any primary is monitored. */
const FIRST: ReadonlySet<Bytes> = new Set(Object.keys(GLOBAL));

/** In which turn a directive is applied: about the Sentinel, `monitor`, about a primary. */
function turnOf([directive = '']: readonly Bytes[]): number {
  const name = asciiLower(directive);
  if (FIRST.has(name)) return 0;
  return name === 'monitor' ? 1 : 2;
}

/**
 * The order in which redis-sentinel applies the lines of a file.
 * @param lines each with the words behind `sentinel`
 */
export function inTurn<L extends { readonly words: readonly Bytes[] }>(lines: readonly L[]): L[] {
  return [...lines].sort((a, b) => turnOf(a.words) - turnOf(b.words));
}

/** The configuration and the state, as the arguments of `sentinel` directives. */
export function directivesOf(sentinel: Sentinel): (string | number)[][] {
  const { globals } = sentinel;
  const lines: (string | number)[][] = [['myid', sentinel.id]];
  if (globals['resolve-hostnames']) lines.push(['resolve-hostnames', 'yes']);
  if (globals['announce-hostnames']) lines.push(['announce-hostnames', 'yes']);
  for (const primary of sentinel.primaries.values()) lines.push(...directivesOfPrimary(primary, sentinel));
  lines.push(['current-epoch', sentinel.epoch]);
  for (const name of ['announce-ip', 'announce-port', 'sentinel-user', 'sentinel-pass'] as const) {
    if (globals[name] !== '' && globals[name] !== 0) lines.push([name, globals[name]]);
  }
  return lines;
}

function* directivesOfPrimary(
  primary: Primary,
  { periods, traits }: Sentinel,
): Iterable<(string | number)[]> {
  const { name, announced, address, downAfter, failoverTimeout, parallelSyncs } = primary;
  yield ['monitor', name, announced.host, announced.port, primary.quorum];
  if (downAfter !== periods['default-down-after']) yield ['down-after-milliseconds', name, downAfter];
  if (failoverTimeout !== periods['default-failover-timeout'])
    yield ['failover-timeout', name, failoverTimeout];
  if (parallelSyncs !== 1) yield ['parallel-syncs', name, parallelSyncs];
  if (primary.password !== undefined) yield ['auth-pass', name, primary.password];
  if (primary.user !== undefined) yield ['auth-user', name, primary.user];
  if (primary.rebootDownAfter !== 0) yield [traits.rebootParameter, name, primary.rebootDownAfter];
  yield ['config-epoch', name, primary.configEpoch];
  yield ['leader-epoch', name, primary.leaderEpoch];
  for (const replica of primary.replicas.values()) {
    // The promoted replica is the primary by now, and the old primary will be a replica.
    const { host, port } = replica.address === announced ? address : replica.address;
    yield ['known-replica', name, host, port];
  }
  for (const other of primary.sentinels.values()) {
    yield ['known-sentinel', name, other.address.host, other.address.port, other.runId];
  }
  for (const [before, after] of primary.renamed) yield ['rename-command', name, before, after];
}

/** Keeps the configuration in a file of the host's disk: reads it if it exists, and writes it after each change. */
export function keepIn(sentinel: Sentinel, file: string): void {
  const { disk } = sentinel.host;
  for (const line of disk.read(file)?.split('\n') ?? []) {
    if (line !== '') applyDirective(sentinel, (splitInline(line) ?? refuse(UNKNOWN)).slice(1));
  }
  let stored: Bytes | undefined;
  sentinel.store = () => {
    const text = directivesOf(sentinel)
      .map((words) => `sentinel ${words.map((word) => quotedIfNeeded(String(word))).join(' ')}\n`)
      .join('');
    if (text === stored) return true;
    disk.write(file, text);
    disk.sync(file);
    stored = text;
    return true;
  };
}
