/** The options of an exploration, and their checks. */
import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { badOption, checkFlag, checkInteger, checkNames, checkString } from '../base/options.ts';
import { didYouMean } from '../base/similar.ts';
import { checkCode } from '../lab/checks.ts';
import type { ClientCode } from './client.ts';
import { DEFAULT_FAULTS, FAULTS, type FaultName } from './faults/index.ts';
import { checkAccept, LEASE_LIMITS } from './fingerprint.ts';
import { boundHint } from './in-test.ts';
import type { UserPromise } from './judge.ts';
import { PROMISES, type PromiseName, promises } from './promises/index.ts';
import { MADE_PROMISES, type MadePromiseName } from './promises/linearizable.ts';
import { madeOf } from './promises/promise.ts';
import type { Asked, Coverage } from './report-data.ts';
import { checkBound, type FaultBound } from './search/bounds.ts';
import { checkTopology, type Topology } from './topology.ts';

/** Stands for the promises that are checked by default. */
export const DEFAULTS = 'defaults';

/** How much an exploration plays. It ends with whichever limit comes first. */
export interface Budget {
  /** How many worlds; default 5000. */
  readonly worlds?: number;
  /** How many milliseconds of real time; default 60,000. Only a limit in worlds makes the result reproducible. */
  readonly ms?: number;
}

/** How far an exploration has come. */
export interface ExploreProgress {
  /** What is explored. */
  readonly name: string;
  /** How many worlds were played. */
  readonly worlds: number;
  /** The budget's number of worlds. */
  readonly of: number;
  /** How many findings there are. */
  readonly findings: number;
  /** Worlds in each second so far. */
  readonly perSecond: number;
  /** How many different states were seen. */
  readonly states: number;
  /** How many kinds of faults have struck. */
  readonly struck: number;
  /** In how many worlds each kind of fault struck, and what broke in them. */
  readonly coverage: Pick<Coverage, 'faults' | 'calm' | 'broken'>;
  /** The promises that are checked. */
  readonly promises: readonly string[];
  /** Which strategy played the last world. */
  readonly strategy: string;
}

/** What to explore. */
export interface ExploreOptions {
  /** What is explored, for reports. */
  readonly name: string;
  /** The nodes; default a primary with one replica. */
  readonly topology?: Topology;
  /** How many clients run the code at once, or their names; default 3, called A, B and C. */
  readonly clients?: number | readonly string[];
  /**
   * The code of each client: it acquires, works and releases, once or a few times, and returns. A URL is that of a file that exports the
   * code as `client`, or as its default: then each client has modules of its own, where Node can load modules anew.
   */
  readonly client: ClientCode | URL;
  /** The packages that are loaded anew for each client too, beside the files of the user; default none. */
  readonly modules?: readonly string[];
  /** The faults that may strike, by name or with bounds; default all that docs/explore.md marks. */
  readonly faults?: readonly (FaultName | FaultBound)[];
  /**
   * The promises to check, and no others; `'defaults'` stands for those that docs/explore.md marks. Default `['defaults']`: all except
   * `durable-acks` and `fair`, which few locks keep.
   */
  readonly promises?: readonly (PromiseName | MadePromiseName | typeof DEFAULTS | UserPromise)[];
  /**
   * What is known, and is to be no finding: fingerprints of findings, and `'lease-limits'`, which names what no lease can keep: the
   * tenure ended by expiry, lost data or a changed clock, its holder acted on, and nothing else was wrong. Default: nothing.
   */
  readonly accept?: readonly string[];
  /** How much to play. */
  readonly budget?: Budget;
  /**
   * 1 ends the exploration when all worlds with one fault are played: every form of every fault before and after everything that
   * happens in the world without faults, and 1 ms before and after each deadline of a lease; and all orders of messages with up to
   * `late` late ones. Nothing is left out. 2 plays worlds with two faults as well, each state once. Then only a limit that `budget`
   * names ends it earlier. Default: the budget ends it.
   */
  readonly exhaustive?: 1 | 2;
  /**
   * With `exhaustive`: how many messages are late in worlds without a fault (default 1), and beside one fault (default 0), each from
   * 0 to 2. Each late message multiplies the worlds by about the number of messages.
   */
  readonly late?: { readonly alone?: number; readonly besideFault?: number };
  /**
   * A folder that keeps the plans of worlds that broke a promise, or reached new states, from run to run. It is made when it is not there.
   * The next exploration of the same name plays them first, then changes of them. Default: none is kept. Not with `exhaustive`.
   */
  readonly corpus?: string;
  /** True to end with the first finding. Default false. */
  readonly stopAtFirst?: boolean;
  /** The seed of all random choices; default 1. */
  readonly seed?: number;
  /** How many priorities change in each world of the search by priorities, plus one; default 3. */
  readonly depth?: number;
  /** Which part of the worlds to play, and of how many parts, so that several processes share the work. */
  readonly shard?: { readonly index: number; readonly of: number };
  /** Called after every world. */
  readonly progress?: (progress: ExploreProgress) => void;
  /** Ends the exploration early; the report has what was found until then. */
  readonly signal?: AbortSignal;
}

