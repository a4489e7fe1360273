/** Finds the name that somebody probably meant, for errors about names that do not exist. */

/** Letters to insert, remove or replace to turn one word into the other; two letters that changed places count once. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let least = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + (same ? 0 : 1));
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] && i > 1 && j > 1) {
        least = Math.min(least, before[j - 2]! + 1);
      }
      row.push(least);
    }
    [before, above] = [above, row];
  }
  return above[b.length]!;
}

/** The name that is most like the word, the first of several; undefined when none is near (a third of its letters). */
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
