/** SENTINEL SET and SENTINEL DEBUG: settings of one primary, and the periods of the Sentinel. */
import { asciiLower, asciiUpper, type Bytes, cString, parseSafeInteger } from '../../protocol/bytes.ts';
import { fail } from '../../protocol/errors.ts';
import { MapReply, OK, type Reply } from '../../protocol/reply.ts';
import { wordAt } from '../../server/table/arguments.ts';
import type { Periods } from '../configuration/settings.ts';
import type { Primary } from '../instances.ts';
import { spreadDownAfter } from '../primaries.ts';
import type { Sentinel } from '../sentinel.ts';

/** A positive number, or one that is not negative; undefined for anything else. */
function number(text: Bytes, least = 1): number | undefined {
  const value = parseSafeInteger(text);
  return value === undefined || value < least ? undefined : value;
}

/** Applies an option to a primary. Returns false for a value that it does not accept. */
type Apply = (sentinel: Sentinel, primary: Primary, value: Bytes) => boolean;

function numeric(apply: (primary: Primary, value: number) => void, least = 1): Apply {
  return (_, primary, text) => {
    const value = number(text, least);
    if (value !== undefined) apply(primary, value);
    return value !== undefined;
  };
}

function script(): never {
  fail(
    'ERR Reconfiguration of scripts path is denied for security reasons. Check the deny-scripts-reconfig configuration directive in your Sentinel configuration',
  );
}

/** Reconnects, so that new credentials take effect. */
function relogin(primary: Primary): true {
  primary.link.close();
  for (const replica of primary.replicas.values()) replica.link.close();
  return true;
}

const REBOOT = 'master-reboot-down-after-period';

/** The options that take one value, by name. */
const OPTIONS: Readonly<Record<string, Apply>> = {
  'down-after-milliseconds': numeric((primary, value) => {
    primary.downAfter = value;
    spreadDownAfter(primary);
  }),
  'failover-timeout': numeric((primary, value) => {
    primary.failoverTimeout = value;
  }),
  'parallel-syncs': numeric((primary, value) => {
    primary.parallelSyncs = value;
  }),
  quorum: numeric((primary, value) => {
    primary.quorum = value;
  }),
  [REBOOT]: numeric((primary, value) => {
    primary.rebootDownAfter = value;
  }, 0),
  'notification-script': script,
  'client-reconfig-script': script,
  'auth-pass': (_, primary, value) => {
    primary.password = value === '' ? undefined : value;
    return relogin(primary);
  },
  'auth-user': (_, primary, value) => {
    primary.user = value === '' ? undefined : value;
    return relogin(primary);
  },
};

/** SENTINEL SET: each option takes effect at once, even if a later one is refused. */
export function setOptions(sentinel: Sentinel, primary: Primary, words: readonly Bytes[]): Reply {
  try {
    for (let at = 0; at < words.length; ) at += setOne(sentinel, primary, words.slice(at));
  } finally {
    sentinel.flush();
  }
  return OK;
}

/** Applies the first option. Returns how many words it has. */
function setOne(sentinel: Sentinel, primary: Primary, words: readonly Bytes[]): number {
  const option = wordAt(words, 0);
  const name = asciiLower(option);
  if (name === 'rename-command' && words.length > 2) {
    const [before, after] = [wordAt(words, 1), wordAt(words, 2)];
    if (before === '' || after === '') invalid('SET', '', option);
    primary.renamed.delete(asciiLower(before));
    if (asciiLower(before) !== asciiLower(after)) primary.renamed.set(asciiLower(before), after);
    sentinel.event('warning', '+set', primary, `${option} ${before} ${after}`);
    return 3;
  }
  const known = name === sentinel.traits.rebootParameter ? REBOOT : name;
  const apply = Object.hasOwn(OPTIONS, known) ? OPTIONS[known] : undefined;
  if (apply === undefined || words.length < 2) {
    fail(`ERR Unknown option or number of arguments for SENTINEL SET '${cString(option)}'`);
  }
  const value = wordAt(words, 1);
  if (!apply(sentinel, primary, value)) invalid('SET', value, option);
  sentinel.event('warning', '+set', primary, `${option} ${name === 'auth-pass' ? '******' : value}`);
  return 2;
}

function invalid(command: string, value: Bytes, option: Bytes): never {
  return fail(`ERR Invalid argument '${cString(value)}' for SENTINEL ${command} '${cString(option)}'`);
}

/** SENTINEL DEBUG: lists the periods, or sets some. */
export function debug({ periods }: Sentinel, words: readonly Bytes[]): Reply {
  if (words.length === 0) {
    return new MapReply(
      Object.entries(periods).flatMap(([name, value]) => [asciiUpper(name), String(value)]),
    );
  }
  for (let at = 0; at < words.length; at += 2) {
    const option = wordAt(words, at);
    const name = asciiLower(option);
    if (!Object.hasOwn(periods, name) || at + 1 >= words.length) {
      fail(`ERR Unknown option or number of arguments for SENTINEL DEBUG '${cString(option)}'`);
    }
    const value = number(wordAt(words, at + 1)) ?? invalid('DEBUG', wordAt(words, at + 1), option);
    periods[name as keyof Periods] = value;
  }
  return OK;
}
