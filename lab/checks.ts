/** Checks of what tests ask of the lab's controls: what is wrong is refused before anything has changed. */
import { badOption, checkFlag, checkInteger, checkNames, checkSettings } from '../embed/options.ts';
import type { Settings } from '../server/settings/settings.ts';
import type { KeepData } from './failover/journal.ts';
import type { FailoverOptions, SetSizes, Starter } from './failover/roles.ts';
import type { Amount, Delays } from './links/gate.ts';
import type { CrashOptions } from './virtual/node.ts';
import type { WorldOptions } from './virtual/world.ts';

/** Throws unless the value is a time span in milliseconds, of which fractions count. */
export function checkMillis(name: string, value: unknown): void {
  if (typeof value !== 'number' || !(value >= 0 && value < Infinity)) {
    throw badOption(name, value, 'milliseconds from 0');
  }
}

/** Throws unless the value is a function. */
export function checkCode(name: string, value: unknown): void {
  if (typeof value !== 'function')
    throw badOption(name, value, 'a function, which is called inside the world');
}

/** Throws unless the value can be awaited. */
export function checkPromise(name: string, value: unknown): void {
  if (typeof (value as PromiseLike<unknown> | undefined)?.then !== 'function') {
    throw badOption(name, value, 'a promise');
  }
}

/** Throws unless the value is a finite number. */
export function checkNumber(name: string, value: unknown, allowed: string, least = -Infinity): void {
  if (!Number.isFinite(value) || (value as number) <= least) throw badOption(name, value, allowed);
}

/** Throws unless the value counts messages; Infinity stands for all to come. */
export function checkMessages(name: string, value: unknown): void {
  if (value !== Infinity) checkInteger(name, value, 0, Number.MAX_SAFE_INTEGER);
}

export function checkAmount(amount: Amount): void {
  checkNames(amount, ['messages', 'bytes'], 'release');
  for (const name of ['messages', 'bytes'] as const) {
    if (amount[name] !== undefined) checkMessages(`release.${name}`, amount[name]);
  }
}

export function checkDelays(where: string, delays: Partial<Delays>): void {
  checkNames(delays, ['latency', 'jitter'], where);
  for (const name of ['latency', 'jitter'] as const) {
    if (delays[name] !== undefined) checkMillis(`${where}.${name}`, delays[name]);
  }
}

export function checkCrash(where: string, options: CrashOptions): void {
  checkNames(options, ['keep', 'silent'], where);
  const { keep, silent } = options;
  if (keep !== undefined) checkKeep(`${where}.keep`, keep);
  if (silent !== undefined) checkFlag(`${where}.silent`, silent);
}

const KEPT: readonly unknown[] = ['nothing', 'everything', 'synced'];

function checkKeep(name: string, keep: KeepData): void {
  if (KEPT.includes(keep)) return;
  const offset = typeof keep === 'object' ? (keep as { offset?: unknown } | null)?.offset : undefined;
  if (!Number.isSafeInteger(offset)) {
    throw badOption(name, keep, "'nothing', 'everything', 'synced' or { offset } with a replication offset");
  }
}

/** Throws for what a failover cannot be; `nodes` are those that there are. */
export function checkFailover(options: FailoverOptions, nodes: readonly { readonly name: string }[]): void {
  checkNames(options, ['crash', 'after', 'to', 'demote'], 'failover');
  const { crash, after, to, demote } = options;
  if (typeof crash === 'object' && crash !== null) checkCrash('failover.crash', crash);
  else if (crash !== undefined) checkFlag('failover.crash', crash, ' or the options of a crash');
  if (after !== undefined) checkMillis('failover.after', after);
  const names = nodes.map(({ name }) => name);
  if (to !== undefined && !names.includes(to))
    throw badOption('failover.to', to, `a node's name: ${names.join(', ')}`);
  if (demote !== undefined) checkFlag('failover.demote', demote);
}

/** Throws unless the clock is one that there is; without one it is the virtual clock. */
export function checkClock(starter: Starter, options: unknown): void {
  if (typeof options !== 'object' || options === null)
    throw badOption(starter, options, 'an object of options');
  const { clock } = options as { clock?: unknown };
  if (clock !== undefined && clock !== 'virtual' && clock !== 'real') {
    throw badOption('clock', clock, "'virtual' (the default) and 'real'");
  }
}

/** Throws for what the sets of either clock cannot be; `names` are the options that there are besides. */
export function checkSets(
  options: SetSizes & { readonly quorum?: boolean; readonly settings?: Partial<Settings> },
  names: readonly string[],
  starter: Starter,
  most: number,
): void {
  const { primaries, replicas, quorum, settings = {} } = options;
  const sizes = starter === 'startPair' ? ['replicas'] : ['primaries', 'replicas'];
  checkNames(options, ['clock', ...sizes, 'settings', 'commands', 'quorum', ...names], starter);
  if (primaries !== undefined) checkInteger('primaries', primaries, 1, most);
  if (replicas !== undefined) checkInteger('replicas', replicas, 0, most);
  if (quorum !== undefined) checkFlag('quorum', quorum);
  checkSettings(settings, true);
}

export function checkWorld({ seed, start, patience, network }: WorldOptions): void {
  if (seed !== undefined && typeof seed !== 'string') checkNumber('seed', seed, 'a number or a string');
  if (start !== undefined) checkInteger('start', start, 0, 8.64e15 / 1000);
  if (patience !== undefined) checkMillis('patience', patience);
  if (network !== undefined) checkDelays('network', network);
}