/** Options with their defaults. */
export interface FullOptions
  extends Required<
    Omit<
      ExploreOptions,
      | 'client'
      | 'modules'
      | 'faults'
      | 'clients'
      | 'budget'
      | 'promises'
      | 'signal'
      | 'exhaustive'
      | 'late'
      | 'corpus'
    >
  > {
  readonly client: ClientCode;
  /** How the modules of the code are loaded, in words. */
  readonly modules: string;
  readonly clients: readonly string[];
  /** The kinds of faults that may strike. */
  readonly faults: readonly FaultName[];
  readonly bounds: readonly FaultBound[];
  readonly budget: Required<Budget>;
  readonly promises: ReadonlySet<string>;
  readonly own: readonly UserPromise[];
  readonly exhaustive: 1 | 2 | undefined;
  readonly late: { readonly alone: number; readonly besideFault: number };
  readonly signal: AbortSignal | undefined;
  /** The folder that keeps plans from run to run. */
  readonly corpus: string | undefined;
  /** How to bound the exploration in the test that runs it; undefined where nothing is to be said. */
  readonly hint: string | undefined;
  /** The text of the client's code; empty for code that is loaded from a file. */
  readonly text: string;
  /** What the user named, and what is left to the defaults. */
  readonly named: Pick<Asked, 'namesFaults' | 'namedPromises' | 'limited'>;
}

const OPTIONS = [
  ...[
    'name',
    'topology',
    'clients',
    'client',
    'faults',
    'promises',
    'budget',
    'seed',
    'depth',
    'shard',
    'progress',
  ],
  ...['signal', 'exhaustive', 'late', 'stopAtFirst', 'accept', 'modules', 'corpus'],
];
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXY';

