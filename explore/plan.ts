/** What one world of an exploration is made of, and its text, from which anybody can play the world again. */
import { anchorOf, anchorText } from './anchors/anchor.ts';
import { isFaultKind, type PlannedFault } from './faults/index.ts';

/** A world: the same plan with the same code gives the same trace. */
export interface WorldPlan {
  /** The seed of all random choices in the world. */
  readonly seed: number;
  /** The clients that take part. */
  readonly clients: readonly string[];
  /** The random part of every message's latency, in milliseconds. */
  readonly jitter: number;
  readonly faults: readonly PlannedFault[];
}

/** A plan with the beginning of the hash of its trace. */
export interface ReplayText {
  readonly plan: WorldPlan;
  readonly hash: string;
  /** True for a text of version 1, whose faults strike at fixed times. */
  readonly byTime: boolean;
}

/** The version of a text whose faults strike after events, and of one whose faults strike at times. */
const [BY_EVENTS, BY_TIME] = ['2', '1'];
/** How many hexadecimal digits of the trace's hash the text has. */
const DIGITS = 12;

/** Stands for the hash of a world that failed before its end: any trace is the same. */
export const NO_HASH = '0'.repeat(DIGITS);

/**
 * The text of a plan: `2:seed:jitter:clients:faults:hash`. A fault is `kind@anchor/on/ms/by/how=found`, and what is 0 or empty at
 * its end is left out. Without an anchor it has a time, in milliseconds since the clients started; a plan whose faults have such
 * times has a text of version 1.
 */
export function encodePlan({ seed, jitter, clients, faults }: WorldPlan, hash: string): string {
  const version = faults.some(({ after, at }) => after === undefined && at !== 0) ? BY_TIME : BY_EVENTS;
  const struck = faults.map((fault) => encodeFault(fault, version === BY_TIME));
  return [version, seed, jitter, clients.join(','), struck.join(';'), hash.slice(0, DIGITS)].join(':');
}

function encodeFault(
  { kind, at, on, ms, by, how, after, found = '' }: PlannedFault,
  byTime: boolean,
): string {
  if (byTime) return [`${kind}@${at}`, on, ms, by, how].join('/').replace(/\/+$/, '');
  const when = after === undefined ? at : anchorText(after);
  const text = [`${kind}@${when}`, on, ms || '', by || '', how].join('/').replace(/\/+$/, '');
  return found === '' ? text : `${text}=${found}`;
}

/**
 * Reads the text that `encodePlan` writes; undefined if the text is not a plan. A fault with an anchor has the time 0: when it
 * strikes is not known before the world is played (`timed`).
 */
export function decodePlan(text: string): ReplayText | undefined {
  const [version, seed = '', jitter = '', clients = '', faults = '', hash = ''] = text.trim().split(':');
  const byTime = version === BY_TIME;
  if ((version !== BY_EVENTS && !byTime) || seed === '' || !/^[0-9a-f]{12}$/.test(hash)) return undefined;
  const plan: WorldPlan = {
    seed: Number(seed),
    jitter: Number(jitter),
    clients: clients.split(','),
    faults: faults === '' ? [] : faults.split(';').map((fault) => decodeFault(fault, byTime)),
  };
  const lengths = [plan.seed, plan.jitter, ...plan.faults.flatMap(({ at, ms }) => [at, ms])];
  const isPlan =
    plan.clients.every((name) => name !== '') &&
    plan.faults.every(({ kind, by }) => isFaultKind(kind) && Number.isFinite(by)) &&
    lengths.every((length) => Number.isFinite(length) && length >= 0);
  return isPlan ? { plan, hash, byTime } : undefined;
}

function decodeFault(text: string, byTime: boolean): PlannedFault {
  const [plain = '', found] = byTime ? [text] : text.split('=', 2);
  const [what = '', on = '', ms = '', by = '', how = ''] = plain.split('/');
  const [kind = '', when = ''] = what.split('@');
  const after = byTime ? undefined : anchorOf(when);
  return {
    ...{ kind, at: after === undefined ? Number(when === '' ? Number.NaN : when) : 0 },
    ...{ on, ms: Number(ms), by: Number(by), how },
    ...(after !== undefined && { after, found: found ?? '' }),
  } as PlannedFault;
}

/** A time in milliseconds as plans hold it: whole microseconds. */
export function toMicros(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
