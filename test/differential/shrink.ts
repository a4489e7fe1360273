/** Makes a program that shows a difference as short and plain as it can be, and prints it with both servers' answers. */
import { asciiLower, type Bytes } from '../../protocol/bytes.ts';
import { printReply, type RawReply, readReply, replyEnd } from '../support/reply-text.ts';
import { type Answer, type PlayOptions, play } from './compare/compare.ts';
import type { Difference } from './compare/difference.ts';
import { toldLines } from './compare/normalise.ts';
import type { Program, Step } from './program.ts';
import { RANDOM, ruleOf } from './requests.ts';
import { callsOf, gathers } from './scripts.ts';
import type { RealSide } from './sides.ts';

/** How many programs may be tried for one difference. */
const TRIES = 600;

export interface Shrunk {
  readonly program: Program;
  readonly difference: Difference;
}

/** Shrinks a program with a difference; undefined when it does not show again. */
export async function shrink(
  program: Program,
  real: RealSide,
  options: PlayOptions = {},
): Promise<Shrunk | undefined> {
  let best: Shrunk | undefined;
  let tries = 0;
  const accept = async (candidate: Program): Promise<boolean> => {
    if (tries++ > TRIES) return false;
    const difference = await play(candidate, real, { ...options, careful: true });
    if (difference === undefined || difference === 'inconclusive') return false;
    best = { program: { ...candidate, steps: candidate.steps.slice(0, difference.step + 1) }, difference };
    return true;
  };
  if (!(await accept(program)) || best === undefined) return undefined;
  const current = (): Program => (best as Shrunk).program;
  await withoutSteps(current, accept);
  await accept({ ...current(), settings: [] });
  await onOneConnection(current, accept);
  await withPlainerWords(current, accept);
  await withoutSteps(current, accept);
  return best;
}

type Accept = (candidate: Program) => Promise<boolean>;

/** Leaves out runs of steps, long ones first, the last first. */
async function withoutSteps(current: () => Program, accept: Accept): Promise<void> {
  for (let size = Math.ceil(current().steps.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = current().steps.length - size; from > -size; from -= size) {
      const { steps } = current();
      const rest = steps.filter((_, i) => i < from || i >= from + size);
      if (rest.length < steps.length) await accept({ ...current(), steps: rest });
    }
  }
}

async function onOneConnection(current: () => Program, accept: Accept): Promise<void> {
  const { steps, protocols } = current();
  if (protocols.length > 1) {
    for (const protocol of [2, 3] as const) {
      const moved = steps.map((step) => ({ ...step, client: 0 }));
      if (await accept({ ...current(), protocols: [protocol], steps: moved })) break;
    }
  }
  if (current().protocols.includes(3))
    await accept({ ...current(), protocols: current().protocols.map(() => 2) });
}

/** Shorter requests, simpler words, scripts replaced by what they call. */
async function withPlainerWords(current: () => Program, accept: Accept): Promise<void> {
  for (let at = current().steps.length - 1; at >= 0; at--) {
    for (let again = true; again; ) {
      again = false;
      for (const change of plainer(current().steps[at])) {
        const { steps } = current();
        if (at >= steps.length) break;
        const changed = steps.map((step, i) => (i === at ? { ...step, ...change } : step));
        again = await accept({ ...current(), steps: changed });
        if (again) break;
      }
    }
    for (let word = (current().steps[at]?.argv.length ?? 0) - 1; word > 0; word--)
      await dropWord(current, accept, at, word);
  }
}

async function dropWord(current: () => Program, accept: Accept, at: number, word: number): Promise<void> {
  const { steps } = current();
  const step = steps[at];
  if (step === undefined || /^EVAL/i.test(step.argv[0] ?? '') || RANDOM.test(asciiLower(step.argv[0] ?? '')))
    return;
  const argv = step.argv.filter((_, i) => i !== word);
  await accept({
    ...current(),
    steps: steps.map((each, i) => (i === at ? { ...each, argv, rule: ruleOf(argv) } : each)),
  });
}