/** Fills in the defaults. Throws TypeError for a wrong option. */
export function fullOptions(options: ExploreOptions): FullOptions {
  checkNames(options, OPTIONS, 'explore');
  const { name, topology = {}, client, faults = DEFAULT_FAULTS, budget = {}, seed = 1, depth = 3 } = options;
  checkString('name', name);
  checkTopology(topology);
  const isFile = checkClient(options);
  if (!Array.isArray(faults)) throw badOption('faults', faults, `an array of ${FAULTS.join(', ')}`);
  for (const fault of faults as readonly unknown[])
    if (typeof fault === 'object' && fault !== null) checkBound(fault);
    else checkOneOf('faults', fault, FAULTS);
  const bounds = faults.map((fault) => (typeof fault === 'string' ? { kind: fault } : fault));
  const { progress = () => {}, signal, exhaustive, shard = { index: 1, of: 1 }, accept = [] } = options;
  if (exhaustive !== undefined && exhaustive !== 1 && exhaustive !== 2)
    throw badOption('exhaustive', exhaustive, '1 or 2');
  const { stopAtFirst = false } = options;
  checkNames(budget, ['worlds', 'ms'], 'budget');
  const all = exhaustive !== undefined;
  const { worlds = all ? Infinity : 5000, ms = all ? Infinity : 60_000 } = budget;
  if (worlds !== Infinity) checkInteger('budget.worlds', worlds, 1, Number.MAX_SAFE_INTEGER);
  if (ms !== Infinity) checkInteger('budget.ms', ms, 1, Number.MAX_SAFE_INTEGER);
  checkInteger('seed', seed, 0, 2 ** 32 - 1);
  checkInteger('depth', depth, 1, 100);
  checkNames(shard, ['index', 'of'], 'shard');
  checkInteger('shard.of', shard.of, 1, 10_000);
  checkInteger('shard.index', shard.index, 1, shard.of);
  checkAcceptable(accept);
  checkEnds(options);
  const kinds = [...new Set(bounds.map(({ kind }) => kind))];
  const chosen = {
    name,
    topology,
    client: isFile ? notLoaded : (client as ClientCode),
    // Code that is loaded from a file is a wrapper, which says nothing about the file.
    text: isFile || loadedAs.has(client) ? '' : String(client),
    modules: loadedAs.get(client) ?? sharedText('the client is a function, and no file'),
    faults: kinds,
    bounds,
    seed,
    depth,
    shard,
    progress,
    signal,
    exhaustive,
    stopAtFirst,
    accept,
  };
  return {
    ...chosen,
    clients: clientNames(options.clients),
    budget: { worlds, ms },
    ...promisesOf(options.promises),
    ...{ named: namedIn(options), hint: boundHint(options), late: lateOf(options) },
    corpus: corpusIn(options),
  };
}

/** Throws TypeError for a wrong value of what hears of the exploration, or ends it. */
function checkEnds({ progress, signal, stopAtFirst = false }: ExploreOptions): void {
  checkFlag('stopAtFirst', stopAtFirst);
  if (progress !== undefined && typeof progress !== 'function')
    throw badOption('progress', progress, 'a function');
  if (signal !== undefined && typeof (signal as AbortSignal | null)?.aborted !== 'boolean')
    throw badOption('signal', signal, 'an AbortSignal');
}

/** The folder of plans. Throws TypeError for a wrong one, and beside `exhaustive`, which plays everything that it promises anyway. */
function corpusIn({ corpus, exhaustive }: ExploreOptions): string | undefined {
  if (corpus !== undefined) checkString('corpus', corpus);
  if (corpus !== undefined && exhaustive !== undefined)
    throw badOption('corpus', corpus, 'no value together with exhaustive');
  return corpus;
}

/** How many messages are late. Throws TypeError for a wrong number, and without `exhaustive`. */
function lateOf({ late = {}, exhaustive }: ExploreOptions): FullOptions['late'] {
  checkNames(late, ['alone', 'besideFault'], 'late');
  const { alone = 1, besideFault = 0 } = late;
  checkInteger('late.alone', alone, 0, 2);
  checkInteger('late.besideFault', besideFault, 0, 2);
  if (exhaustive === undefined && Object.keys(late).length > 0)
    throw badOption('late', late, 'no value without exhaustive');
  return { alone, besideFault };
}

/** What the user named, and what is left to the defaults. */
function namedIn({ faults, promises: given = [], exhaustive, budget }: ExploreOptions): FullOptions['named'] {
  return {
    namesFaults: faults !== undefined,
    namedPromises: given.flatMap((each) =>
      each === DEFAULTS ? [] : typeof each === 'string' ? each : madeOf(each) === undefined ? [] : each.name,
    ),
    limited: exhaustive !== undefined || budget?.worlds !== undefined || budget?.ms !== undefined,
  };
}

