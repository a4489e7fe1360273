/** Plays generated programs about replication here and on a real server, and makes each difference short. */
import type { DialectName } from '../../../server/dialects/index.ts';
import { seedOf } from '../random.ts';
import { generate } from './generate.ts';
import { type Mutation, OwnStage } from './own.ts';
import { play } from './play.ts';
import { type Program, printStep } from './program.ts';
import { RealStage } from './real.ts';

/** Steps of one program. */
export const LENGTH = 40;

/** How many programs are tried to make one difference shorter. */
const TRIES = 150;

export async function playOurs(
  program: Program,
  dialect: DialectName,
  mutation?: Mutation,
): Promise<string[][]> {
  const stage = await OwnStage.start(dialect, program, mutation);
  try {
    return await play(program, stage);
  } finally {
    await stage.stop();
  }
}

export async function playTheirs(program: Program, server: string): Promise<string[][]> {
  const stage = await RealStage.start(server, program);
  try {
    return await play(program, stage);
  } finally {
    await stage.stop();
  }
}

/** Where two servers differ first. */
export interface Difference {
  /** The program up to that step. */
  readonly program: Program;
  readonly ours: readonly string[];
  readonly theirs: readonly string[];
}

/** The first step whose outcomes differ; undefined when none does. */
export function firstDifference(
  program: Program,
  ours: readonly string[][],
  theirs: readonly string[][],
): Difference | undefined {
  const at = program.steps.findIndex((_, i) => ours[i]?.join('\n') !== theirs[i]?.join('\n'));
  if (at < 0) return undefined;
  const steps = program.steps.slice(0, at + 1);
  return { program: { ...program, steps }, ours: ours[at] ?? [], theirs: theirs[at] ?? [] };
}

async function compare(program: Program, dialect: DialectName, server: string) {
  const ours = await playOurs(program, dialect);
  return firstDifference(program, ours, await playTheirs(program, server));
}

/** Leaves out steps, and requests of a pipeline, as long as a difference remains. */
async function shrunk(
  first: Difference,
  again: (program: Program) => Promise<Difference | undefined>,
): Promise<Difference> {
  let best = first;
  // Each lag takes seconds.
  let tries = first.program.steps.some(({ kind }) => kind === 'lag') ? TRIES - 30 : 0;
  for (let size = Math.ceil(best.program.steps.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (
      let from = best.program.steps.length - 1 - size;
      from > -size && tries < TRIES;
      from -= size, tries++
    ) {
      const steps = best.program.steps.filter((_, i) => i < from || i >= from + size);
      if (steps.length < best.program.steps.length) best = (await again({ ...best.program, steps })) ?? best;
    }
  }
  return best;
}

/** The difference as text. */
export function printDifference({ program, ours, theirs }: Difference): string {
  const settings = program.settings.map((setting) => `@${setting.join(' ')}`);
  const indented = (lines: readonly string[]): string[] => lines.map((line) => `    ${line}`);
  const steps = program.steps.map(printStep);
  return [...settings, ...steps, '  ours', ...indented(ours), '  real', ...indented(theirs)].join('\n');
}

export interface Comparison {
  readonly commands: number;
  readonly programs: number;
  readonly differences: readonly Difference[];
  /** Differences that did not show a second time. */
  readonly vanished: number;
}

/** Differences after the same kind of step are taken for the same. */
function kindOf({ program, ours, theirs }: Difference): string {
  const last = program.steps.at(-1);
  const what = last === undefined ? '' : last.kind === 'ask' ? String(last.requests.at(-1)?.[0]) : last.kind;
  const shape = (lines: readonly string[]): string => lines.map((line) => line.slice(0, 8)).join();
  return `${what} ${shape(ours)} ${shape(theirs)}`;
}

/** Compares until so many steps have been played, or until `most` kinds of differences are found. */
export async function compareReplication(
  server: string,
  dialect: DialectName,
  {
    commands,
    seed,
    most = 5,
    only,
    report = () => {},
  }: {
    readonly commands: number;
    readonly seed: number;
    readonly most?: number;
    /** Plays this program alone. */
    readonly only?: number | undefined;
    readonly report?: (text: string) => void;
  },
): Promise<Comparison> {
  const differences = new Map<string, Difference>();
  let [sent, programs, vanished] = [0, 0, 0];
  for (let index = only ?? 0; sent < commands && differences.size < most; index++) {
    const program = generate(seedOf(seed, index), LENGTH);
    const again = (each: Program) => compare(each, dialect, server);
    const first = await again(program);
    sent += program.steps.length;
    programs++;
    if (first !== undefined && !differences.has(kindOf(first))) {
      const second = await again(first.program);
      if (second === undefined) vanished++;
      else {
        const found = await shrunk(second, again);
        differences.set(kindOf(first), found);
        report(`seed ${seed}, program ${index}\n${printDifference(found)}\n`);
      }
    }
    if (only !== undefined) break;
  }
  return { commands: sent, programs, differences: [...differences.values()], vanished };
}

/**
 * Looks for programs that tell broken nodes from the real server, and takes each broken node that is found out of the map. A
 * program is played on the real server only when the broken node does not do what ours does, because that takes a second.
 */
export async function huntMutants(
  left: Map<string, Mutation>,
  server: string,
  dialect: DialectName,
  {
    commands,
    seed,
    found,
  }: {
    /** How many steps may be played. */
    readonly commands: number;
    readonly seed: number;
    /** Called with the name of each that is found, and the number of the program. */
    readonly found: (name: string, program: number) => void;
  },
): Promise<void> {
  for (let index = 0; index * LENGTH < commands && left.size > 0; index++) {
    const program = generate(seedOf(seed, index), LENGTH);
    const ours = await playOurs(program, dialect);
    let theirs: string[][] | undefined;
    for (const [name, mutation] of left) {
      const broken = await playOurs(program, dialect, mutation);
      if (firstDifference(program, broken, ours) === undefined) continue;
      theirs ??= await playTheirs(program, server);
      // Where our node differs as well, the program proves nothing.
      if (firstDifference(program, ours, theirs) !== undefined) break;
      left.delete(name);
      found(name, index);
    }
  }
}
