/** What the benchmark asks of every system that grants locks, and how it measures one. */

/** A client of a lock system. */
export interface LockClient {
  /** Takes the lock of this name. False when it is not granted in time. @param waitMs milliseconds */
  acquire(name: string, waitMs: number): Promise<boolean>;
  release(): Promise<void>;
  /** From now on the client's process stands still: it renews nothing. */
  stall(): void;
  close(): Promise<void>;
}

/** The servers of a lock system. */
export interface Ensemble {
  client(name: string): Promise<LockClient>;
  /** Kills the node that decides, and what replaces it takes over. */
  killLeader(): Promise<void>;
  /** Kills the node that decides, and starts it again without its data. */
  restartEmpty(): Promise<void>;
  /** Cuts the node that decides off from the others, together with client A. Absent where the benchmark cannot do it. */
  cutLeader?(): Promise<void>;
  close(): Promise<void>;
}

/** Waits, in milliseconds. */
export function sleep(ms: number): Promise<void> {
  return new Promise((wake) => setTimeout(wake, ms));
}

/** The outcome of one scenario. */
export interface Fate {
  /** True if B got the lock while A's lease was running by A's own clock, or while a stalled A still relied on it. */
  readonly twoHolders: boolean;
  /** How long no client could get any lock after the fault, in seconds. */
  readonly without: number;
}

/** The faults, in the order of the table. */
export const FAULTS = [
  'leader dies',
  'holder stalls',
  'leader is cut off with its client',
  'node restarts empty',
] as const;

/** Plays one fault. Undefined where the benchmark cannot cause it. */
export async function play(
  fault: (typeof FAULTS)[number],
  start: () => Promise<Ensemble>,
  leaseMs: number,
): Promise<Fate | undefined> {
  const ensemble = await start();
  const clients: LockClient[] = [];
  try {
    if (fault === 'leader is cut off with its client' && ensemble.cutLeader === undefined) return undefined;
    const [a, b, probe] = await Promise.all(['A', 'B', 'P'].map((name) => ensemble.client(name)));
    if (a === undefined || b === undefined || probe === undefined) throw new Error('no clients');
    clients.push(a, b, probe);
    const sent = performance.now();
    if (!(await a.acquire('l', 5000))) throw new Error('A does not get the lock');
    if (fault === 'holder stalls') a.stall();
    const struck = performance.now();
    if (fault === 'leader dies') await ensemble.killLeader();
    if (fault === 'node restarts empty') await ensemble.restartEmpty();
    if (fault === 'leader is cut off with its client') await ensemble.cutLeader?.();
    const probing = probe.acquire('other', 30_000).then(() => (performance.now() - struck) / 1000);
    const got = await b.acquire('l', 3 * leaseMs);
    const at = performance.now();
    const without = fault === 'holder stalls' ? (at - struck) / 1000 : await probing;
    await probing;
    // A client that stands still does not look at its clock before it goes on.
    const relies = fault === 'holder stalls' || at < sent + leaseMs;
    return { twoHolders: got && relies, without };
  } finally {
    await Promise.all(clients.map((client) => client.close()));
    await ensemble.close();
  }
}

/** How long an acquisition takes, in milliseconds: the median and the 99th percentile. */
export async function latencies(start: () => Promise<Ensemble>, count: number): Promise<[number, number]> {
  const ensemble = await start();
  const client = await ensemble.client('A');
  try {
    const all: number[] = [];
    for (let i = 0; i < count; i++) {
      const begun = performance.now();
      if (!(await client.acquire(`l${i % 10}`, 5000))) throw new Error('not granted');
      all.push(performance.now() - begun);
      await client.release();
    }
    all.sort((x, y) => x - y);
    return [all[count >> 1] as number, all[Math.floor(count * 0.99)] as number];
  } finally {
    await client.close();
    await ensemble.close();
  }
}
