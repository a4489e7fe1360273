/** The address of what is shown: `#run=failover&step=4`, or `#runs` for the list of runs. */

/** What an address names. Undefined members are not named. */
export interface ShownRun {
  readonly list: boolean;
  /** The index of the run. */
  readonly run: number | undefined;
  /** The sentence, from 0. */
  readonly step: number | undefined;
}

/** Reads the address bar. @param names the runs' short names; a number counts from 1 */
export function readAddress(hash: string, names: readonly string[]): ShownRun {
  const members = new URLSearchParams(hash.replace(/^#/, ''));
  const name = members.get('run') ?? '';
  const known = names.indexOf(name);
  const number = /^\d{1,6}$/.test(name) ? Number(name) - 1 : -1;
  const run = known !== -1 ? known : number >= 0 && number < names.length ? number : undefined;
  const step = members.get('step') ?? '';
  return {
    list: members.has('runs'),
    run,
    step: /^\d{1,6}$/.test(step) && Number(step) > 0 ? Number(step) - 1 : undefined,
  };
}

/** The address of a run. @param step from 0; -1 for none */
export function addressOf(name: string, step = -1): string {
  return `#run=${name}${step < 0 ? '' : `&step=${step + 1}`}`;
}

/** Shows an address in the address bar, where that is allowed. @param isNew true to leave the former one in the history */
export function showAddress(address: string, isNew: boolean): void {
  if (location.hash === address) return;
  try {
    if (isNew) history.pushState(undefined, '', address);
    else history.replaceState(undefined, '', address);
  } catch {
    // A page inside another document may have no history of its own.
  }
}
