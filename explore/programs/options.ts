/** The options of an exploration of programs, and their checks. */
import { badOption, checkFlag, checkInteger, checkNames, checkString } from '../../base/options.ts';
import { findProgram } from '../../lab/real-servers/program.ts';
import { DEFAULT_FAULTS, FAULTS, type FaultName, reasonFor } from '../faults/index.ts';
import { type ExploreOptions, type FullOptions, fullOptions } from '../options.ts';
import { PROMISES } from '../promises/index.ts';
import type { Topology } from '../topology.ts';
import { named } from './judges.ts';

/** What to explore: a program whose processes are the clients. */
export interface ProgramOptions
  extends Omit<
    ExploreOptions,
    'name' | 'client' | 'modules' | 'shard' | 'depth' | 'exhaustive' | 'late' | 'corpus' | 'progress'
  > {
  /** What is explored, for reports; default the program's command. */
  readonly name?: string;
  /** The program and its arguments. It takes part by the protocol of docs/programs.md. Empty with `attached`. */
  readonly program: readonly string[];
  /** Variables of its environment, beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** The lease that the program is told to use, in milliseconds; default 300. */
  readonly lease?: number;
  /** A program that takes redis-server's arguments: real servers take the place of lostlock's own nodes. They need ioredis. */
  readonly on?: string;
  /** True to start new processes for every world; default false: they live on. */
  readonly fresh?: boolean;
  /** True when the clients are threads of one process, which can be neither stopped nor killed one by one; default false. */
  readonly threads?: boolean;
  /** How many worlds are played side by side at most; default 16. Fewer, while the machine does not keep up. */
  readonly sideBySide?: number;
  /** Called with the URL at which a process that somebody else has started asks for worlds. Implies `threads`. */
  readonly attached?: (url: string) => void;
  /** Promises that another process judges, by their names: it asks for the histories of worlds with `LAB JUDGE`. */
  readonly judged?: readonly string[];
  /** Called with the URL at which that process asks. */
  readonly judge?: (url: string) => void;
  /** Called after worlds, four times a second at most. */
  readonly progress?: (progress: ProgramProgress) => void;
}

/** How far an exploration of programs has come. */
export interface ProgramProgress {
  /** What is explored. */
  readonly name: string;
  /** The worlds so far. */
  readonly worlds: number;
  /** How many findings there are. */
  readonly findings: number;
  /** The worlds in which the planned faults struck, in each second so far. */
  readonly perSecond: number;
  /** The worlds in which the machine stood still, which were played again. */
  readonly discarded: number;
  /** The worlds whose planned fault did not strike. */
  readonly missed: number;
  /** The worlds that are played side by side now. */
  readonly sideBySide: number;
  /** The time of the processor for each world so far, in milliseconds; undefined where it is not known. */
  readonly cpuMs: number | undefined;
}

/** Options with their defaults. */
export interface FullProgramOptions {
  readonly full: FullOptions;
  readonly program: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly lease: number;
  readonly on: string | undefined;
  readonly fresh: boolean;
  readonly threads: boolean;
  readonly sideBySide: number;
  readonly attached: ((url: string) => void) | undefined;
  readonly judged: readonly string[];
  readonly judge: (url: string) => void;
  readonly progress: (progress: ProgramProgress) => void;
  /** The faults that cannot strike, each with the reason. */
  readonly unable: readonly string[];
}

const OWN = [
  'program',
  'env',
  'lease',
  'on',
  'fresh',
  'threads',
  'sideBySide',
  'attached',
  'judged',
  'judge',
  'progress',
];
const COMMON = [
  ...['name', 'topology', 'clients', 'faults', 'promises', 'accept', 'budget', 'seed', 'signal'],
  'stopAtFirst',
];

/** The least lease that programs are told to use: shorter ones end while the machine takes a breath. In milliseconds. */
const LEAST_LEASE = 50;
/** How many worlds are played side by side at most, if nothing else is said. */
const SIDE_BY_SIDE = 16;

/** Why a fault cannot strike; undefined when it can. */
function reasonAgainst(kind: FaultName, threads: boolean): string | undefined {
  if (threads && kind === 'client-death') return 'a thread cannot be killed';
  if (kind === 'busy') return 'it needs a client of this process';
  return reasonFor(kind, 'programs');
}

