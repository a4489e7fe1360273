/** Where our node still answers otherwise than the newer servers did when the transcripts were recorded. */
import type { DialectName } from '../../server/dialects/index.ts';
import type { Recorded, Section } from './transcript.ts';

/** Steps of a transcript whose outcome may differ, and why. */
export interface Gap {
  readonly file: string;
  /** Every step of the file whose line matches. */
  readonly line: RegExp;
  /** Only in sections with this in their name. */
  readonly section?: string;
  /** Only in these dialects; all but redis-7.0 if it is left out. */
  readonly dialects?: readonly DialectName[];
  readonly why: string;
}

export const GAPS: readonly Gap[] = [
  { file: 'memory.txt', line: /MEMORY USAGE/, why: 'figures are those of Redis 7.0 in every dialect' },
  {
    file: 'field-ttl.txt',
    line: /^> HSCAN h/,
    section: 'order of the fields',
    dialects: ['valkey-9'],
    why: 'HSCAN of a small hash table begins with the oldest field in Valkey 9; here scans begin with the newest',
  },
  {
    file: 'restored-use.txt',
    line: /^> OBJECT IDLETIME a$/,
    dialects: ['valkey-9'],
    why: 'Valkey 9 counts an idle time of 2^24 seconds as 0; here it wraps as in other servers',
  },
];

/** The gap that a step falls into in a dialect; undefined if there is none. */
export function gapOf(file: string, { name }: Section, { line }: Recorded, dialect: string): Gap | undefined {
  return GAPS.find(
    (gap) =>
      gap.file === file &&
      gap.line.test(line) &&
      (gap.section === undefined || name.includes(gap.section)) &&
      (gap.dialects === undefined || gap.dialects.some((each) => each === dialect)),
  );
}

/** The outcomes of a section, with the reason in place of each that falls into a gap. */
export function withoutGaps(
  file: string,
  section: Section,
  dialect: string,
  outcomes: readonly string[][],
): string[][] {
  return outcomes.map((lines, i) => {
    const step = section.steps[i];
    const gap = step === undefined ? undefined : gapOf(file, section, step, dialect);
    return gap === undefined ? lines : [`# ${gap.why}`];
  });
}

/** Requests that end a server. They are not sent to it, and recorded as the first server answers them. */
const FATAL: Partial<Record<string, RegExp>> = {
  // valkey-server 9.1.2 asserts in redis.log that a script runs, and none does while a library is loaded.
  'valkey-9': /^> FUNCTION LOAD .*redis\.log\(/,
};

/** Returns whether a step would end this server. */
export function isFatalFor(server: string): (line: string) => boolean {
  return (line) => FATAL[server]?.test(line) ?? false;
}
