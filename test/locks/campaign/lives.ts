/** Runs the lives of one task: acquires, works, extends, enters again, releases, and reports each step to the judge. */
import { defined } from '../../../base/defined.ts';
import type { Actor } from '../../../lab/time/actor.ts';
import { type AcquireOptions, type HeldLock, LockTimeout, type PermitOptions } from '../../../locks/index.ts';
import { kindNames, kinds, titlesOf } from '../../../locks/kinds/index.ts';
import type { Holder, Judge } from './judge.ts';
import type { Entry, Kit } from './kinds.ts';
import type { KindName, Life, Plan, Step } from './plan.ts';

/** What the judge asks for when everything is over. */
export const FINAL: Life = {
  id: 0,
  after: 0,
  mode: 'write',
  part: 0,
  owner: undefined,
  leaseMs: undefined,
  waitMs: undefined,
  abortAfter: undefined,
  permits: 1,
  using: false,
  steps: [],
  end: 'release',
};

/** Why a life gave up. */
const ENOUGH = new Error('enough waited');

/** What a task works with. */
export interface Home {
  readonly plan: Plan;
  readonly judge: Judge;
  readonly actor: Actor;
  readonly kit: Kit;
  /** The task's name. */
  readonly name: string;
  /** The history of each latch. */
  readonly latch: Latch;
}

/** What is known of the count of a latch. */
export interface Latch {
  /** Count-downs that were started, and those that were confirmed. */
  begun: number;
  done: number;
  unknown: boolean;
}

/** Passes time on the client's own timers. */
export function pass(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Runs one life after the other. */
export async function liveAll(home: Home, lives: readonly Life[]): Promise<void> {
  for (const life of lives) await live(home, life);
}

async function live(home: Home, life: Life): Promise<void> {
  await pass(life.after);
  if (home.plan.kind === 'latch') return await liveWithLatch(home, life);
  const options = optionsOf(home, life);
  if (life.using && home.plan.kind !== 'segmented') return await liveUsing(home, life, options);
  const askedAt = home.judge.now;
  home.judge.tell(`${nameOf(home, life)} asks ${describe(life)}`);
  const entries = await acquire(home, life, options);
  if (entries) await hold(home, life, entries, askedAt);
}

async function acquire(home: Home, life: Life, options: AcquireOptions): Promise<Entry[] | null> {
  const { judge } = home;
  try {
    const entries = await home.kit.acquire(life, options, life.waitMs === 0);
    if (!entries) judge.tell(`${nameOf(home, life)} does not get it`);
    return entries;
  } catch (error) {
    if (error === ENOUGH) judge.tell(`${nameOf(home, life)} gives up`);
    else judge.threw(`acquiring for ${nameOf(home, life)}`, error);
    if (life.waitMs === undefined && error instanceof LockTimeout)
      judge.report('error', `${nameOf(home, life)} waits for ever, and timed out`);
    return null;
  }
}

async function liveUsing(home: Home, life: Life, options: AcquireOptions): Promise<void> {
  const { judge, kit } = home;
  const askedAt = judge.now;
  judge.tell(`${nameOf(home, life)} uses ${describe(life)}`);
  let holders: readonly Holder[] = [];
  try {
    const lock = await kit.lockFor(life);
    await lock.using(options, async (held) => {
      holders = begin(home, life, kit.entries(life, held), askedAt);
      await work(home, life, held, holders);
      for (const holder of holders) judge.ended(holder, 'leaves');
    });
  } catch (error) {
    if (error === ENOUGH) judge.tell(`${nameOf(home, life)} gives up`);
    else judge.threw(`using for ${nameOf(home, life)}`, error);
  }
  for (const holder of holders) judge.ended(holder, 'is over');
}

function begin(home: Home, life: Life, entries: readonly Entry[], askedAt: number): Holder[] {
  const { actor, judge } = home;
  return entries.map((each) => {
    const name = `${nameOf(home, life)}${entries.length > 1 ? ` of ${each.lock}` : ''}`;
    const renewed = life.leaseMs === undefined || home.plan.kind === 'session';
    const holder: Holder = { ...each, name, actor, renewed, askedAt, grantedAt: judge.now, over: false };
    judge.granted(holder);
    return holder;
  });
}

async function hold(home: Home, life: Life, entries: readonly Entry[], askedAt: number): Promise<void> {
  const { judge } = home;
  const holders = begin(home, life, entries, askedAt);
  const { held } = entries[0] as Entry;
  await work(home, life, held, holders);
  if (life.end === 'leave') return; // It is never released: its lease ends by itself.
  if (life.end === 'lapse') await untilLost(held);
  for (const holder of holders) judge.ended(holder, 'releases');
  const releases = life.end === 'twice' ? [held.release(), held.release()] : [held.release()];
  for (const outcome of await Promise.allSettled(releases)) {
    if (outcome.status === 'rejected') judge.threw(`releasing ${nameOf(home, life)}`, outcome.reason);
  }
}

/** Waits until an explicit lease ends and the holder is notified. */
function untilLost({ signal }: HeldLock): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve());
  });
}

