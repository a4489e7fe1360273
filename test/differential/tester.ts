/** Runs generated programs on both servers until a difference shows or enough commands have passed. */
import { asciiUpper } from '../../protocol/bytes.ts';
import type { Command } from '../../server/table/command.ts';
import { play } from './compare/compare.ts';
import type { Difference } from './compare/difference.ts';
import type { Coverage } from './coverage.ts';
import { generate, type Program } from './program.ts';
import { seedOf } from './random.ts';
import { grammarOf } from './requests.ts';
import { type Shrunk, shrink, transcript } from './shrink.ts';
import type { RealSide } from './sides.ts';

export interface TestOptions {
  readonly seed: number;
  /** How many requests to send at least. */
  readonly commands: number;
  /** Requests in one program. */
  readonly length?: number;
  /** Ends after so many kinds of differences. */
  readonly stopAfter?: number;
  /** Plays this program alone. */
  readonly only?: number;
  readonly coverage?: Coverage;
  readonly report?: (text: string) => void;
  /** Commands that take the place of ours: the tester's own test. */
  readonly mutants?: readonly Command[];
}

export interface TestResult {
  commands: number;
  programs: number;
  found: number;
  /** Differences of a kind that had been found before: they are counted, and not shrunk. */
  repeated: number;
  /** Programs given up because something was about to expire by chance. */
  inconclusive: number;
  /** Differences that did not show again: a matter of timing. */
  vanished: number;
  readonly shrunk: Shrunk[];
  readonly transcripts: string[];
}

/** Tests until `commands` requests have been sent; every difference found is shrunk and reported. */
export async function test(real: RealSide, options: TestOptions): Promise<TestResult> {
  const { seed, commands, length = 80, stopAfter = 1, only } = options;
  const result: TestResult = {
    commands: 0,
    programs: 0,
    found: 0,
    repeated: 0,
    inconclusive: 0,
    vanished: 0,
    shrunk: [],
    transcripts: [],
  };
  const kinds = new Set<string>();
  for (let index = only ?? 0; result.commands < commands && result.found < stopAfter; index++) {
    const program = generate(seedOf(seed, index), length, grammarOf(real.dialect));
    result.programs++;
    result.commands += program.steps.length;
    const name = `seed ${seed}, program ${index}`;
    try {
      await one(program, name, real, options, result, kinds);
    } catch (error) {
      throw new Error(`${name}, or the one before it, did not end`, { cause: error });
    }
    if (only !== undefined) break;
  }
  return result;
}

/** Differences after the same command, at the same place, are taken for the same. */
function kindOf({ steps }: Program, { step, where }: Difference): string {
  const [command = ''] = steps[step]?.argv ?? [];
  return `${where.replace(/\d/, '')} ${asciiUpper(command)}`;
}

async function one(
  program: Program,
  name: string,
  real: RealSide,
  options: TestOptions,
  result: TestResult,
  kinds: Set<string>,
): Promise<void> {
  const commands = options.mutants ?? [];
  const difference = await play(program, real, { commands, coverage: options.coverage });
  if (difference === undefined) return;
  if (difference === 'inconclusive') {
    result.inconclusive++;
    return;
  }
  const kind = kindOf(program, difference);
  if (kinds.has(kind)) {
    result.repeated++;
    return;
  }
  const shrunk = await shrink(program, real, { commands });
  if (shrunk === undefined) {
    result.vanished++;
    options.report?.(`${name}: a difference that did not show again: ${JSON.stringify(difference)}`);
    return;
  }
  kinds.add(kind);
  result.found++;
  const text = `${name}\n${await transcript(shrunk, real, { commands })}`;
  result.shrunk.push(shrunk);
  result.transcripts.push(text);
  options.report?.(text);
}
