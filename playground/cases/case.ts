/** What the playground plays, and its text for the address bar, from which anybody plays the same again. */
import { playNodes } from './locks.ts';
import { STORIES } from './stories.ts';

/** A fault that the user, or a search, has put into the run. Times are in milliseconds. */
export interface PlayStep {
  /** The kind of fault, as explorations name it (docs/explore.md), or `hold` and `promote`. */
  readonly kind: string;
  /** When it strikes, after the clients have started. */
  readonly at: number;
  /** The client or node that it strikes. */
  readonly on: string;
  /** How long it lasts. */
  readonly ms: number;
  /** How strong it is, such as by how much a clock jumps. */
  readonly by: number;
  /** Which flavour of the fault it is. */
  readonly how: string;
}

/** One run of the playground. The same case gives the same run, byte for byte. */
export interface PlayCase {
  /** A story of the demo; empty for a run of the user's own. */
  readonly story: string;
  /** The name of the lock whose code is played. */
  readonly lock: string;
  /** The code of the clients. */
  readonly code: string;
  /** The name of the topology. */
  readonly nodes: string;
  /** The names of the clients. */
  readonly clients: readonly string[];
  /** The seed of all random choices. */
  readonly seed: number;
  /** The random part of every message's latency, in milliseconds. */
  readonly jitter: number;
  readonly steps: readonly PlayStep[];
}

/** The text of steps: `hold@5/redis-2/2000;failover@20/redis-1/20/0/crash`, as in the replay texts of explorations. */
export function stepsText(steps: readonly PlayStep[]): string {
  return steps
    .map(({ kind, at, on, ms, by, how }) => [`${kind}@${at}`, on, ms, by, how].join('/').replace(/\/+$/, ''))
    .join(';');
}

/** Reads what `stepsText` writes; leaves out what is no step. */
export function readSteps(text: string): PlayStep[] {
  return text.split(';').flatMap((part): PlayStep[] => {
    const [what = '', on = '', ms = '0', by = '0', how = ''] = part.split('/');
    const [kind = '', at = ''] = what.split('@');
    const step = { kind, at: Number(at), on, ms: Number(ms), by: Number(by), how };
    const fine = [step.at, step.ms, step.by].every(Number.isFinite) && step.at >= 0 && step.ms >= 0;
    return fine && at !== '' && /^[a-z-]+$/.test(kind) ? [step] : [];
  });
}

/** The text of a case for the address bar. @param codeOf the code of a lock by its name, which the text leaves out */
export function caseText(play: PlayCase, codeOf: (lock: string) => string | undefined): string {
  const words = new URLSearchParams();
  if (play.story !== '') words.set('story', play.story);
  else {
    words.set('lock', play.lock);
    words.set('nodes', play.nodes);
    words.set('clients', play.clients.join(','));
    if (play.jitter !== 0) words.set('jitter', String(play.jitter));
    if (play.steps.length > 0) words.set('steps', stepsText(play.steps));
    if (play.code !== codeOf(play.lock)) words.set('code', play.code);
  }
  words.set('seed', String(play.seed));
  return words
    .toString()
    .replaceAll('%40', '@')
    .replaceAll('%2F', '/')
    .replaceAll('%3B', ';')
    .replaceAll('%2C', ',');
}

/** Reads what `caseText` writes. What is missing or wrong is taken from `first`. */
export function readCase(
  text: string,
  first: PlayCase,
  codeOf: (lock: string) => string | undefined,
): PlayCase {
  // A semicolon separates nothing in URLSearchParams, so that steps may hold it.
  const words = new URLSearchParams(text.replace(/^#/, ''));
  const lock = words.get('lock') ?? first.lock;
  const known = codeOf(lock);
  return {
    story: oneOf(STORIES, words.get('story')) ?? '',
    lock: known === undefined ? first.lock : lock,
    code: words.get('code') ?? known ?? first.code,
    nodes: oneOf(playNodes, words.get('nodes')) ?? first.nodes,
    clients: clientNames(words.get('clients')) ?? first.clients,
    seed: whole(within(words.get('seed'), 0, 2 ** 32 - 1)) ?? first.seed,
    jitter: within(words.get('jitter'), 0, 1000) ?? 0,
    steps: readSteps(words.get('steps') ?? ''),
  };
}

/** The name, if it is one of those that can be chosen. */
function oneOf(
  choices: readonly (readonly [name: string, title: string])[],
  text: string | null,
): string | undefined {
  return choices.find(([name]) => name === text)?.[0];
}

/** As many as can be chosen. */
function clientNames(text: string | null): readonly string[] | undefined {
  return text !== null && /^[A-Z](,[A-Z]){0,4}$/.test(text) ? [...new Set(text.split(','))] : undefined;
}

function within(text: string | null, low: number, high: number): number | undefined {
  const value = Number(text || Number.NaN);
  return Number.isFinite(value) && value >= low && value <= high ? value : undefined;
}

function whole(value: number | undefined): number | undefined {
  return Number.isInteger(value) ? value : undefined;
}
