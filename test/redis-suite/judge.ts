/** Reads the results of a suite, and compares them with the list of tests that remain. */

/** A test of a baseline. Tests with the same name are told apart by their order in the file. */
export interface SuiteTest {
  readonly file: string;
  readonly name: string;
  readonly occurrence: number;
}

/** How a test ended, and the message of its failure. */
export interface Outcome {
  readonly passed: boolean;
  readonly message: string;
}

/** What a run has shown. */
export interface Judged {
  readonly passed: number;
  /** Tests that fail and are not in the list, each with its message. */
  readonly broken: readonly string[];
  /** Tests of the list that pass. */
  readonly mended: readonly string[];
}

const keyOf = ({ file, name, occurrence }: SuiteTest): string =>
  `${file} | ${name}${occurrence > 1 ? ` | ${occurrence}` : ''}`;

/** Splits a file into rows of columns. Empty lines and lines that begin with # are left out. */
function rows(text: string): string[][] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split('\t'));
}

/** The tests of a baseline that count: file, name, occurrence, class. */
export function testsOf(baseline: string): SuiteTest[] {
  return rows(baseline)
    .filter((row) => row[3] === 'score')
    .map(([file = '', name = '', occurrence = '1']) => ({
      file,
      name,
      occurrence: parseInt(occurrence, 10),
    }));
}

/** The outcomes of a run: file, name, occurrence, ok or err, tags, message. */
export function outcomesOf(results: string): Map<string, Outcome> {
  const outcomes = new Map<string, Outcome>();
  for (const [file = '', name = '', occurrence = '1', status, , message = ''] of rows(results)) {
    const key = keyOf({ file, name, occurrence: parseInt(occurrence, 10) });
    outcomes.set(key, { passed: status === 'ok', message });
  }
  return outcomes;
}

/** The list of tests that remain: the test, a tab, and the reason. Throws Error for a line without a reason. */
export function reasonsOf(list: string): Map<string, string> {
  const reasons = new Map<string, string>();
  for (const [key = '', reason = ''] of rows(list)) {
    if (reason === '') throw new Error(`no reason for ${key}`);
    reasons.set(key, reason);
  }
  return reasons;
}

/** Compares the outcomes of the tests with the list of those that remain. A test that did not run counts as failed. */
export function judge(
  tests: readonly SuiteTest[],
  outcomes: ReadonlyMap<string, Outcome>,
  reasons: ReadonlyMap<string, string>,
): Judged {
  let passed = 0;
  const broken: string[] = [];
  const mended: string[] = [];
  for (const key of tests.map(keyOf)) {
    const outcome = outcomes.get(key);
    if (outcome?.passed === true) {
      passed++;
      if (reasons.has(key)) mended.push(key);
    } else if (!reasons.has(key)) broken.push(`${key}: ${outcome?.message ?? 'did not run'}`);
  }
  return { passed, broken, mended };
}
