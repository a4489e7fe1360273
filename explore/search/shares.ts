/** Shares the rest of a budget among strategies: more of it for those that have found something, or reached new states. */

/** What a strategy has cost and brought. */
interface StrategyShare {
  readonly name: string;
  worlds: number;
  gains: number;
}

/** What a new finding counts, when a world with a new state counts 1. */
const FINDING = 20;
/** Each strategy begins as if it had played this many worlds, each with a new state. So its first worlds decide little. */
const CREDIT = 20;
/** The least weight of a strategy, for one that brings nothing. A strategy that brings as much as the mean has 1. */
const LEAST = 0.4;
/** The largest weight. */
const MOST = 4;

/** The accounts of the strategies of one exploration. The same worlds give the same shares. */
export class Shares {
  readonly #all: StrategyShare[];

  constructor(names: readonly string[]) {
    this.#all = names.map((name) => ({ name, worlds: 0, gains: 0 }));
  }

  /** The strategy that is to draw: the one that is the farthest behind its share. Undefined when none is left. */
  next(): string | undefined {
    const rates = this.#all.map(({ worlds, gains }) => (gains + CREDIT) / (worlds + CREDIT));
    const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
    let best: StrategyShare | undefined;
    let least = Infinity;
    for (const [i, account] of this.#all.entries()) {
      const weight = Math.min(MOST, Math.max(LEAST, (rates[i] as number) / mean));
      const used = (account.worlds + 1) / weight;
      if (used < least) [best, least] = [account, used];
    }
    return best?.name;
  }

  /** A strategy has drawn a world. @param findings how many new findings it showed @param isNew whether it reached a new state */
  played(name: string, findings: number, isNew: boolean): void {
    const account = this.#all.find((each) => each.name === name);
    if (account === undefined) return;
    account.worlds++;
    account.gains += findings * FINDING + (isNew ? 1 : 0);
  }

  /** A strategy has nothing to draw now: it waits for its turn as if it had played. */
  idle(name: string): void {
    const account = this.#all.find((each) => each.name === name);
    if (account !== undefined) account.worlds++;
  }

  /** A strategy has nothing to draw any more. */
  ended(name: string): void {
    const at = this.#all.findIndex((each) => each.name === name);
    if (at >= 0) this.#all.splice(at, 1);
  }
}
