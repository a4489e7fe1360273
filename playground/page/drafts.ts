/** Keeps code that was typed and not run for as long as the tab is open, by the address at which it was typed. */

const keyOf = (address: string): string => `lostlock ${address}`;

/** The code that was typed at this address; undefined when there is none. */
export function draftAt(address: string): string | undefined {
  try {
    return sessionStorage.getItem(keyOf(address)) ?? undefined;
  } catch {
    return undefined; // The browser stores nothing for this page, or nothing more.
  }
}

/** Keeps what was typed at this address. @param code undefined to forget it */
export function keepDraft(address: string, code: string | undefined): void {
  try {
    if (code === undefined) sessionStorage.removeItem(keyOf(address));
    else sessionStorage.setItem(keyOf(address), code);
  } catch {
    // As above: the page works without.
  }
}
