/** SENTINEL CONFIG: the parameters of the Sentinel as a whole. */
import { asciiLower, type Bytes, cString, parseSafeInteger } from '../../protocol/bytes.ts';
import { fail } from '../../protocol/errors.ts';
import { globMatch } from '../../protocol/glob.ts';
import { MapReply, OK, type Reply } from '../../protocol/reply.ts';
import { wordAt } from '../../server/table/arguments.ts';
import type { GlobalSettings } from '../configuration/settings.ts';
import type { Sentinel } from '../sentinel.ts';

type Name = keyof GlobalSettings | 'loglevel';

const LEVELS = ['debug', 'verbose', 'notice', 'warning', 'nothing'];

/** Describes a parameter: how it is checked, stored and printed. */
interface Parameter {
  accepts(value: Bytes): boolean;
  set(sentinel: Sentinel, value: Bytes): void;
  get(sentinel: Sentinel): Bytes;
}

function flag(name: 'resolve-hostnames' | 'announce-hostnames'): Parameter {
  return {
    accepts: (value) => ['yes', 'no'].includes(asciiLower(value)),
    set: ({ globals }, value) => {
      globals[name] = asciiLower(value) === 'yes';
    },
    get: ({ globals }) => (globals[name] ? 'yes' : 'no'),
  };
}

function text(name: 'announce-ip' | 'sentinel-user' | 'sentinel-pass'): Parameter {
  return {
    accepts: () => true,
    set: ({ globals }, value) => {
      globals[name] = value;
    },
    get: ({ globals }) => globals[name],
  };
}

/** The parameters, in the order in which CONFIG GET lists them. */
const PARAMETERS: Readonly<Record<Name, Parameter>> = {
  'resolve-hostnames': flag('resolve-hostnames'),
  'announce-hostnames': flag('announce-hostnames'),
  'announce-ip': text('announce-ip'),
  'announce-port': {
    accepts(value) {
      const port = parseSafeInteger(value);
      return port !== undefined && port >= 0 && port <= 65535;
    },
    set({ globals }, value) {
      globals['announce-port'] = parseSafeInteger(value) ?? 0;
    },
    get: ({ globals }) => String(globals['announce-port']),
  },
  'sentinel-user': text('sentinel-user'),
  'sentinel-pass': text('sentinel-pass'),
  loglevel: {
    accepts: (value) => LEVELS.includes(asciiLower(value)),
    set: ({ home }, value) => {
      home.settings.loglevel = asciiLower(value) as typeof home.settings.loglevel;
    },
    get: ({ home }) => home.settings.loglevel,
  },
};

function parameter(name: Bytes, hasLevel: boolean): Parameter | undefined {
  const lower = asciiLower(name);
  if (!Object.hasOwn(PARAMETERS, lower) || (lower === 'loglevel' && !hasLevel)) return undefined;
  return PARAMETERS[lower as Name];
}

/**
 * SENTINEL CONFIG GET and SET.
 * @param argv the whole request
 * @param several whether they take several parameters
 */
export function config(sentinel: Sentinel, argv: readonly Bytes[], several: boolean): Reply {
  const verb = asciiLower(wordAt(argv, 2));
  const words = argv.slice(3);
  if (verb === 'set' && (several ? words.length >= 2 : words.length === 2))
    return set(sentinel, words, several);
  if (verb === 'get' && (several ? words.length >= 1 : words.length === 1))
    return get(sentinel, words, several);
  const usage = several
    ? 'GET <param> [<param> <param> ...] / SET <param> <value> [<param> <value> ...]'
    : 'GET <option> / SET <option> <value>';
  return fail(`ERR Only SENTINEL CONFIG ${usage} are supported.`);
}

function set(sentinel: Sentinel, words: readonly Bytes[], several: boolean): Reply {
  const pairs: [Parameter, Bytes][] = [];
  const seen = new Set<Bytes>();
  for (let at = 0; at < words.length; at += 2) {
    const option = wordAt(words, at);
    const name = cString(option);
    const found = parameter(option, several);
    if (found === undefined) fail(`ERR Invalid argument '${name}' to SENTINEL CONFIG SET`);
    if (seen.has(asciiLower(option))) fail(`ERR Duplicate argument '${name}' to SENTINEL CONFIG SET`);
    seen.add(asciiLower(option));
    const value = words[at + 1] ?? fail(`ERR Missing argument '${name}' value`);
    if (!found.accepts(value)) fail(`ERR Invalid value '${cString(value)}' to SENTINEL CONFIG SET '${name}'`);
    pairs.push([found, value]);
  }
  for (const [found, value] of pairs) found.set(sentinel, value);
  sentinel.flush();
  if (seen.has('sentinel-user') || seen.has('sentinel-pass')) {
    for (const other of sentinel.otherSentinels()) other.link.close();
  }
  return OK;
}

function get(sentinel: Sentinel, patterns: readonly Bytes[], several: boolean): Reply {
  const shown = new Set<Bytes>();
  const items: Bytes[] = [];
  for (const pattern of patterns) {
    for (const [name, each] of Object.entries(PARAMETERS)) {
      if (shown.has(name) || parameter(name, several) === undefined) continue;
      if (!globMatch(pattern, name, true)) continue;
      shown.add(name);
      items.push(name, each.get(sentinel));
    }
  }
  return new MapReply(items);
}
