/** The recording of programs about replication: each step with what it brought about on every server. */
import { type Program, parseStep, printStep } from './program.ts';

/** The server whose outcomes stand first. */
export const FIRST = 'redis-7.0';

/** One recorded program. */
export interface Recorded {
  readonly name: string;
  readonly program: Program;
  /** What each step brought about: on the first server, and on each that differs. */
  readonly outcomes: readonly ReadonlyMap<string, readonly string[]>[];
}

/** What each step brought about on a server. */
export function outcomesOn({ outcomes }: Recorded, server: string): string[][] {
  return outcomes.map((each) => [...(each.get(server) ?? each.get(FIRST) ?? [])]);
}

/** Reads a recording. Outcomes of programs that were not recorded yet are empty. */
export function parseRecording(text: string): Recorded[] {
  return text
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [name = '', ...lines] = part.split('\n');
      const settings: [string, string][] = [];
      const steps: Program['steps'][number][] = [];
      const outcomes: Map<string, string[]>[] = [];
      let into: string[][] = [];
      for (const line of lines) {
        if (line.startsWith('@')) settings.push(line.slice(1).split(' ') as [string, string]);
        else if (/^ {2}[<>(]/.test(line)) for (const each of into) each.push(line.slice(2));
        else if (line.startsWith('= ')) {
          into = line
            .slice(2)
            .split(' ')
            .map((server) => {
              const own: string[] = [];
              outcomes.at(-1)?.set(server, own);
              return own;
            });
        } else if (line !== '' && !line.startsWith('#')) {
          const first: string[] = [];
          steps.push(parseStep(line));
          outcomes.push(new Map([[FIRST, first]]));
          into = [first];
        }
      }
      return { name, program: { settings, steps }, outcomes };
    });
}

/** Writes a program with what it brought about: in full for the first server, elsewhere only what differs. */
export function printRecording(
  name: string,
  { settings, steps }: Program,
  played: ReadonlyMap<string, readonly (readonly string[])[]>,
): string {
  const lines = [`## ${name}`, ...settings.map((setting) => `@${setting.join(' ')}`)];
  for (const [i, step] of steps.entries()) {
    const textOf = (outcomes: readonly (readonly string[])[] | undefined): string =>
      (outcomes?.[i] ?? []).map((line) => `  ${line}`).join('\n');
    const first = textOf(played.get(FIRST));
    lines.push(printStep(step), ...(first === '' ? [] : [first]));
    const others = new Map<string, string[]>();
    for (const [server, outcomes] of played) {
      const text = textOf(outcomes);
      if (text !== first) others.set(text, [...(others.get(text) ?? []), server]);
    }
    for (const [text, servers] of others)
      lines.push(`= ${servers.join(' ')}`, ...(text === '' ? [] : [text]));
  }
  return `${lines.join('\n')}\n`;
}
