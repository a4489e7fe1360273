/** What a test file needs, which its name says: `pair.realtime.beside.test.ts` needs real time and runs beside real servers. */

/** The words between a test file's name and `.test.ts`, in the order in which they stand there. */
export const NEEDS = ['realtime', 'beside', 'alone'] as const;

/**
 * `realtime`: the machine's clock, sockets, child processes, or clusters that form in real time. On a busy machine such tests can
 * fail by chance, so CI retries them, and no others: every other test must give the same result every time.
 *
 * `beside`: a real server, a browser, the built package, or much time. `npm run test:beside` runs it, and `npm test` does not.
 *
 * `alone`: a process for itself, because the file replaces timers, counts handles, measures memory or depends on the order of
 * imports.
 */
export type Need = (typeof NEEDS)[number];

/** Whether the name of a test file says that it needs this. */
export function needs(path: string, need: Need): boolean {
  return wordsOf(path).includes(need);
}

/** The name that a test file has to have when it also needs this: the words in their order. */
export function nameWith(path: string, need: Need): string {
  const words = NEEDS.filter((each) => each === need || needs(path, each));
  const stem = path.slice(0, -'.test.ts'.length).split('.');
  while (isNeed(stem.at(-1))) stem.pop();
  return [...stem, ...words, 'test.ts'].join('.');
}

/** The words at the end of a test file's name. */
function wordsOf(path: string): string[] {
  const words = /[^/]*$/.exec(path)?.[0].split('.').slice(1, -2) ?? [];
  return words.slice(words.findLastIndex((word) => !isNeed(word)) + 1);
}

function isNeed(word: string | undefined): word is Need {
  return NEEDS.some((need) => need === word);
}
