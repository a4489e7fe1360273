/** Which kinds of lock a list lacks, or has although the registry says that it leaves them out. */
import { KIND_LISTS, type KindList, kindNames, reasonAgainst } from '../../../locks/kinds/index.ts';

/** What a text must contain to have a kind, where the list is written by hand; the other lists go by the registry. */
const WRITTEN: Partial<Record<KindList, (kind: string) => RegExp>> = {
  redisson: (kind) => new RegExp(`^  ${kind}: '`, 'm'),
  bench: (kind) => new RegExp(`locks\\.${kind}\\(`),
  playground: (kind) => new RegExp(`\\b${kind}\\(`),
  'which lock': (kind) => new RegExp(`\\.${kind}\\(`),
  'using locks': (kind) => new RegExp(`\\.${kind}\\(`),
};

/**
 * What is wrong with a list, as sentences that say the cure.
 * @param text the text of the list's file @param names the kinds @param why why the list leaves a kind out
 */
export function wrongWith(
  list: KindList,
  text: string,
  names: readonly string[] = kindNames,
  why: (kind: string) => string | undefined = (kind) => reasonAgainst(kind as never, list),
): string[] {
  const file = KIND_LISTS[list];
  const pattern = WRITTEN[list];
  if (pattern === undefined) {
    const goesByRegistry = text.includes(`sIn('${list}')`);
    return goesByRegistry ? [] : [`${file} keeps a list of kinds by hand: iterate formsIn('${list}')`];
  }
  return names.flatMap((kind) => {
    const isIn = pattern(kind).test(text);
    const reason = why(kind);
    if (!isIn && reason === undefined) {
      return [
        `the kind '${kind}' is not in ${file}: add it there, or say in locks/kinds/index.ts, notIn['${list}'], why not`,
      ];
    }
    return isIn && reason !== undefined
      ? [`the kind '${kind}' is in ${file}, but locks/kinds/index.ts says that it is not: ${reason}`]
      : [];
  });
}
