/** What one world of an exploration is made of, and its text, from which anybody can play the world again. */
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
}

/** The version of the text. */
const VERSION = '1';
/** How many hexadecimal digits of the trace's hash the text has. */
const DIGITS = 12;

/** Stands for the hash of a world that failed before its end: any trace is the same. */
export const NO_HASH = '0'.repeat(DIGITS);

/** The text of a plan: `1:seed:jitter:clients:faults:hash`. */
export function encodePlan({ seed, jitter, clients, faults }: WorldPlan, hash: string): string {
  const struck = faults.map(({ kind, at, on, ms, by, how }) =>
    [`${kind}@${at}`, on, ms, by, how].join('/').replace(/\/+$/, ''),
  );
  return [VERSION, seed, jitter, clients.join(','), struck.join(';'), hash.slice(0, DIGITS)].join(':');
}

/** Reads the text that `encodePlan` writes; undefined if the text is not a plan. */
export function decodePlan(text: string): ReplayText | undefined {
  const [version, seed = '', jitter = '', clients = '', faults = '', hash = ''] = text.trim().split(':');
  if (version !== VERSION || seed === '' || !/^[0-9a-f]{12}$/.test(hash)) return undefined;
  const plan: WorldPlan = {
    seed: Number(seed),
    jitter: Number(jitter),
    clients: clients.split(','),
    faults: faults === '' ? [] : faults.split(';').map(decodeFault),
  };
  const lengths = [plan.seed, plan.jitter, ...plan.faults.flatMap(({ at, ms }) => [at, ms])];
  const isPlan =
    plan.clients.every((name) => name !== '') &&
    plan.faults.every(({ kind, by }) => isFaultKind(kind) && Number.isFinite(by)) &&
    lengths.every((length) => Number.isFinite(length) && length >= 0);
  return isPlan ? { plan, hash } : undefined;
}

function decodeFault(text: string): PlannedFault {
  const [what = '', on = '', ms = '0', by = '0', how = ''] = text.split('/');
  const [kind = '', at = ''] = what.split('@');
  return { kind, at: Number(at), on, ms: Number(ms), by: Number(by), how } as PlannedFault;
}

/** A time in milliseconds as plans hold it: whole microseconds. */
export function toMicros(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
