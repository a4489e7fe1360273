/** Builds what COMMAND reports about a table entry: flags, ACL categories, key specifications. */
import { asciiLower, asciiUpper, type Bytes, cString, parseSafeInteger } from '../../protocol/bytes.ts';
import { MapReply, type Reply, SetReply, SimpleString } from '../../protocol/reply.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Command, Flag, Group, KeySpec } from './command.ts';

const GROUP_CATEGORIES: Record<Group, readonly string[]> = {
  generic: ['keyspace'],
  string: ['string'],
  list: ['list'],
  set: ['set'],
  'sorted-set': ['sortedset'],
  hash: ['hash'],
  pubsub: [],
  transactions: ['transaction'],
  connection: ['connection'],
  server: [],
  scripting: ['scripting'],
  hyperloglog: ['hyperloglog'],
  cluster: [],
  geo: ['geo'],
  stream: ['stream'],
  bitmap: ['bitmap'],
  replication: [],
  sentinel: [],
  module: [],
};

const FLAG_CATEGORIES: Partial<Record<Flag, readonly string[]>> = {
  write: ['write'],
  admin: ['admin', 'dangerous'],
  pubsub: ['pubsub'],
  blocking: ['blocking'],
};

/** The order in which COMMAND INFO lists categories. */
const CATEGORY_ORDER =
  'keyspace read write set sortedset list hash string bitmap hyperloglog geo stream pubsub admin fast slow blocking dangerous connection transaction scripting'.split(
    ' ',
  );

/** Returns a command's ACL categories, each with its at sign. */
export function categoriesOf(command: Command): string[] {
  const { flags, categories } = command.spec;
  if (command.spec.module !== undefined) return [];
  const all = new Set(categories ?? GROUP_CATEGORIES[command.group]);
  for (const flag of flags) for (const each of FLAG_CATEGORIES[flag] ?? []) all.add(each);
  if (flags.includes('readonly') && !all.has('scripting')) all.add('read');
  all.add(flags.includes('fast') ? 'fast' : 'slow');
  const own = [...all].filter((name) => !CATEGORY_ORDER.includes(name));
  return [...CATEGORY_ORDER.filter((name) => all.has(name)), ...own].map((name) => `@${name}`);
}

function statuses(words: readonly string[]): SimpleString[] {
  return words.map((word) => new SimpleString(word));
}

/** Returns the first key, the last key and the step, for old clients; zeros if the specs do not determine them. */
function legacyRange(specs: readonly KeySpec[]): [number, number, number] {
  const ranges = specs.flatMap(({ begin, find }) =>
    typeof begin === 'number' && find !== 'unknown' && 'last' in find
      ? [{ first: begin, last: find.last >= 0 ? begin + find.last : find.last, step: find.step }]
      : [],
  );
  const [range, ...rest] = ranges;
  if (range === undefined) return [0, 0, 0];
  const last = rest.reduce((end, next) => (next.last < 0 ? next.last : Math.max(end, next.last)), range.last);
  return [range.first, last, range.step];
}

/** Formats a key's flags as Redis does: the access mode in capitals, the rest in small letters. */
export function keyFlags(flags: string): string[] {
  return flags.split(' ').map((word) => (/^(R[WOM]|OW)$/.test(word) ? word : asciiLower(word)));
}

function describeSpec(spec: KeySpec): Reply {
  const { begin, find } = spec;
  const words = keyFlags(spec.flags);
  const search: Reply[] =
    typeof begin === 'number'
      ? ['type', 'index', 'spec', new MapReply(['index', begin])]
      : begin === 'unknown'
        ? ['type', 'unknown', 'spec', new MapReply([])]
        : ['type', 'keyword', 'spec', new MapReply(['keyword', begin.keyword, 'startfrom', begin.from])];
  const found: Reply[] =
    find === 'unknown'
      ? ['type', 'unknown', 'spec', new MapReply([])]
      : 'last' in find
        ? [
            'type',
            'range',
            'spec',
            new MapReply(['lastkey', find.last, 'keystep', find.step, 'limit', find.limit]),
          ]
        : [
            'type',
            'keynum',
            'spec',
            new MapReply(['keynumidx', find.count, 'firstkey', find.first, 'keystep', find.step]),
          ];
  if (spec.incomplete === true) words.push('incomplete');
  const notes: Reply[] = spec.notes === undefined ? [] : ['notes', spec.notes];
  return new MapReply([
    ...notes,
    'flags',
    new SetReply(statuses(words)),
    'begin_search',
    new MapReply(search),
    'find_keys',
    new MapReply(found),
  ]);
}

