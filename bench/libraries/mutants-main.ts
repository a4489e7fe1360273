/** `npm run explore:mutants`: plants one defect at a time in our scripts and in a sample library, and explores each. */
import '../../lab/router.ts';
import { parseArgs } from 'node:util';
import { type ClientSession, type ExploreOptions, explore, type FaultName } from '../../explore/index.ts';
import { createLocks } from '../../locks/index.ts';
import { defineScript, type LockScript } from '../../locks/scripts/define.ts';
import { fencedAcquireScript } from '../../locks/scripts/fenced.ts';
import { readAcquireScript } from '../../locks/scripts/read-write.ts';
import {
  reentrantAcquireScript,
  reentrantFreeScript,
  reentrantReleaseScript,
} from '../../locks/scripts/reentrant.ts';
import { simpleAcquireScript, simpleReleaseScript } from '../../locks/scripts/simple.ts';
import { type Mutant, ownMutants, sampleMutants } from './mutants.ts';
import { type Granted, sampleAcquire, sampleHabits, sampleScripts } from './sample.ts';

process.setSourceMapsEnabled(false);

const { values } = parseArgs({
  options: { worlds: { type: 'string', default: '200' }, only: { type: 'string' } },
});
/** Milliseconds. A client works for more than a lease, so that it needs another one. */
const [LEASE, STEP] = [1000, 50];
const STEPS = 28;
/** How many steps those work that cannot ask for another lease. */
const SHORT = 10;
const PERMITS = 2;

/** What a lock on one server with one replica survives, if it is right: no write is lost. */
const FAULTS: readonly FaultName[] = [
  ...(['client-pause', 'client-death', 'partition', 'delay', 'lost-request', 'lost-reply'] as const),
  ...(['connection-reset', 'node-pause', 'restart-disk', 'script-flush', 'busy', 'out-of-memory'] as const),
];

interface Held {
  isValid(): boolean;
  extend(): Promise<unknown>;
  release(): Promise<unknown>;
  /** Calls back when the client learns that it has lost the lock. */
  onLost?(leave: () => void): void;
}

const none = async (): Promise<void> => {};

/** Works in steps, asks for another lease in the middle, and stops as soon as it knows that the lease is over. */
async function work(
  { sleep, resource }: ClientSession,
  held: Held,
  enter: { shared?: boolean; permits?: number; fence?: number } = {},
  permits = 1,
): Promise<void> {
  const inside = resource('stock', { permits }).enter(enter);
  held.onLost?.(() => inside.leave());
  inside.write();
  const steps = held.extend === none ? SHORT : STEPS;
  const goesOn = (): boolean => held.isValid() || !sampleHabits.checks;
  let extended: Promise<unknown> | undefined;
  for (let step = 0; step < steps && goesOn(); step++) {
    if (step === steps / 2) extended = held.extend();
    await sleep(STEP);
    if (goesOn()) inside.write();
  }
  inside.leave();
  await extended;
  await held.release();
}

function writes({ name }: ClientSession): boolean {
  return name !== 'A' && name !== 'B';
}

function sampled(
  take: 'acquire' | 'enter',
  give: 'release' | 'leave',
  keys: readonly string[],
): (session: ClientSession) => Promise<Granted> {
  return ({ redis, name, sleep }) =>
    sampleAcquire(redis, { take, give }, keys, { name, lease: LEASE, permits: PERMITS, sleep });
}

/** A lock of ours as this file uses it. */
function asHeld(held: {
  readonly signal: AbortSignal;
  assertHeld(): void;
  extend(leaseMs?: number): Promise<unknown>;
  release(): Promise<unknown>;
}): Held {
  return {
    isValid: () => {
      try {
        held.assertHeld();
        return true;
      } catch {
        return false;
      }
    },
    onLost: (leave) => held.signal.addEventListener('abort', leave),
    extend: () => held.extend(LEASE).catch(() => undefined),
    release: () => held.release().catch(() => undefined),
  };
}

