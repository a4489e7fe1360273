/** Suggests the name that was probably meant, for errors about unknown names. */

/** The edit distance: how many letters must be inserted, removed, replaced or swapped with a neighbour. */
function distance(one: string, other: string): number {
  let [before, last]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1];
      row[j] = Math.min(row[j - 1]! + 1, last[j]! + 1, last[j - 1]! + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (swapped) row[j] = Math.min(row[j]!, before[j - 2]! + 1);
    }
    [before, last] = [last, row];
  }
  return last[other.length]!;
}

/** `; did you mean x?` with the most similar name, or an empty string when none is similar. */
export function didYouMean(name: string, names: readonly string[]): string {
  const plain = (word: string): string => word.toLowerCase().replaceAll(/[-_]/g, '');
  const wanted = plain(name);
  const rated = names.map((each) => {
    const known = plain(each);
    const part = wanted.length > 2 && (known.startsWith(wanted) || wanted.startsWith(known));
    return { each, letters: wanted !== known && part ? 1 : distance(wanted, known) };
  });
  const [best] = rated.sort((a, b) => a.letters - b.letters);
  return best && best.letters <= Math.max(1, wanted.length / 3) ? `; did you mean ${best.each}?` : '';
}

/**
 * The closest name, the first of several; undefined when every name differs in more than a third of the word's letters.
 */
export function nearest(word: string, names: Iterable<string>): string | undefined {
  let [found, least]: [string | undefined, number] = [
    undefined,
    Math.max(1, Math.floor(word.length / 3)) + 1,
  ];
  for (const name of names) {
    const steps = distance(word, name);
    if (steps < least) [found, least] = [name, steps];
  }
  return found;
}
