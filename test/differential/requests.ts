/** One generated request: a command of the table, its words drawn after a template, now and then spoiled, and how its answers compare. */
import { createHash } from 'node:crypto';
import { asciiLower, asciiUpper, type Bytes } from '../../protocol/bytes.ts';
import { commandsOf } from '../../server/commands/index.ts';
import { type Dialect, dialectNamed } from '../../server/dialects/index.ts';
import { existsIn } from '../../server/dialects/since.ts';
import type { Command } from '../../server/table/command.ts';
import { INSTALLED } from '../support/oracles.ts';
import { controlled, excluded, loose } from './compare/known.ts';
import type { Rule } from './compare/rule.ts';
import * as data from './grammar/data.ts';
import { beginnings, fillers } from './grammar/fill.ts';
import * as more from './grammar/more.ts';
import * as newer from './grammar/newer.ts';
import * as service from './grammar/service.ts';
import { anyCase, Template } from './grammar/template.ts';
import { draw, edge } from './grammar/words.ts';
import { libraries, libraryPayloads } from './libraries.ts';
import type { Random } from './random.ts';
import { payloads, plainScripts } from './samples.ts';

/** A request and the rule for its answer. */
export interface Request {
  readonly argv: readonly Bytes[];
  readonly rule: Rule;
}

const FAMILIES = { ...data, ...more, ...newer, ...service };
export type Family = keyof typeof FAMILIES;
/** In an order of their own: a module's exports come in another one under each runner. */
const everyFamily = Object.keys(FAMILIES).sort() as Family[];

interface Recipe {
  readonly name: string;
  readonly templates: readonly Template[];
}

/** A template made of what the table says, for a command on keys that has none of its own. */
function derived({ arity, spec, fullName }: Command): Template {
  const words = Math.abs(arity) - fullName.split('|').length;
  const keyed = new Set((spec.keys ?? []).map(({ begin }) => begin));
  const each = Array.from({ length: words }, (_, i) =>
    keyed.has(i + fullName.split('|').length) ? '<any>' : '<value>',
  );
  return new Template([...each, arity < 0 ? '<value>*' : ''].join(' '));
}

/** Commands without keys may do anything to the server: they need a template or a reason. */
function isHarmless({ spec }: Command): boolean {
  const flags = new Set<string>(spec.flags);
  return (spec.keys ?? []).length > 0 && !flags.has('admin') && !flags.has('blocking');
}

/** Every command and subcommand that a dialect's server has and we have too, by full name. */
function commandsFor(dialect: Dialect): ReadonlyMap<string, Command> {
  const all = commandsOf(dialect, true).flatMap((command) =>
    command.subcommands === undefined ? [command] : [...command.subcommands.values()],
  );
  const some = all.filter(({ fullName }) => !fullName.endsWith('|help'));
  return new Map(some.map((command) => [command.fullName, command]));
}

const LIMITS: Record<string, readonly string[]> = {
  'hash-max-listpack-entries': ['512', '3', '0'],
  'hash-max-listpack-value': ['64', '4'],
  'set-max-intset-entries': ['512', '3', '0'],
  'zset-max-listpack-entries': ['128', '3', '0'],
  'zset-max-listpack-value': ['64', '4'],
  'list-max-listpack-size': ['-2', '3', '-1', '1'],
  'list-max-ziplist-size': ['4'],
  'stream-node-max-entries': ['100', '3', '1'],
};

/** A parameter with a value, as CONFIG SET takes them. */
export function limit(random: Random): [Bytes, Bytes] {
  const name = random.pick(Object.keys(LIMITS));
  return [name, random.pick(LIMITS[name] ?? [])];
}

