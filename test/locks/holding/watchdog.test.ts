/** Renewals: their batches, silent servers, the lease that a renewal proves, and replicas. */
import '../../../lab/router.ts';
import { expect, test } from 'vitest';
import { type Pair, startPair } from '../../../index.ts';
import {
  createLocks,
  fromIoredis,
  type LockClient,
  type Locks,
  type LocksOptions,
} from '../../../locks/index.ts';
import { stamped } from '../../../locks/scripts/define.ts';
import { renewScript } from '../../../locks/scripts/renew.ts';

const LEASE = 3000;

interface Scene {
  readonly pair: Pair;
  readonly locks: Locks;
  /** The keys of each renewal, and when it left. */
  readonly renewals: { keys: readonly string[]; sentAt: number }[];
  /** How many of the next renewals get no answer. */
  silent: number;
}

/** Plays with locks whose renewals are noted. */
async function play(options: LocksOptions, code: (scene: Scene) => Promise<void>): Promise<void> {
  await using pair = await startPair({
    clock: 'virtual',
    seed: 1,
    replicas: 0,
    network: { latency: 1, jitter: 0 },
  });
  await pair.run(async () => {
    const inner = fromIoredis(pair.client('A'));
    const client: LockClient = {
      ...inner,
      send(command) {
        const [, script, count] = command;
        // A renewal that is repeated is sent as text.
        if (script !== renewScript.sha && script !== renewScript.text) return inner.send(command);
        scene.renewals.push({ keys: command.slice(3, 3 + Number(count)), sentAt: Date.now() });
        if (scene.silent === 0) return inner.send(command);
        scene.silent--;
        return new Promise(() => {});
      },
    };
    const locks = createLocks(client, { leaseMs: LEASE, requestTimeoutMs: 60_000, ...options });
    const scene: Scene = { pair, locks, renewals: [], silent: 0 };
    const first = await locks.simple('first').acquire();
    await first.extend(); // The server knows the renewing script from now on.
    await first.release();
    scene.renewals.length = 0;
    await code(scene);
    locks.close();
  });
}

test('holds that are due together are renewed in batches of a hundred, each hold once', () =>
  play({}, async ({ pair, locks, renewals }) => {
    const names = Array.from({ length: 250 }, (_, index) => `lock:${index}`);
    await Promise.all(names.map((name) => locks.simple(name).acquire()));
    await pair.advance(LEASE / 3 + 10);
    expect(renewals.map(({ keys }) => keys.length)).toEqual([100, 100, 50]);
    expect(renewals.flatMap(({ keys }) => keys).sort()).toEqual(names.sort());
  }));

test('holds that are due soon are renewed together with those that are due now', () =>
  play({}, async ({ pair, locks, renewals }) => {
    for (const name of ['now', 'soon', 'later']) {
      await locks.simple(name).acquire();
      await pair.advance(LEASE / 15);
    }
    await pair.advance(LEASE / 3);
    expect(renewals.map(({ keys }) => keys)).toEqual([['now', 'soon'], ['later']]);
  }));

test('an unanswered renewal is given up in time to renew other holds, even with a long request time-out', () =>
  play({}, async (scene) => {
    const held = await scene.locks.simple('lock').acquire();
    scene.silent = 3;
    await scene.pair.advance(LEASE);
    expect(scene.silent).toBe(0);
    held.assertHeld();
    await held.release();
  }));

test('an unanswered renewal is not sent again when other holds become due', () =>
  play({}, async (scene) => {
    await scene.locks.simple('silent').acquire();
    scene.silent = 1;
    await scene.pair.advance(LEASE / 10);
    await scene.locks.simple('other').acquire();
    await scene.pair.advance(LEASE / 3 + 10);
    expect(scene.renewals.map(({ keys }) => keys)).toEqual([['silent'], ['other']]);
  }));

test('a renewal proves the lease from the time it was sent, even when its reply is late', () =>
  play({}, async ({ pair, locks, renewals }) => {
    const held = await locks.simple('lock').acquire();
    const first = held.validUntil;
    pair.network.lane('redis-1', 'A').delay(300);
    await pair.advance(LEASE / 2);
    expect(held.validUntil).toBeGreaterThan(first);
    expect(held.validUntil).toBeLessThanOrEqual(renewals[0]!.sentAt + LEASE);
    await held.release();
  }));

