/** What a party is from moment to moment: a primary or a replica, dead, or standing still. */
import type { Timeline } from '../format.ts';

/** A time in which a party is dead or stands still. */
export interface Absence {
  readonly lane: string;
  readonly why: 'dead' | 'paused';
  readonly from: number;
  /** null when it lasts to the end of the run. */
  readonly to: number | null;
}

/** The marks that begin an absence, and those that end it. */
const BEGINS: Readonly<Record<string, Absence['why']>> = { crash: 'dead', kill: 'dead', pause: 'paused' };
const ENDS: Readonly<Record<string, Absence['why']>> = { restart: 'dead', resume: 'paused' };

/** When parties were dead or stood still, in the order in which that began. */
export function absencesOf({ marks }: Timeline): Absence[] {
  const all: { lane: string; why: Absence['why']; from: number; to: number | null }[] = [];
  for (const { at, lane, to, kind } of marks) {
    if (to !== undefined) continue;
    const why = BEGINS[kind];
    const ended = ENDS[kind];
    // A party that dies does not stand still any more, and one that starts again does neither.
    for (const each of all) {
      if (each.lane !== lane || each.to !== null) continue;
      if (each.why === ended || (why === 'dead' && each.why === 'paused') || kind === 'restart') each.to = at;
    }
    if (why !== undefined && !all.some((each) => each.lane === lane && each.to === null))
      all.push({ lane, why, from: at, to: null });
  }
  return all;
}

/** A time in which a clock does not show what it should. */
export interface WrongClock {
  readonly lane: string;
  readonly from: number;
  /** null when it lasts to the end of the run. */
  readonly to: number | null;
  /** By how much it is ahead, in microseconds; negative when it is behind. */
  readonly ahead: number;
  /** How fast it runs; 1 is exact. */
  readonly rate: number;
}

/** When clocks were wrong. A clock that has run too fast stays ahead when it is exact again. */
export function wrongClocksOf({ marks }: Timeline): WrongClock[] {
  const all: WrongClock[] = [];
  for (const { at, lane, kind, ahead = 0, rate } of marks) {
    if (kind !== 'clock') continue;
    const index = all.findIndex((each) => each.lane === lane && each.to === null);
    const before = all[index];
    if (before !== undefined) all[index] = { ...before, to: at };
    const now = rate ?? before?.rate ?? 1;
    if (ahead !== 0 || now !== 1) all.push({ lane, from: at, to: null, ahead, rate: now });
  }
  return all;
}

/** The roles that each node had, one after the other. Empty when no node of the run follows another. */
export function rolesOf({ lanes, marks }: Timeline): ReadonlyMap<string, readonly string[]> {
  const nodes = lanes.filter(({ kind }) => kind === 'node');
  const changes = marks.filter(({ kind }) => kind === 'follow' || kind === 'promote');
  const roles = new Map<string, string[]>();
  if (changes.length === 0 && !nodes.some(({ role }) => role !== undefined)) return roles;
  for (const { name, role: begun } of nodes) {
    const own = changes.filter(({ lane }) => lane === name);
    const first = own[0];
    // A node that never becomes a replica, and one whose first change is not a promotion, begins as a primary.
    const guessed =
      first?.kind === 'follow' && first.at <= 0 ? [] : [first?.kind === 'promote' ? 'replica' : 'primary'];
    const told: string[] = begun === undefined ? guessed : [begun];
    for (const { kind } of own) {
      const role = kind === 'promote' ? 'primary' : 'replica';
      if (told.at(-1) !== role) told.push(role);
    }
    roles.set(name, told);
  }
  return roles;
}

/** The last two roles of a node, for the space left of its lane; undefined when nothing is known. */
export function roleText(roles: readonly string[] | undefined): string | undefined {
  if (roles === undefined || roles.length === 0) return undefined;
  return roles.slice(-2).join(' \u2192 ');
}
