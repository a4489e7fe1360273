/** Promises of the user that a process judges, in any language: it gets the history of each world as JSON, and says what is wrong. */
import type { JudgedWorld } from '../../lab/remote/programs/desk.ts';
import { type History, historyOf } from '../history.ts';
import type { PromiseAnswer, UserPromise } from '../judge.ts';
import type { PlayedWorld } from '../played-world.ts';

/** How long a judge may take for one world, and may be away, in milliseconds. */
const JUDGES_WITHIN = 60_000;

/** What a judge says: for each promise that is broken what its function returned, or `{ throws }` with the text of what it threw. */
type JudgesAnswer = Readonly<Record<string, PromiseAnswer | { readonly throws: string }>>;

/** A world that waits for its verdict. */
interface OpenWorld extends JudgedWorld {
  readonly answer: (verdict: JudgesAnswer) => void;
}

/** The worlds that wait for a judge, and the judges that wait for a world. */
export class Judges {
  readonly #names: readonly string[];
  readonly #open: OpenWorld[] = [];
  readonly #given = new Map<string, OpenWorld>();
  #waiting: ((world: JudgedWorld | undefined) => void)[] = [];
  #count = 0;
  #closed = false;

  /** @param names of the promises */
  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** Waits for a world. Resolves to undefined when the exploration is over. */
  next(): Promise<JudgedWorld | undefined> {
    const world = this.#open.shift();
    if (world !== undefined) {
      this.#given.set(world.token, world);
      return Promise.resolve(world);
    }
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** A judge has decided. Returns false for a world that does not wait. Throws SyntaxError for a verdict that is no JSON. */
  decided(token: string, verdict: string): boolean {
    const told = JSON.parse(verdict) as JudgesAnswer;
    const world = this.#given.get(token);
    this.#given.delete(token);
    world?.answer(told);
    return world !== undefined;
  }

  /** The promises as functions that know what a judge says of this world. Rejects when no judge decides. */
  async of(world: PlayedWorld): Promise<UserPromise[]> {
    const verdict = await this.#ask(textOf(historyOf(world)));
    return this.#names.map((name) => {
      const said = verdict[name];
      return named(name, () => {
        if (typeof said === 'object' && said !== null && 'throws' in said) throw new Error(said.throws);
        return said as PromiseAnswer;
      });
    });
  }

  #ask(history: string): Promise<JudgesAnswer> {
    if (this.#names.length === 0 || this.#closed) return Promise.resolve({});
    return new Promise((resolve, reject) => {
      const token = `j:${++this.#count}`;
      const timer = setTimeout(
        () => reject(new Error(`nobody has judged a world (LAB JUDGE) within ${JUDGES_WITHIN} ms`)),
        JUDGES_WITHIN,
      );
      const answer = (verdict: JudgesAnswer): void => {
        clearTimeout(timer);
        resolve(verdict);
      };
      const world = { token, history, answer };
      const judge = this.#waiting.shift();
      if (judge === undefined) this.#open.push(world);
      else {
        this.#given.set(token, world);
        judge(world);
      }
    });
  }

  /** Tells the judges that there are no more worlds. What was not decided has no answer. */
  close(): void {
    this.#closed = true;
    for (const waiting of this.#waiting.splice(0)) waiting(undefined);
    for (const { answer } of [...this.#open.splice(0), ...this.#given.values()]) answer({});
  }
}

/** A function that stands for a promise of this name. */
export function named(name: string, judge: UserPromise): UserPromise {
  return Object.defineProperty(judge, 'name', { value: name });
}

/** The history as JSON, without its messages. A time that never came is null. */
function textOf(history: History): string {
  const { messages: _left, ...rest } = Object.getOwnPropertyDescriptors(history);
  const names = Object.keys(rest) as (keyof History)[];
  return JSON.stringify(Object.fromEntries(names.map((name) => [name, history[name]])));
}