/** Plays with locks that need one replica, and records the batches of renewals: how many holds, and what follows them. */
async function playReplicated(
  code: (scene: { pair: Pair; locks: Locks; batches: [holds: number, wait: string][] }) => Promise<void>,
): Promise<void> {
  await using pair = await startPair({ clock: 'virtual', seed: 1, network: { latency: 1, jitter: 0 } });
  await pair.run(async () => {
    const inner = fromIoredis(pair.client('A'));
    const batches: [number, string][] = [];
    const client: LockClient = {
      ...inner,
      sendAll(commands) {
        const [[name, sha, count], wait] = commands as [string[], string[]];
        if (name === 'evalsha' && sha === stamped(renewScript).sha)
          batches.push([Number(count), wait.join(' ')]);
        return inner.sendAll(commands);
      },
    };
    const locks = createLocks(client, { leaseMs: LEASE, replicas: 1, replicaTimeoutMs: 100 });
    const first = await locks.simple('first').acquire();
    await first.extend(); // The server knows the renewing script from now on.
    await first.release();
    batches.length = 0;
    await code({ pair, locks, batches });
    locks.close();
  });
}

test('with replicas each batch of renewals is followed by one WAIT', () =>
  playReplicated(async ({ pair, locks, batches }) => {
    const names = Array.from({ length: 250 }, (_, index) => `lock:${index}`);
    const helds = await Promise.all(names.map((name) => locks.simple(name).acquire()));
    const first = helds.map(({ validUntil }) => validUntil);
    await pair.advance(LEASE / 3 + 50);
    expect(batches).toEqual([
      [100, 'WAIT 1 100'],
      [100, 'WAIT 1 100'],
      [50, 'WAIT 1 100'],
    ]);
    for (const [index, held] of helds.entries()) expect(held.validUntil).toBeGreaterThan(first[index]! + 900);
  }));

test('with all replicas, a renewal asks for their number in one go, and counts with those that are connected', async () => {
  await using pair = await startPair({
    clock: 'virtual',
    seed: 1,
    replicas: 2,
    network: { latency: 1, jitter: 0 },
  });
  await pair.run(async () => {
    const inner = fromIoredis(pair.client('A'));
    const sent: string[] = [];
    const client: LockClient = {
      ...inner,
      send(command) {
        sent.push(command.join(' '));
        return inner.send(command);
      },
      sendAll(commands) {
        const [[, script], ...rest] = commands as [string[], ...string[][]];
        const { sha, text } = stamped(renewScript);
        if (script === sha || script === text) sent.push(rest.map((each) => each.join(' ')).join(', '));
        return inner.sendAll(commands);
      },
    };
    const locks = createLocks(client, { leaseMs: LEASE, replicas: 'all', replicaTimeoutMs: 100 });
    const held = await locks.simple('lock').acquire();
    sent.length = 0;
    const first = held.validUntil;
    await pair.advance(LEASE / 3 + 50);
    expect(sent[0]).toBe('INFO replication, WAIT 2 100');
    expect(held.validUntil).toBeGreaterThan(first);
    pair.replicas[1]!.crash();
    await pair.advance(3 * LEASE);
    expect(sent.at(-1)).toBe('INFO replication, WAIT 1 100');
    held.assertHeld();
    await held.release();
    locks.close();
  });
});

test('a renewal does not extend the lease until a replica has it, and is tried again', () =>
  playReplicated(async ({ pair, locks, batches }) => {
    const held = await locks.reentrant('lock').acquire();
    const first = held.validUntil;
    pair.link.hold();
    await pair.advance(LEASE / 2);
    expect(batches.length).toBeGreaterThan(1);
    expect(await pair.client('judge').pttl('lock')).toBeGreaterThan(LEASE - 600);
    expect(held.validUntil).toBe(first);
    held.assertHeld();
    pair.link.release();
    await pair.advance(LEASE / 6);
    expect(held.validUntil).toBeGreaterThan(first + LEASE / 3);
    await pair.advance(LEASE * 3);
    held.assertHeld();
    pair.link.hold();
    const { signal } = held;
    await pair.advance(held.validUntil - Date.now() - 1);
    expect(signal.aborted).toBe(false);
    await pair.advance(2);
    expect(signal.aborted).toBe(true);
    expect(String(signal.reason)).toContain('its last renewal reached 0 of 1 replicas in time');
  }));
