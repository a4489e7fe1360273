/** What the runs of the catalogue are called: the one that loses a lock, and the one in which our locks keep it. */
import { numbersIn } from './check.ts';
import { catalogue, type FailureId, type Handling, handled } from './failures.ts';

/** A failure with its numbers in the catalogue, such as `S22, S25`, and a title where the catalogue's does not fit. */
interface Named {
  readonly id: string;
  readonly title?: string;
}

/** Stands between what prevents a failure and the failure. */
export const PREVENTS = '. It prevents: ';

/** What goes wrong: by the failure's own title, or by the catalogue's. */
export function titleOf({ id, title }: Named): string {
  const [first] = numbersIn(id);
  return title ?? (first === undefined ? id : catalogue[first].what);
}

/** What our locks do about it, and what that prevents. */
export function preventedTitle(failure: Named): string {
  const [first] = numbersIn(failure.id);
  const handling =
    first === undefined ? undefined : Object.entries<Handling>(handled).find(isFor(first))?.[1];
  return `${(handling?.by ?? 'our locks').replaceAll('`', '')}${PREVENTS}${titleOf(failure)}`;
}

const isFor =
  (id: FailureId) =>
  ([reason]: readonly [string, Handling]): boolean =>
    reason === catalogue[id].locks;
