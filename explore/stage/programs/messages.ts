/** What a client of a world says by messages, for one life of it: the acts at resources, the operations, and its end. */
import { type ClientAtDesk, worldOver } from '../../../lab/remote/programs/desk.ts';
import type { EnterChoice } from '../../../lab/remote/programs/enter.ts';
import { fail } from '../../../protocol/errors.ts';
import type { Recording } from '../../operations/operation.ts';
import type { ClientSession, InsideResource } from '../../session.ts';

/** The owner of visits that name none: all of a client's visits are of one owner. */
const ONE_OWNER = 'one';

/** What a conversation needs of its client. */
export interface Speaker {
  /** A client acts at a resource. Settles when faults that strike there have begun. */
  acted(what: 'enters' | 'writes' | 'leaves', resource: string): Promise<void>;
  /** A client that was stopped goes on: it acts, so it knows what it does. */
  awake(): void;
  /** Settles while its process may get an answer. */
  free(): Promise<void>;
  noted(text: string): void;
  broken(text: string): void;
  beat(late: number): void;
  /** Its first act, or its end: those who wait for their turn may start. */
  moved(): void;
}

/** One visit that a program has. */
interface OpenVisit {
  readonly resource: string;
  readonly inside: InsideResource;
}

/** One life's messages. */
export class ClientMessages implements ClientAtDesk {
  readonly #speaker: Speaker;
  readonly #session: ClientSession;
  readonly #ended: (error: string | undefined) => void;
  readonly #numbers = new Map<number, Promise<unknown>>();
  readonly #visits: OpenVisit[] = [];
  readonly #operations: Recording[] = [];
  readonly #now: () => number;
  #end: () => void = () => {};
  readonly #ending = new Promise<void>((end) => {
    this.#end = end;
  });

  /** @param ended called with DONE */
  constructor(
    speaker: Speaker,
    session: ClientSession,
    now: () => number,
    ended: (error: string | undefined) => void,
  ) {
    this.#speaker = speaker;
    this.#session = session;
    this.#now = now;
    this.#ended = ended;
  }

  /** The world has ended: messages that wait get the error of an ended world. */
  end(): void {
    this.#end();
  }

  whileOpen<T>(answer: Promise<T>): Promise<T> {
    return Promise.race([answer, this.#ending.then(worldOver)]);
  }

  once<T>(number: number, act: () => Promise<T>): Promise<T> {
    const known = this.#numbers.get(number) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const answer = act();
    this.#numbers.set(number, answer);
    return answer;
  }

  async sleep(ms: number): Promise<void> {
    await this.#session.sleep(ms);
    await this.#speaker.free();
  }

  async now(): Promise<number> {
    await this.#speaker.free();
    return this.#now();
  }

  async enter(resource: string, how: EnterChoice): Promise<number> {
    await this.#speaker.free();
    this.#speaker.awake();
    const { permits, uses, fence, shared, owner = ONE_OWNER, key, once } = how;
    let inside: InsideResource;
    try {
      inside = this.#session
        .resource(resource, { permits, once })
        .enter({ permits: uses, shared, owner, key, ...(fence !== undefined && { fence }) });
    } catch (error) {
      return fail(`ERR ${(error as Error).message}`);
    }
    this.#visits.push({ resource, inside });
    const id = this.#visits.length;
    this.#speaker.moved();
    await this.#speaker.acted('enters', resource);
    await this.#speaker.free();
    return id;
  }

  #visit(id: number): OpenVisit {
    return this.#visits[id - 1] ?? fail('ERR there is no visit of this number');
  }

  async write(id: number): Promise<boolean> {
    const { inside, resource } = this.#visit(id);
    await this.#speaker.free();
    this.#speaker.awake();
    const sent = inside.send();
    const acted = this.#speaker.acted('writes', resource);
    const taken = await sent;
    await acted;
    await this.#speaker.free();
    return taken;
  }

  async leave(id: number): Promise<void> {
    const { inside, resource } = this.#visit(id);
    await this.#speaker.free();
    this.#speaker.awake();
    inside.leave();
    await this.#speaker.acted('leaves', resource);
    await this.#speaker.free();
  }

  async invoke(operation: string, value: string | undefined, of: string): Promise<number> {
    await this.#speaker.free();
    this.#operations.push(this.#session.record(operation, meant(value), of));
    this.#speaker.moved();
    return this.#operations.length;
  }

  async result(id: number, outcome: 'ok' | 'failed' | 'unknown', value: string | undefined): Promise<void> {
    const recording = this.#operations[id - 1] ?? fail('ERR there is no operation of this number');
    if (outcome === 'ok') recording.ok(meant(value));
    else if (outcome === 'failed') recording.failed();
    await this.#speaker.free();
  }

  async note(text: string): Promise<void> {
    this.#speaker.noted(text);
    await this.#speaker.free();
  }

  async broken(text: string): Promise<void> {
    this.#speaker.broken(text);
    await this.#speaker.free();
  }

  beat(late: number): void {
    this.#speaker.beat(late);
  }

  async done(error: string | undefined): Promise<void> {
    this.#ended(error);
  }
}

/** The value of a text: JSON objects, lists, numbers, `true`, `false` and `null` are parsed, and everything else stays text. */
function meant(text: string | undefined): unknown {
  if (text === undefined || !/^(?:[[{].*[\]}]|true|false|null|-?\d+(?:\.\d+)?)$/s.test(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    // A number with more digits than JavaScript keeps would become another one.
    return typeof value === 'number' && String(value) !== text ? text : value;
  } catch {
    return text;
  }
}
