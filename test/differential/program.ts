/** Generated programs: some connections, some settings, and requests in an order, plain, in transactions and in scripts. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Rule } from './normalise.ts';
import { Random } from './random.ts';
import { type Family, families, filler, limit, type Request, request } from './requests.ts';
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

/** Families of data, one or two of which a program is mostly about, and what now and then comes between. */
const SERVICE = new Set<Family>([
  'transactions',
  'messages',
  'scripting',
  'functions',
  'connection',
  'server',
]);
const DATA = families.filter((family) => !SERVICE.has(family));

function mixture(random: Random, main: ReadonlySet<Family>): [Family, number][] {
  return [
    ...DATA.map((family): [Family, number] => [family, main.has(family) ? 40 : 1]),
    ['generic', 12],
    ['messages', random.percent(20) ? 30 : 1],
    ['scripting', 3],
    ['functions', random.percent(10) ? 40 : 1],
    ['connection', 2],
    ['server', 2],
    ['transactions', random.percent(50) ? 8 : 1],
  ];
}

/** Generates the program of a seed. */
export function generate(seed: number, length: number): Program {
  const random = new Random(seed);
  const protocols = random.pick<readonly (2 | 3)[]>([[2], [3], [2, 3], [3, 2, 2], [2, 3, 3]]);
  const settings = random.percent(30) ? [limit(random), limit(random)] : [];
  const main = new Set([random.pick(DATA), random.pick(DATA)]);
  const mix = mixture(random, main).filter(([, weight]) => weight > 0);
  const fill = (): Request | undefined => filler(random, random.pick([...main]));
  const next = (): Request =>
    (random.percent(15) ? fill() : undefined) ?? request(random, random.weighted(mix));
  const steps: Step[] = [];
  for (let left = random.between(2, 14); left > 0; left--) {
    const made = fill();
    if (made !== undefined) steps.push({ client: 0, ...made });
  }
  let client = 0;
  while (steps.length < length) {
    if (random.percent(25)) client = random.below(protocols.length);
    if (random.percent(4)) {
      steps.push(...transaction(random, client, next));
    } else {
      const made = random.percent(8) ? scripted(random, next) : next();
      steps.push({ client, ...made });
    }
  }
  return { protocols, settings, steps };
}

/** WATCH perhaps, MULTI, some requests, EXEC; each of the frame's parts may be missing. */
function transaction(random: Random, client: number, next: () => Request): Step[] {
  const frame = (...argv: Bytes[]): Step[] => [{ client, argv, rule: 'exact' }];
  const inner = Array.from({ length: random.between(0, 6) }, () => ({ client, ...next() }));
  return [
    ...(random.percent(30) ? frame('WATCH', random.pick(['s1', 'h1', 'l1', 't1', 'z1', 'none'])) : []),
    ...(random.percent(20) && client > 0 ? [{ client: 0, ...next() }] : []),
    ...frame('MULTI'),
    ...inner,
    ...(random.percent(92) ? frame(random.percent(90) ? 'EXEC' : 'DISCARD') : []),
  ];
}