/** Fills in the defaults. Throws TypeError for a wrong option. */
export function fullProgramOptions(options: ProgramOptions): FullProgramOptions {
  checkNames(options, [...COMMON, ...OWN], 'explore');
  const { program, env = {}, lease = 300, fresh = false, sideBySide = SIDE_BY_SIDE, attached } = options;
  const { progress = () => {}, topology = {}, faults, signal } = options;
  const { threads = attached !== undefined, on, judged = [], judge = () => {} } = options;
  checkJudged(judged, options);
  if (!Array.isArray(program) || (program.length === 0 && attached === undefined))
    throw badOption(
      'program',
      program,
      "an array: the program and its arguments, such as ['python', 'worker.py']",
    );
  for (const word of program) checkString('program', word);
  checkInteger('lease', lease, LEAST_LEASE, 600_000);
  checkFlag('fresh', fresh);
  checkFlag('threads', threads);
  checkInteger('sideBySide', sideBySide, 1, 256);
  checkPlace(topology, program);
  if (on !== undefined) checkServer(on, topology);
  const unable: string[] = [];
  const able = (kind: FaultName): boolean => {
    const reason = reasonAgainst(kind, threads);
    if (reason !== undefined) unable.push(`${kind}: ${reason}`);
    return reason === undefined;
  };
  checkNamed(faults ?? [], threads);
  const full = fullOptions({
    name: options.name ?? (program.length === 0 ? 'the attached program' : program.join(' ')),
    client: notPlayedHere,
    topology,
    faults: faults ?? DEFAULT_FAULTS.filter(able),
    ...(options.clients !== undefined && { clients: options.clients }),
    ...promisesOf(options.promises, judged),
    ...(options.accept !== undefined && { accept: options.accept }),
    ...(options.budget !== undefined && { budget: options.budget }),
    ...(options.seed !== undefined && { seed: options.seed }),
    ...(signal !== undefined && { signal }),
    ...(options.stopAtFirst !== undefined && { stopAtFirst: options.stopAtFirst }),
  });
  return {
    // In real time a budget is what can be afforded, and no promise to play everything.
    full: {
      ...full,
      text: JSON.stringify({ program, lease }),
      modules: fresh ? 'every world has new processes' : 'processes live on from world to world',
      named: { ...full.named, namesFaults: faults !== undefined, limited: false },
    },
    ...{ program, env, lease, on, fresh, threads, sideBySide, attached, judged, judge, progress, unable },
  };
}

/** Throws TypeError for nodes or machines on which programs cannot be explored. */
function checkPlace(topology: Topology, program: readonly string[]): void {
  for (const name of ['sentinels', 'cluster'] as const)
    if ((topology[name] ?? 0) > 0)
      throw badOption(
        `topology.${name}`,
        topology[name],
        'no value with a program: its client would leave the links of the lab at once',
      );
  if (process.platform === 'win32')
    throw badOption('program', program, 'no value on Windows: processes are stopped by signals');
}

/** Throws TypeError for names of promises that cannot be judged elsewhere. */
function checkJudged(judged: readonly string[], { promises = [], judge }: ProgramOptions): void {
  const taken = new Set<string>([
    ...PROMISES,
    ...promises.flatMap((each) => (typeof each === 'function' ? each.name : [])),
  ]);
  for (const name of judged) {
    if (typeof name !== 'string' || !/^\w[\w.-]*$/.test(name) || taken.has(name))
      throw badOption('judged', name, 'names of promises of your own, each of which there is once');
    taken.add(name);
  }
  if (judged.length > 0 && judge === undefined)
    throw badOption('judge', judge, 'a function, which tells who judges where to ask');
}

/**
 * The promises to check, with stand-ins for those that are judged elsewhere. Like functions, these alone are checked if nothing else is
 * named.
 */
function promisesOf(
  promises: ProgramOptions['promises'],
  judged: readonly string[],
): Pick<ExploreOptions, 'promises'> {
  if (judged.length > 0)
    return { promises: [...(promises ?? []), ...judged.map((name) => named(name, () => undefined))] };
  return promises === undefined ? {} : { promises };
}

/** Throws TypeError for a program that is no server here, and for nodes that real servers cannot be. */
function checkServer(on: string, { dialect }: Topology): void {
  checkString('on', on);
  if (findProgram(on) === undefined)
    throw badOption(
      'on',
      on,
      'a program on PATH, or the path of one, that takes the arguments of redis-server',
    );
  if (dialect !== undefined) throw badOption('topology.dialect', dialect, 'no value together with on');
}

/** Throws TypeError for a fault that was named, and that cannot strike programs. */
function checkNamed(faults: NonNullable<ProgramOptions['faults']>, threads: boolean): void {
  for (const fault of faults) {
    const kind = typeof fault === 'string' ? fault : fault.kind;
    const reason = FAULTS.includes(kind) ? reasonAgainst(kind, threads) : undefined;
    if (reason !== undefined)
      throw badOption('faults', kind, `a fault that can strike programs (${kind} cannot: ${reason})`);
  }
}

/** Stands for the code of a program, which runs in a process of its own. */
function notPlayedHere(): never {
  throw new Error('the code of a program runs in its own process');
}
