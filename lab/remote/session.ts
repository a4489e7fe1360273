/** What the LAB commands of a pair, or of a single server, remember between two requests: rules and the record of requests. */
import type { Interception, Intervention, RequestFilter } from '../../start/control/interceptor.ts';
import type { RequestRecording } from '../../start/control/recording.ts';
import type { DumpEntry, Seed } from '../../start/dataset.ts';

/** A node of a pair, as far as it can be named. */
export interface NamedNode {
  readonly name: string;
  intercept(filter: RequestFilter, intervention: Intervention): Interception;
  dump(): DumpEntry[];
}

/** A pair, or a single server: what both can do over the wire. */
export interface LabSubject {
  intercept(filter: RequestFilter, intervention: Intervention): Interception;
  /** @param most how many requests it keeps at least: the newest ones */
  requests(most?: number): RequestRecording;
  seed(data: Seed): void;
  dump(): DumpEntry[];
  /** Lets time pass. */
  advance(ms: number): Promise<void>;
  /** The nodes that can be named; of a single server, none. */
  readonly nodes: readonly NamedNode[];
}

/** So many requests are kept: the newest ones. */
const MOST_REQUESTS = 10_000;

/** A rule that was added over the wire. */
export interface NumberedRule {
  readonly id: number;
  /** The rule as it was asked for. */
  readonly words: readonly string[];
  readonly interception: Interception;
}

/** What is remembered about one subject. */
export class LabSession {
  readonly subject: LabSubject;
  readonly #rules = new Map<number, NumberedRule>();
  #lastId = 0;
  #recording: RequestRecording | undefined;

  constructor(subject: LabSubject) {
    this.subject = subject;
  }

  /** Begins to record the requests. */
  record(): RequestRecording {
    this.#recording ??= this.subject.requests(MOST_REQUESTS);
    return this.#recording;
  }

  /** The rules, in the order in which they were added. */
  get rules(): readonly NumberedRule[] {
    return [...this.#rules.values()];
  }

  /** Keeps a rule. Returns its number. */
  add(words: readonly string[], interception: Interception): number {
    const id = ++this.#lastId;
    this.#rules.set(id, { id, words, interception });
    return id;
  }

  /** Removes a rule. Returns false if there is none of this number. */
  remove(id: number): boolean {
    const rule = this.#rules.get(id);
    rule?.interception.remove();
    return this.#rules.delete(id);
  }
}

const sessions = new WeakMap<LabSubject, LabSession>();

/** The session of a subject. */
export function sessionOf(subject: LabSubject): LabSession {
  let session = sessions.get(subject);
  if (session === undefined) sessions.set(subject, (session = new LabSession(subject)));
  return session;
}