type Change = Pick<Step, 'argv' | 'rule'>;

function plainer(step: Step | undefined): Change[] {
  if (step === undefined) return [];
  const { argv } = step;
  const out: Change[] = /^EVAL/i.test(argv[0] ?? '') ? withoutScript(step) : [];
  for (const [i, word] of argv.entries()) {
    if (i === 0 || /^\d$|^return|^local/.test(word)) continue;
    const shorter =
      word.length > 8 ? [word.slice(0, 1), word.slice(0, word.length >> 1)] : word.length > 1 ? ['a'] : [];
    for (const text of shorter) {
      const changed = argv.map((each, at) => (at === i ? text : each));
      out.push({ argv: changed, rule: out.length === 0 ? ruleOf(changed) : step.rule });
    }
  }
  return out;
}

/** What a script calls, without the script; where it calls several, also the script with one call less. */
function withoutScript({ argv, rule }: Step): Change[] {
  const calls = callsOf(argv) ?? [];
  const alone = calls.map((call) => ({ argv: call, rule: ruleOf(call) }));
  const fewer = calls.map((_, left) => {
    const rest = calls.filter((__, i) => i !== left);
    const each = typeof rule === 'object' && 'each' in rule ? rule.each.filter((__, i) => i !== left) : [];
    return {
      argv: [...argv.slice(0, 3), ...rest.flatMap((call) => [String(call.length), ...call])],
      rule: { each },
    };
  });
  return [...alone, ...(gathers(argv) && calls.length > 1 ? fewer : [])];
}

/** A reply's bytes on one line; a list that is no reply stays as it is. */
export function line(bytes: Bytes): string {
  try {
    const reply = replyEnd(bytes, 0) === bytes.length ? readReply(bytes) : undefined;
    // Of INFO, what is compared.
    if (/^(txt:)?# /.test(String(reply?.[1]))) return toldLines(reply as RawReply).replaceAll('\n', ' ');
    if (reply !== undefined) return brief(printReply(reply));
  } catch {}
  return brief(JSON.stringify(bytes));
}

/** Long words are cut in the middle: the seed brings back the whole. */
function brief(text: string): string {
  return text.length <= 600 ? text : `${text.slice(0, 400)} ... ${text.slice(-100)}`;
}

function quote(word: Bytes): string {
  if (/^[!-~]+$/.test(word) && !/["'\\]/.test(word)) return word;
  return brief(printReply(['$', word]));
}

/** The program as a transcript; a line that only one server sent is marked with its name. */
export async function transcript(shrunk: Shrunk, real: RealSide, options: PlayOptions = {}): Promise<string> {
  const { program, difference } = shrunk;
  const out: string[] = [`connections: ${program.protocols.map((version) => `RESP${version}`).join(', ')}`];
  for (const setting of program.settings) out.push(`setting: ${setting.join(' ')}`);
  const record = (step: Step | undefined, mine: readonly Answer[], theirs: readonly Answer[]): void => {
    if (step !== undefined) out.push(`${step.client}> ${step.argv.map(quote).join(' ')}`);
    for (const [i, { where, items }] of mine.entries())
      out.push(...sideBySide(where, items, theirs[i]?.items ?? []));
  };
  await play(program, real, { ...options, careful: true, record });
  out.push(`first difference: ${difference.where}`);
  out.push(`  lostlock:     ${line(difference.mine)}`, `  redis-server: ${line(difference.theirs)}`);
  return out.join('\n');
}

function sideBySide(where: string, mine: readonly Bytes[], theirs: readonly Bytes[]): string[] {
  const name = where.replace('client ', '');
  return Array.from({ length: Math.max(mine.length, theirs.length) }, (_, i) => {
    const [a, b] = [mine[i], theirs[i]];
    if (a === b && a !== undefined) return [`${name}< ${line(a)}`];
    const ours = a === undefined ? [] : [`${name}< lostlock:     ${line(a)}`];
    return b === undefined ? ours : [...ours, `${name}< redis-server: ${line(b)}`];
  }).flat();
}