const subjects: Readonly<Record<Exclude<Mutant['subject'], 'permits'>, ExploreOptions['client']>> = {
  simple: async (session) => {
    await using locks = createLocks(session.redis);
    await work(session, asHeld(await locks.simple('lock').acquire({ leaseMs: LEASE })));
  },
  reentrant: async (session) => {
    await using locks = createLocks(session.redis);
    const lock = locks.reentrant('lock');
    if (session.name !== 'A') {
      await work(session, asHeld(await lock.acquire({ leaseMs: LEASE })));
      return;
    }
    // The inner hold ends first: then the outer one must still be there.
    await lock.using({ leaseMs: LEASE }, async (outer) => {
      await lock.using({ leaseMs: LEASE }, () => session.sleep(STEP));
      await work(session, { ...asHeld(outer), release: none });
    });
  },
  fenced: async (session) => {
    await using locks = createLocks(session.redis);
    const held = await locks.fenced('lock').acquire({ leaseMs: LEASE });
    await work(session, asHeld(held), { fence: held.fence as number });
  },
  readers: async (session) => {
    await using locks = createLocks(session.redis);
    const shared = !writes(session);
    const lock = locks.readWrite('lock')[shared ? 'read' : 'write'];
    await work(session, asHeld(await lock.acquire({ leaseMs: LEASE })), { shared });
  },
  lock: async (session) => {
    const held = await sampled('acquire', 'release', ['lock', 'fence'])(session);
    session.resource('numbers').enter({ fence: held.fence }).leave();
    await work(session, held);
  },
  semaphore: async (session) => {
    const held = await sampled('enter', 'leave', ['permits'])(session);
    await work(session, { ...held, extend: none }, { permits: 1 }, PERMITS);
  },
  sharing: async (session) => {
    const { redis, name, sleep } = session;
    const names = writes(session)
      ? ({ take: 'write', give: 'release' } as const)
      : ({ take: 'read', give: 'leave' } as const);
    const gives = writes(session) ? ['writer'] : ['readers'];
    const held = await sampleAcquire(redis, names, ['readers', 'writer'], {
      name,
      lease: LEASE,
      sleep,
      gives,
    });
    await work(session, { ...held, extend: none }, { shared: !writes(session) });
  },
};

const scripts: readonly LockScript[] = [
  ...[simpleAcquireScript, simpleReleaseScript, reentrantAcquireScript, reentrantReleaseScript],
  ...[reentrantFreeScript, fencedAcquireScript, readAcquireScript],
];

/** Plants a defect. Returns what removes it. Throws when the text to replace is not there. */
function plant({ where, find, replace }: Mutant): () => void {
  if (where === 'habits') {
    const habits = sampleHabits as Record<string, unknown>;
    const before = habits[find];
    habits[find] = replace === '' ? false : Number(replace);
    return () => {
      habits[find] = before;
    };
  }
  if (where in sampleScripts) {
    const name = where as keyof typeof sampleScripts;
    const before = sampleScripts[name];
    sampleScripts[name] = edited(before, find, replace);
    return () => {
      sampleScripts[name] = before;
    };
  }
  const script = scripts.find(({ name }) => name === where) as LockScript;
  const before = Object.getOwnPropertyDescriptor(script, 'text') as PropertyDescriptor;
  const { text, sha } = defineScript(where, edited(script.text, find, replace));
  Object.defineProperties(script, {
    text: { value: text, configurable: true },
    sha: { value: sha, configurable: true },
  });
  return () => {
    Object.defineProperty(script, 'text', before);
    delete (script as { sha?: string }).sha;
  };
}

function edited(text: string, find: string, replace: string): string {
  if (!text.includes(find)) throw new Error(`the script does not have: ${find}`);
  return text.replace(find, () => replace);
}

async function search(name: string, subject: Mutant['subject']): Promise<string | undefined> {
  const stop = new AbortController();
  const report = await explore({
    ...{ name, faults: FAULTS, signal: stop.signal },
    // Two readers and two writers.
    clients: subject === 'readers' || subject === 'sharing' ? 4 : 3,
    client: subjects[subject as keyof typeof subjects],
    budget: { worlds: Number(values.worlds), ms: Infinity },
    progress: ({ findings }) => {
      if (findings > 0) stop.abort();
    },
  }).catch((error: Error) => error);
  // A mutant that never grants anything is found in the first world.
  if (report instanceof Error) return report.message.split('\n')[0];
  const [finding] = report.findings.filter(({ promise }) => promise !== 'contended');
  return finding && `${finding.promise} (${finding.cause}) in world ${finding.firstIn}`;
}

let wrong = 0;
for (const subject of Object.keys(subjects) as Mutant['subject'][]) {
  const found = await search(subject, subject);
  if (found !== undefined) wrong++;
  console.log(
    `${found === undefined ? 'nothing, as expected' : 'NOT EXPECTED'}  ${subject} without a defect: ${found ?? ''}`,
  );
}
let found = 0;
const missed: Mutant[] = [];
const all = [...ownMutants, ...sampleMutants].filter(
  ({ subject }) => values.only === undefined || subject === values.only,
);
for (const mutant of all) {
  const title = `${mutant.where}: ${mutant.find} -> ${mutant.replace}`.replaceAll('\n', ' ');
  const remove = plant(mutant);
  const what = await search(title, mutant.subject);
  remove();
  if (what === undefined) missed.push(mutant);
  else found++;
  console.log(
    `${what === undefined ? 'not found' : 'found    '}  ${title}: ${what ?? mutant.harmless ?? 'NOT EXPLAINED'}`,
  );
}
const unexplained = missed.filter(({ harmless }) => harmless === undefined).length;
console.log(
  `${found} of ${all.length} defects found; ${missed.length} not found, ${unexplained} of them not explained; ${wrong} findings without a defect`,
);
if (unexplained + wrong > 0) process.exitCode = 1;