/** Returns a command's entry in COMMAND and COMMAND INFO (https://redis.io/docs/latest/commands/command/). */
export function commandInfo(command: Command, dialect: Dialect): Reply {
  const { spec } = command;
  const specs = spec.keys ?? [];
  return [
    command.fullName,
    command.arity,
    new SetReply(statuses(spec.flags.filter((flag) => flag !== 'may_replicate'))),
    ...legacyRange(specs),
    new SetReply(statuses(categoriesOf(command))),
    new SetReply(spec.tips ?? []),
    new SetReply(specs.map(describeSpec)),
    command.subcommands === undefined && dialect.noSubcommands === 'an empty set'
      ? new SetReply([])
      : [...(command.subcommands?.values() ?? [])].map((each) => commandInfo(each, dialect)),
  ];
}

/** A key's position within a request, and what the request does with it. */
export interface FoundKey {
  readonly at: number;
  readonly flags: string;
}

/** What a request does with a key that was found in it, although other requests may do something else. */
const fixed = (flags: string): string => flags.replace(' VARIABLE_FLAGS', '');

/** Finds the keys of a request. Returns undefined if the request does not match the specs. */
export function findKeys(command: Command, argv: readonly Bytes[]): FoundKey[] | undefined {
  const specs = command.spec.keys ?? [];
  const known = command.spec.getFlags?.(argv);
  if (command.spec.getKeys !== undefined) {
    // If keys of different kinds are found, the last one is the destination.
    const first = known ?? specs[0]?.flags ?? 'RW';
    const last = known ?? specs.at(-1)?.flags ?? first;
    return command.spec.getKeys(argv).map((at, i) => ({ at, flags: i === 0 ? first : fixed(last) }));
  }
  const found: FoundKey[] = [];
  for (const spec of specs) {
    const positions = positionsOf(spec, argv);
    if (positions === undefined) return command.spec.flags.includes('no_mandatory_keys') ? [] : undefined;
    for (const at of positions) found.push({ at, flags: known ?? spec.flags });
  }
  return found;
}

/** Returns where a spec's keys start; undefined if the spec does not say or its keyword is missing. */
function beginOf(begin: KeySpec['begin'], argv: readonly Bytes[]): number | undefined {
  if (typeof begin === 'number') return begin;
  if (begin === 'unknown') return undefined;
  const last = argv.length - 1;
  const at = argv.findIndex(
    (word, i) => i >= begin.from && i < last && asciiUpper(cString(word)) === begin.keyword,
  );
  return at < 0 ? undefined : at + 1;
}

function positionsOf(spec: KeySpec, argv: readonly Bytes[]): number[] | undefined {
  const { find } = spec;
  const begin = beginOf(spec.begin, argv);
  if (begin === undefined || find === 'unknown') return [];
  const positions: number[] = [];
  if ('last' in find) {
    let last = find.last >= 0 ? begin + find.last : argv.length + find.last;
    if (find.limit > 1) last = begin + Math.floor((argv.length - begin) / find.limit) - 1;
    // If optional keys (such as PFMERGE's sources) are missing, Redis finds no keys in the request.
    if (last < begin) return undefined;
    for (let at = begin; at <= last && at < argv.length; at += find.step) positions.push(at);
    return positions;
  }
  const count = parseSafeInteger(argv[begin + find.count] ?? '');
  const first = begin + find.first;
  if (count === undefined || count < 1 || first + (count - 1) * find.step >= argv.length) return undefined;
  for (let i = 0; i < count; i++) positions.push(first + i * find.step);
  return positions;
}
