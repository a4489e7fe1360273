/** Generated programs: some connections, some settings, and requests in an order, plain, in transactions and in scripts. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Rule } from './compare/rule.ts';
import { Random } from './random.ts';
import { type Family, type Grammar, limit, type Request } from './requests.ts';
import { scripted } from './scripts.ts';

/** One request of one connection. */
export interface Step {
  readonly client: number;
  readonly argv: readonly Bytes[];
  readonly rule: Rule;
}

export interface Program {
  /** The protocol of each connection. */
  readonly protocols: readonly (2 | 3)[];
  /** Parameters that differ from their defaults. */
  readonly settings: readonly (readonly [Bytes, Bytes])[];
  readonly steps: readonly Step[];
}

/** Families of data, of which a program mostly uses one or two, and occasional other requests. */
const SERVICE = new Set<Family>([
  'transactions',
  'messages',
  'scripting',
  'functions',
  'connection',
  'server',
  'caching',
  'cluster',
]);

function dataOf({ families }: Grammar): Family[] {
  return families.filter((family) => !SERVICE.has(family));
}

/** What else a program may be about. */
interface Themes {
  /** Messages. */
  readonly loud: boolean;
  /** Users. */
  readonly guarded: boolean;
  /** Clients that cache what they read. */
  readonly cached: boolean;
  readonly functions: boolean;
  /** Scripts by their digests. */
  readonly scripts: boolean;
}

function themes(random: Random): Themes {
  return {
    loud: random.percent(20),
    guarded: random.percent(10),
    cached: random.percent(10),
    functions: random.percent(10),
    scripts: random.percent(10),
  };
}

function mixture(
  random: Random,
  data: readonly Family[],
  main: ReadonlySet<Family>,
  themes: Themes,
): [Family, number][] {
  return [
    ...data.map((family): [Family, number] => [family, main.has(family) ? 40 : 1]),
    ['generic', 12],
    ['messages', themes.loud ? 30 : 1],
    ['scripting', themes.scripts ? 30 : 3],
    ['functions', themes.functions ? 40 : 1],
    ['connection', 2],
    ['server', 4],
    ['cluster', 1],
    ['access', themes.guarded ? 12 : 0],
    ['caching', themes.cached ? 6 : 0],
    ['transactions', random.percent(50) ? 8 : 1],
  ];
}

/** Where a program's requests come from. */
class Source {
  readonly #random: Random;
  readonly #grammar: Grammar;
  readonly #main: readonly Family[];
  readonly #themes: Themes;
  readonly #mix: [Family, number][];

  constructor(random: Random, themes: Themes, grammar: Grammar) {
    this.#random = random;
    this.#grammar = grammar;
    const data = dataOf(grammar);
    this.#themes = themes;
    const main = new Set([random.pick(data), random.pick(data)]);
    this.#main = [...main];
    this.#mix = mixture(random, data, main, themes).filter(([, weight]) => weight > 0);
  }

  begin(): Request[] {
    const about: Family[] = this.#random.percent(70) ? [...this.#main] : [];
    if (this.#themes.functions) about.push('functions');
    if (this.#themes.scripts) about.push('scripting');
    return about.flatMap((family) => this.#grammar.begin(this.#random, family));
  }

  /** A request that puts something where the others look; any other where there is nothing to put. */
  fill(): Request {
    return this.#grammar.filler(this.#random, this.#random.pick(this.#main)) ?? this.any();
  }

  any(): Request {
    return this.#grammar.request(this.#random, this.#random.weighted(this.#mix));
  }

  next(): Request {
    if (this.#random.percent(15)) return this.fill();
    return this.#random.percent(1) ? this.#shortLived() : this.any();
  }

  /** A key of a main family that is about to expire. */
  #shortLived(): Request {
    const [, key = ''] = this.fill().argv;
    return { argv: ['PEXPIRE', key, this.#random.pick(['3', '8'])], rule: 'exact' };
  }
}

/** Generates the program of a seed. */
export function generate(seed: number, length: number, grammar: Grammar): Program {
  const random = new Random(seed);
  const protocols = random.pick<readonly (2 | 3)[]>([[2], [3], [2, 3], [3, 2, 2], [2, 3, 3]]);
  const settings = random.percent(30) ? [limit(random), limit(random)] : [];
  const about = themes(random);
  const source = new Source(random, about, grammar);
  const steps: Step[] = [];
  const listener = protocols.length - 1;
  if (about.loud && listener > 0) steps.push(...listen(random, listener));
  for (const [client] of about.cached ? protocols.entries() : []) {
    if (random.percent(70))
      for (const made of grammar.begin(random, 'caching')) steps.push({ client, ...made });
  }
  for (const made of source.begin()) steps.push({ client: 0, ...made });
  for (let left = random.between(2, 14); left > 0; left--) steps.push({ client: 0, ...source.fill() });
  let client = 0;
  while (steps.length < length) {
    if (random.percent(25)) client = random.below(protocols.length);
    if (random.percent(4)) {
      steps.push(...transaction(random, client, protocols.length, source));
    } else {
      const made = random.percent(8) ? scripted(random, () => source.next()) : source.next();
      steps.push({ client, ...made });
    }
  }
  return { protocols, settings, steps };
}

/** Subscriptions of one connection. */
function listen(random: Random, client: number): Step[] {
  const all: Step[] = [
    { client, argv: ['SUBSCRIBE', 'c1', 'c2'], rule: 'exact' },
    { client, argv: ['PSUBSCRIBE', 'c*', 'news.*'], rule: 'exact' },
    { client, argv: ['SSUBSCRIBE', 'c1'], rule: 'exact' },
  ];
  return all.filter(() => random.percent(50));
}

/** WATCH perhaps and a change by another, MULTI, some requests, EXEC; each of the frame's parts may be missing. */
function transaction(random: Random, client: number, connections: number, source: Source): Step[] {
  const frame = (...argv: Bytes[]): Step[] => [{ client, argv, rule: 'exact' }];
  const inner = Array.from({ length: random.between(0, 6) }, () => ({ client, ...source.next() }));
  const before: Step[] = [];
  if (random.percent(40)) {
    const watched = Array.from({ length: random.between(1, 3) }, () => source.fill().argv[1] ?? '');
    before.push(...frame('WATCH', ...watched));
    if (random.percent(60)) {
      const other = (client + random.below(connections)) % connections;
      const change = random.percent(70) ? source.fill() : source.next();
      before.push({ client: other, ...change });
    }
  }
  return [
    ...before,
    ...frame('MULTI'),
    ...inner,
    ...(random.percent(92) ? frame(random.percent(90) ? 'EXEC' : 'DISCARD') : []),
  ];
}