async function work(home: Home, life: Life, held: HeldLock, holders: readonly Holder[]): Promise<void> {
  const visit = (): boolean => holders.every((holder) => home.judge.visit(holder));
  if (!visit()) return;
  for (const step of life.steps) {
    await act(home, step, held, nameOf(home, life));
    if (!visit()) return;
  }
}

async function act(home: Home, step: Step, held: HeldLock, name: string): Promise<void> {
  if (step.do === 'work') await pass(step.ms);
  else if (step.do === 'nest') await live({ ...home, name }, step.life);
  else {
    home.judge.tell(`${name} extends${step.ms === undefined ? '' : ` by ${step.ms} ms`}`);
    await held.extend(step.ms).then(
      () => home.judge.tell(`${name} has extended`),
      (error: unknown) => home.judge.threw(`extending ${name}`, error),
    );
  }
}

/** Readers wait for the latch, writers count it down. */
async function liveWithLatch({ judge, kit, latch, plan, name }: Home, life: Life): Promise<void> {
  const gate = kit.locks.latch('L');
  const who = `${name}.${life.id}`;
  try {
    if (life.mode === 'write') {
      latch.begun++;
      judge.tell(`${who} counts down`);
      const left = await gate.countDown();
      latch.done++;
      judge.tell(`${who} has counted down to ${left}`);
    } else {
      await gate.await({ waitMs: life.waitMs ?? 1000 });
      if (latch.begun < plan.units && !judge.promises.excusesLeaks)
        judge.report('latch', `open for ${who} after ${latch.begun} of ${plan.units} were begun`);
    }
  } catch (error) {
    if (life.mode === 'write') latch.unknown = true;
    judge.threw(who, error);
  }
}

/** Kinds whose holds have no leases. */
const UNLEASED: readonly KindName[] = titlesOf(kindNames.filter((kind) => !kinds[kind].leased));

function optionsOf({ name, plan }: Home, life: Life): AcquireOptions & Pick<PermitOptions, 'permits'> {
  const { leaseMs, waitMs, abortAfter, owner, permits } = life;
  const task = name.split('.')[0] as string;
  return {
    ...(leaseMs !== undefined && !UNLEASED.includes(plan.kind) && { leaseMs }),
    ...defined({ waitMs }),
    ...(plan.kind === 'semaphore' && { permits }),
    ...(abortAfter !== undefined && { signal: abortsAfter(abortAfter) }),
    ...(owner !== undefined && { owner: owner === 'client' ? 'shared' : task }),
  };
}

function abortsAfter(ms: number): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(ENOUGH), ms);
  return controller.signal;
}

function nameOf({ name }: Home, life: Life): string {
  return `${name}.${life.id}`;
}

function describe({ mode, part, owner, leaseMs, waitMs, permits, end }: Life): string {
  const more = [
    `${mode}, part ${part}`,
    owner === undefined ? 'nobody in particular' : `owner: ${owner}`,
    leaseMs === undefined ? 'watchdog' : `lease ${leaseMs} ms`,
    waitMs === undefined ? 'for ever' : `waits ${waitMs} ms`,
    permits === 1 ? '' : `${permits} permits`,
    `will ${end}`,
  ];
  return `(${more.filter((text) => text !== '').join(', ')})`;
}