/** Scripts that come again and again, so that their digests are known. */
const often = plainScripts.filter((text) =>
  /^(return (1|KEYS|ARGV)|.*get', KEYS.*|.*'exists'.*|#!lua.*)$/s.test(text),
);

function sha1(script: Bytes): Bytes {
  return createHash('sha1').update(script, 'latin1').digest('hex');
}

/** Draws what needs more than words: scripts, payloads, names. */
function drawAny(random: Random, kind: string): Bytes[] {
  switch (kind) {
    case 'script':
      return [random.pick(random.percent(40) ? plainScripts : often)];
    case 'sha':
      return random.percent(30) ? draw(random, kind) : [sha1(random.pick(often))];
    case 'libraryCode':
      return [random.pick(libraries)];
    case 'libraryPayload':
      return [random.pick(libraryPayloads)];
    case 'payload':
      return [random.percent(90) ? random.pick(payloads) : random.pick(['', 'abc', payloads[0]!.slice(1)])];
    case 'setting':
      return [
        random.pick([
          ...Object.keys(LIMITS),
          '*-max-listpack-entries',
          'nosuch',
          '',
          'hash-max-ziplist-entries',
        ]),
      ];
    case 'limit':
      return limit(random);
    case 'sortpattern':
      return [random.pick(['s*', 'nosuch*', 'h*->a', '#', 'nosort', '*', 'h1->*'])];
  }
  return draw(random, kind);
}

const filling = new Map(
  Object.entries(fillers).map(([family, texts]) => [family, texts.map((text) => new Template(text))]),
);

const beginning = new Map(
  Object.entries(beginnings).map(([family, texts]) => [family, texts.map((text) => new Template(text))]),
);

/** The templates of a family, by command. */
function recipesOf(family: Family): Recipe[] {
  return Object.entries(FAMILIES[family]).map(([name, text]) => ({
    name,
    templates: (typeof text === 'string' ? [text] : text).map((each) => new Template(each)),
  }));
}

/** How a request's answers compare; commands spoiled by edge values are still the same commands. */
export function ruleOf(argv: readonly Bytes[]): Rule {
  const name = asciiLower(argv[0] ?? '');
  if (name === 'scan' || name === 'sscan') return scanRule(argv, 'scan');
  if (name === 'hscan' || name === 'zscan') return scanRule(argv, 'scanPairs');
  if (/^(srandmember|hrandfield|zrandmember)$/.test(name)) {
    if (argv[2]?.startsWith('-')) return 'size';
    return argv.length > 3 ? 'pairs' : 'unordered';
  }
  // All commands, in the order of a hash table, and the tester's own.
  if (argv.length === 2 && /^(command (info|docs)|latency histogram)$/i.test(argv.join(' '))) return 'shape';
  if (name === 'sort' || name === 'sort_ro') return sortRule(argv);
  const found = loose[name] ?? loose[asciiUpper(name)] ?? loose[`${name}|${asciiLower(argv[1] ?? '')}`];
  return found?.[0] ?? 'exact';
}

/** What is not sorted comes in the order of a hash table, unless it is kept. */
function sortRule(argv: readonly Bytes[]): Rule {
  const words = argv.map(asciiUpper);
  const by = argv[words.lastIndexOf('BY') + 1];
  if (!words.includes('BY') || by?.includes('*') || words.includes('STORE')) return 'exact';
  return 'unordered';
}

/** A scan step that need not be the last is compared by its shape alone. */
function scanRule(argv: readonly Bytes[], whole: 'scan' | 'scanPairs'): Rule {
  const count = argv.findLastIndex((word) => asciiUpper(word) === 'COUNT') + 1;
  const cursor = argv[asciiUpper(argv[0]!) === 'SCAN' ? 1 : 2];
  // Redis takes ten times as many steps, in 64 bits: some counts come out as a few.
  return cursor === '0' && count > 0 && /^(1000000|9223372036854775807)$/.test(argv[count] ?? '')
    ? whole
    : 'shape';
}

/** Spoils a request: a word too few or too many, another word's place, an edge value, an unknown subcommand. */
function spoil(random: Random, argv: readonly Bytes[]): Bytes[] {
  const at = random.between(1, Math.max(1, argv.length - 1));
  const out = [...argv];
  switch (random.below(6)) {
    case 0:
      return out.slice(0, -1);
    case 1:
      return [...out, edge(random)];
    case 2:
      out.splice(at, 1);
      return out;
    case 3:
      out.splice(at, 0, out[random.below(out.length)]!);
      return out;
    case 4:
      out[0] = anyCase(random, out[0]!);
      return out;
    default:
      out[at] = edge(random);
      return out;
  }
}

/** With other words these might block or expire at a time that chance decides, or reach the tester itself. */
const FRAGILE =
  /^(bl|br|bz|xread|xclaim|xauto|xadd|hello|client|script|config|h?p?expire$|restore|psetex|h?setex|h?getex|set$)/;
/** With a word less these answer at random, or do something else altogether. */
export const RANDOM = /^(spop|srandmember|hrandfield|zrandmember|vrandmember|vsim|.*scan|shutdown|debug)/i;

/** True for a command that is compared elsewhere, or left out with a reason. */
function isLeftOut(name: string): boolean {
  return excluded[name] !== undefined || controlled[name] !== undefined;
}

/** The commands of one dialect with their templates: what generated requests are drawn from. */
export class Grammar {
  readonly families: readonly Family[];
  /** The commands that are generated, by full name. */
  readonly generated: readonly string[];
  /** Commands of the table that are neither generated nor left out with a reason. */
  readonly withoutGenerator: readonly string[];
  /** SET has IFEQ. */
  readonly #compares: boolean;
  readonly #recipes: Readonly<Record<string, readonly Recipe[]>>;

  constructor(dialect: Dialect) {
    const every = commandsFor(dialect);
    this.#compares = existsIn({ valkey: '8.1.0' }, dialect);
    const recipes = Object.fromEntries(
      everyFamily.map((family) => [family, recipesOf(family).filter(({ name }) => every.has(name))]),
    );
    const written = new Set(Object.values(recipes).flatMap((list) => list.map(({ name }) => name)));
    for (const [name, command] of every) {
      if (written.has(name) || isLeftOut(name) || !isHarmless(command)) continue;
      recipes.generic?.push({ name, templates: [derived(command)] });
    }
    this.#recipes = recipes;
    this.families = everyFamily.filter((family) => recipes[family]?.length !== 0);
    const known = Object.values(recipes).flatMap((list) => list.map(({ name }) => name));
    this.generated = known.sort();
    const covered = new Set(known);
    this.withoutGenerator = [...every.keys()].filter((name) => !covered.has(name) && !isLeftOut(name));
  }

  /** The requests that a program about a family begins with. */
  begin(random: Random, family: Family): Request[] {
    return (beginning.get(family) ?? []).map((template) => this.#made(random, template));
  }

  /** A request that gives a family something to work on; undefined for a family without data. */
  filler(random: Random, family: Family): Request | undefined {
    const templates = filling.get(family);
    return templates === undefined ? undefined : this.#made(random, random.pick(templates));
  }

  /** Draws one request of a family. */
  request(random: Random, family: Family): Request {
    const { name, argv, rule } = this.#requestOf(random, family);
    if (!random.percent(5) || argv.length === 0) return { argv, rule };
    const spoiled = RANDOM.test(name)
      ? [...argv, '']
      : !FRAGILE.test(name)
        ? spoil(random, argv)
        : random.percent(50)
          ? argv.slice(0, -1)
          : [...argv, ''];
    return { argv: spoiled, rule: ruleOf(spoiled) };
  }

  #made(random: Random, template: Template): Request {
    const argv = template.write(random, this.#draw);
    return { argv, rule: ruleOf(argv) };
  }

  /** A request of a family, as its template has it. */
  #requestOf(random: Random, family: Family): Request & { name: string } {
    const recipe = random.pick(this.#recipes[family] ?? []);
    const words = recipe.name.split('|').map((word) => asciiUpper(word));
    const argv = [...words, ...random.pick(recipe.templates).write(random, this.#draw)];
    return { name: recipe.name, argv, rule: ruleOf(argv) };
  }

  /** Draws what depends on the dialect. */
  readonly #draw = (random: Random, kind: string): Bytes[] => {
    if (kind === 'request') return [...this.#requestOf(random, random.pick(this.families)).argv];
    // Not every server has it; where it is an extra, ours takes it and the real server does not.
    if (kind === 'ifeq') return this.#compares ? ['IFEQ', ...drawAny(random, 'value')] : [];
    return kind === 'commandName' ? [random.pick(this.generated)] : drawAny(random, kind);
  };
}

const grammars = new Map<string, Grammar>();

/** The grammar of a dialect, made once. */
export function grammarOf(dialect: string = INSTALLED): Grammar {
  let grammar = grammars.get(dialect);
  if (grammar === undefined) grammars.set(dialect, (grammar = new Grammar(dialectNamed(dialect))));
  return grammar;
}
