/** Programs about replication: what clients ask a node, and what its replicas and its primary do, as lines of text. */
import { splitWords } from '../../transcripts/transcript.ts';

/** The replicas and primaries of a program. Each is played by the tester, so that nothing happens by itself. */
export const PEERS = ['r1', 'r2', 'r3'] as const;
/** The min-replicas-max-lag of programs that set min-replicas-to-write. */
export const MAX_LAG = 5;
export const CLIENTS = ['A', 'B', 'C'] as const;
export type PeerName = (typeof PEERS)[number];

/**
 * What a peer does when the node follows it: it sends an empty dataset, or the head of one, or resumes the node's stream,
 * or refuses, or says nothing.
 */
export const OFFERS = ['a dataset', 'half a dataset', 'the rest', 'a refusal', 'nothing'] as const;
export type Offer = (typeof OFFERS)[number];

/**
 * One step:
 *
 *     A> SET k v | WAIT 1 0     requests of a client, in one write; <r1> is a peer's port, <A> a client's id
 *     A leaves                  the client hangs up, and comes back
 *     r1 follows, r1 resumes    a replica asks for everything, or for what it lacks
 *     r1 syncs                  a replica asks for everything with SYNC, as before Redis 2.8
 *     r1 stops, r1 goes on      it answers REPLCONF GETACK no more, or again; then it answers the last one
 *     r1 acks 2 back            it acknowledges what it has, but for the last two commands; 'and syncs 1 back': on its disk
 *     r1 leaves                 its link breaks
 *     r1 offers a refusal       what it answers when the node follows it
 *     r1 sends SET k v          as a primary; 'sends half': the first half of the bytes, the rest comes with the next step
 *     r1 drops the node         the link breaks
 *     replicas lag              no replica has acknowledged for longer than min-replicas-max-lag
 *     time passes               a few milliseconds
 */
export type Step =
  | { readonly kind: 'ask'; readonly who: string; readonly requests: readonly (readonly string[])[] }
  | { readonly kind: 'ack'; readonly who: PeerName; readonly back: number; readonly synced?: number }
  | { readonly kind: 'offer'; readonly who: PeerName; readonly offer: Offer }
  | {
      readonly kind: 'send';
      readonly who: PeerName;
      readonly words: readonly string[];
      readonly half: boolean;
    }
  | {
      readonly kind: 'follow' | 'resume' | 'sync' | 'stop' | 'continue' | 'leave' | 'drop';
      readonly who: PeerName;
    }
  | { readonly kind: 'hang up'; readonly who: string }
  | { readonly kind: 'lag' | 'time' };

export interface Program {
  /** Settings that the node starts with. */
  readonly settings: readonly (readonly [name: string, value: string])[];
  readonly steps: readonly Step[];
}

const DEEDS: Readonly<Record<string, 'follow' | 'resume' | 'sync' | 'stop' | 'continue' | 'leave' | 'drop'>> =
  {
    follows: 'follow',
    resumes: 'resume',
    syncs: 'sync',
    stops: 'stop',
    'goes on': 'continue',
    leaves: 'leave',
    'drops the node': 'drop',
  };

function isPeer(name: string): name is PeerName {
  return (PEERS as readonly string[]).includes(name);
}

function quoted(word: string): string {
  return /^[^\s"'\\|]+$/.test(word) ? word : JSON.stringify(word);
}

function line(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

/** The step as a line. */
export function printStep(step: Step): string {
  switch (step.kind) {
    case 'ask':
      return `${step.who}> ${step.requests.map(line).join(' | ')}`;
    case 'ack': {
      const synced = step.synced === undefined ? '' : ` and syncs ${step.synced} back`;
      return `${step.who} acks ${step.back} back${synced}`;
    }
    case 'offer':
      return `${step.who} offers ${step.offer}`;
    case 'send':
      return `${step.who} sends ${step.half ? 'half ' : ''}${line(step.words)}`;
    case 'hang up':
      return `${step.who} leaves`;
    case 'lag':
      return 'replicas lag';
    case 'time':
      return 'time passes';
    default:
      return `${step.who} ${Object.keys(DEEDS).find((words) => DEEDS[words] === step.kind)}`;
  }
}

/** The step of a line. Throws when it is none. */
export function parseStep(text: string): Step {
  const [, asker, requests] = /^(\w+)> (.*)$/.exec(text) ?? [];
  if (asker !== undefined && requests !== undefined) {
    return { kind: 'ask', who: asker, requests: requests.split(' | ').map(splitWords) };
  }
  if (text === 'replicas lag') return { kind: 'lag' };
  if (text === 'time passes') return { kind: 'time' };
  const [, who = '', rest = ''] = /^(\w+) (.*)$/.exec(text) ?? [];
  if (!isPeer(who)) {
    if (rest === 'leaves') return { kind: 'hang up', who };
    throw new Error(`not a step: ${text}`);
  }
  const deed = DEEDS[rest];
  if (deed !== undefined) return { kind: deed, who };
  const [, back, synced] = /^acks (\d+) back(?: and syncs (\d+) back)?$/.exec(rest) ?? [];
  if (back !== undefined) {
    return { kind: 'ack', who, back: Number(back), ...(synced !== undefined && { synced: Number(synced) }) };
  }
  const offer = OFFERS.find((each) => rest === `offers ${each}`);
  if (offer !== undefined) return { kind: 'offer', who, offer };
  const [, half, words] = /^sends (half )?(.*)$/.exec(rest) ?? [];
  if (words === undefined) throw new Error(`not a step: ${text}`);
  return { kind: 'send', who, words: splitWords(words), half: half !== undefined };
}