/** Throws for a wrong client. Returns true for one that is a file. */
function checkClient({ client, modules = [] }: ExploreOptions): boolean {
  const isFile = client instanceof URL && client.protocol === 'file:';
  if (!isFile) checkCode('client', client);
  if (!Array.isArray(modules)) throw badOption('modules', modules, 'an array of names');
  for (const each of modules) checkString('modules', each);
  return isFile;
}

/** Stands for the code of a file until it is loaded. */
function notLoaded(): never {
  throw new Error('the code of this client is not loaded');
}

/** How the modules of code are loaded that comes from a file, in words. */
export const loadedAs = new WeakMap<object, string>();

/** What is said of code whose modules all clients and worlds share. */
export const sharedText = (why: string): string => `modules are shared by all clients and worlds: ${why}`;

function checkAcceptable(accept: readonly string[]): void {
  const allowed = `an array of '${LEASE_LIMITS}' and fingerprints of findings, such as '3f9c01d7a2'`;
  if (!Array.isArray(accept)) throw badOption('accept', accept, allowed);
  checkAccept(accept, (entry) => badOption('accept', entry, allowed));
}

/** What was asked for, as reports have it. */
export function askedOf(options: FullOptions): Asked {
  const { clients, faults, promises, own, accept, seed, shard, named } = options;
  const all = [...promises, ...own.map(({ name }) => name)];
  return { clients, faults, accept, promises: all, seed, shard, ...named, hash: hashOf(options, all) };
}

/** A hash of the options that decide what is played. */
function hashOf(options: FullOptions, promised: readonly string[]): string {
  const { name, topology, text, clients, faults, bounds, accept, seed, depth, exhaustive, late } = options;
  const decisive = {
    name,
    topology,
    text,
    clients,
    faults,
    bounds,
    accept,
    seed,
    depth,
    exhaustive,
    ...(exhaustive !== undefined && { late }),
    promised,
  };
  return createHash('sha256').update(JSON.stringify(decisive)).digest('hex').slice(0, 12);
}

function checkOneOf(option: string, value: unknown, allowed: readonly string[]): void {
  if (allowed.includes(value as string)) return;
  const hint = typeof value === 'string' ? didYouMean(value, allowed) : '';
  throw badOption(option, value, `${allowed.join(', ')}${hint}`);
}

function clientNames(clients: ExploreOptions['clients'] = 3): readonly string[] {
  if (typeof clients === 'number') {
    checkInteger('clients', clients, 1, ALPHABET.length);
    return [...ALPHABET.slice(0, clients)];
  }
  const fits = (name: unknown): boolean =>
    typeof name === 'string' && /^[A-Za-z0-9_]+$/.test(name) && name !== 'probe';
  if (
    !Array.isArray(clients) ||
    clients.length === 0 ||
    !clients.every(fits) ||
    new Set(clients).size !== clients.length
  )
    throw badOption(
      'clients',
      clients,
      `an integer from 1 to ${ALPHABET.length}, or different names of letters, digits and _`,
    );
  return clients;
}

function promisesOf(given: ExploreOptions['promises'] = [DEFAULTS]): Pick<FullOptions, 'promises' | 'own'> {
  const known = [...PROMISES, ...MADE_PROMISES.keys(), DEFAULTS];
  if (!Array.isArray(given))
    throw badOption('promises', given, `an array of ${known.join(', ')} and functions`);
  const all = given.map((each) => MADE_PROMISES.get(each as string) ?? each);
  const own = all.filter((each): each is UserPromise => typeof each === 'function');
  for (const each of own) {
    if (each.name === '') throw badOption('promises', inspect(each), 'functions that have a name');
  }
  const names: readonly string[] = all.filter((each) => typeof each !== 'function');
  for (const each of names) checkOneOf('promises', each, known);
  const byDefault = promises.filter(({ onRequest }) => onRequest !== true).map(({ name }) => name);
  return { promises: new Set(names.flatMap((name) => (name === DEFAULTS ? byDefault : [name]))), own };
}
