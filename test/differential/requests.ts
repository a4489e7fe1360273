/** One generated request: a command of the table, its words drawn after a template, now and then spoiled, and how its answers compare. */
import { createHash } from 'node:crypto';
import { asciiLower, asciiUpper, type Bytes } from '../../protocol/bytes.ts';
import { allCommands } from '../../server/commands/index.ts';
import type { Command } from '../../server/table/command.ts';
import { added, excluded, loose } from './compare/known.ts';
import type { Rule } from './compare/rule.ts';
import * as data from './grammar/data.ts';
import { beginnings, fillers } from './grammar/fill.ts';
import * as more from './grammar/more.ts';
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

const FAMILIES = { ...data, ...more, ...service };
export type Family = keyof typeof FAMILIES;
/** In an order of their own: a module's exports come in another one under each runner. */
const everyFamily = Object.keys(FAMILIES).sort() as Family[];

/** Every command and subcommand that there is and that redis-server has too, by full name. */
const everyCommand: ReadonlyMap<string, Command> = new Map(
  allCommands
    .flatMap((command) => (command.subcommands === undefined ? [command] : [...command.subcommands.values()]))
    .filter(({ fullName }) => added[fullName] === undefined && !fullName.endsWith('|help'))
    .map((command) => [command.fullName, command]),
);

interface Recipe {
  readonly name: string;
  readonly templates: readonly Template[];
}

function recipesOf(family: Family): Recipe[] {
  return Object.entries(FAMILIES[family])
    .filter(([name]) => everyCommand.has(name))
    .map(([name, text]) => ({
      name,
      templates: (typeof text === 'string' ? [text] : text).map((each) => new Template(each)),
    }));
}

const recipes: Record<string, Recipe[]> = Object.fromEntries(
  everyFamily.map((family) => [family, recipesOf(family)]),
);
export const families: readonly Family[] = everyFamily.filter((family) => recipes[family]?.length !== 0);
const written = new Set(Object.values(recipes).flatMap((list) => list.map(({ name }) => name)));

/** A template made from the command table, for a command on keys that has none of its own. */
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

for (const [name, command] of everyCommand) {
  if (written.has(name) || excluded[name] !== undefined || !isHarmless(command)) continue;
  recipes.generic?.push({ name, templates: [derived(command)] });
}

/** Commands of the table that are neither generated nor left out with a reason. */
export function withoutGenerator(): string[] {
  const known = new Set(Object.values(recipes).flatMap((list) => list.map(({ name }) => name)));
  return [...everyCommand.keys()].filter((name) => !known.has(name) && excluded[name] === undefined);
}

/** The commands that are generated, by full name. */
export const generated: readonly string[] = Object.values(recipes)
  .flat()
  .map(({ name }) => name)
  .sort();

const LIMITS: Record<string, readonly string[]> = {
  'hash-max-listpack-entries': ['512', '3', '0'],
  'hash-max-listpack-value': ['64', '4'],
  'set-max-intset-entries': ['512', '3', '0'],
  'zset-max-listpack-entries': ['128', '3', '0'],
  'zset-max-listpack-value': ['64', '4'],
  'list-max-listpack-size': ['-2', '3', '-1', '1'],
  'list-max-ziplist-size': ['4'],
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

/** Draws requests that need more than words: whole requests, scripts, payloads, names. */
function drawAny(random: Random, kind: string): Bytes[] {
  switch (kind) {
    case 'request':
      return [...requestOf(random, random.pick(families)).argv];
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
    case 'commandName':
      return [random.pick(generated)];
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

/** A request of a family, as its template has it. */
function requestOf(random: Random, family: Family): Request & { name: string } {
  const recipe = random.pick(recipes[family] ?? []);
  const words = recipe.name.split('|').map((word) => asciiUpper(word));
  const argv = [...words, ...random.pick(recipe.templates).write(random, drawAny)];
  return { name: recipe.name, argv, rule: ruleOf(argv) };
}

const filling = new Map(
  Object.entries(fillers).map(([family, texts]) => [family, texts.map((text) => new Template(text))]),
);

const beginning = new Map(
  Object.entries(beginnings).map(([family, texts]) => [family, texts.map((text) => new Template(text))]),
);

/** The requests that a program about a family begins with. */
export function begin(random: Random, family: Family): Request[] {
  return (beginning.get(family) ?? []).map((template) => {
    const argv = template.write(random, drawAny);
    return { argv, rule: ruleOf(argv) };
  });
}

/** A request that gives a family something to work on; undefined for a family without data. */
export function filler(random: Random, family: Family): Request | undefined {
  const templates = filling.get(family);
  if (templates === undefined) return undefined;
  const argv = random.pick(templates).write(random, drawAny);
  return { argv, rule: ruleOf(argv) };
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
  if (name === 'command' && argv.length === 2 && asciiLower(argv[1]!) === 'info') return 'shape';
  if (name === 'sort' || name === 'sort_ro') return sortRule(argv);
  return (loose[name] ?? loose[`${name}|${asciiLower(argv[1] ?? '')}`])?.[0] ?? 'exact';
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
  /^(bl|br|bz|xread|xclaim|xauto|xadd|hello|client|script|config|p?expire$|restore|psetex|setex|getex|set$)/;
/** With a word less these answer at random. */
const RANDOM = /^(spop|srandmember|hrandfield|zrandmember|.*scan)/;

/** Draws one request of a family. */
export function request(random: Random, family: Family): Request {
  const { name, argv, rule } = requestOf(random, family);
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
