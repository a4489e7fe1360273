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

/** A judge that waits for a world. */
interface WaitingJudge {
  readonly answer: (world: JudgedWorld | undefined) => void;
  /** False when its connection has ended. */
  readonly isThere: () => boolean;
}

/** The worlds that wait for a judge, and the judges that wait for a world. */
export class Judges {
  readonly #names: readonly string[];
  #open: OpenWorld[] = [];
  readonly #given = new Map<string, OpenWorld>();
  readonly #waiting: WaitingJudge[] = [];
  #count = 0;
  #closed = false;

  /** @param names of the promises */
  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /**
   * Waits for a world. Resolves to undefined when the exploration is over.
   * @param isThere tells whether the judge still waits: one that has gone gets no world
   */
  next(isThere: () => boolean): Promise<JudgedWorld | undefined> {
    const world = this.#open.shift();
    if (world !== undefined) {
      this.#given.set(world.token, world);
      return Promise.resolve(world);
    }
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((answer) => this.#waiting.push({ answer, isThere }));
  }

  /** A judge has decided. Returns false for a world that does not wait. Throws Error for a verdict that is none. */
  decided(token: string, verdict: string): boolean {
    const told = verdictIn(verdict, this.#names);
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
      const timer = setTimeout(() => {
        this.#open = this.#open.filter((each) => each !== world);
        this.#given.delete(token);
        reject(new Error(`no process has judged a world (LAB JUDGE) within ${JUDGES_WITHIN} ms`));
      }, JUDGES_WITHIN);
      const answer = (verdict: JudgesAnswer): void => {
        clearTimeout(timer);
        resolve(verdict);
      };
      const world = { token, history, answer };
      const judge = this.#waitingJudge();
      if (judge === undefined) this.#open.push(world);
      else {
        this.#given.set(token, world);
        judge.answer(world);
      }
    });
  }

  #waitingJudge(): WaitingJudge | undefined {
    for (;;) {
      const judge = this.#waiting.shift();
      if (judge === undefined || judge.isThere()) return judge;
      judge.answer(undefined);
    }
  }

  /** Tells the judges that there are no more worlds. What was not decided has no answer. */
  close(): void {
    this.#closed = true;
    for (const { answer } of this.#waiting.splice(0)) answer(undefined);
    for (const { answer } of [...this.#open.splice(0), ...this.#given.values()]) answer({});
  }
}

/** The verdict in a judge's text. Throws Error when it is no JSON object, or names a promise that is not judged. */
function verdictIn(text: string, names: readonly string[]): JudgesAnswer {
  let told: unknown;
  try {
    told = JSON.parse(text);
  } catch {
    throw new Error('the verdict is no JSON');
  }
  if (typeof told !== 'object' || told === null || Array.isArray(told))
    throw new Error('the verdict is no JSON object');
  const other = Object.keys(told).find((name) => !names.includes(name));
  if (other !== undefined)
    throw new Error(`the verdict names ${other}, and the promises that are judged are ${names.join(', ')}`);
  return told as JudgesAnswer;
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
