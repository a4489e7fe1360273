/** Defects that the locks once had, put back from outside to prove that the campaign finds them. */
import type { World } from '../../../lab/virtual/world.ts';
import type { LockClient, RedisCommand } from '../../../locks/index.ts';
import { simpleAcquireScript } from '../../../locks/scripts/simple.ts';
import { isRelease } from './refusing.ts';

/**
 * `wait sent alone`: a WAIT whose connection broke is sent again without its grant, and counts.
 * `renewals without replicas`: renewals do not wait for replicas.
 * `leases on the wall clock`: a clock that is set back prolongs them.
 * `late renewals do not count`: an answer that takes longer than a sixth of the lease is thrown away.
 * `refused releases are given up`: after a server has refused a release, none is sent.
 * `nothing is restored`: a server of a Redlock that came back empty stays without the lock.
 */
export const PLANTS = [
  'wait sent alone',
  'renewals without replicas',
  'leases on the wall clock',
  'late renewals do not count',
  'refused releases are given up',
  'nothing is restored',
] as const;
export type Plant = (typeof PLANTS)[number];

/** What a renewing script is asked about. */
const RENEWED: readonly unknown[] = ['string', 'hash', 'read', 'permit', 'place', 'session'];

function isRenewal(command: RedisCommand): boolean {
  return command[0]?.startsWith('eval') === true && RENEWED.includes(command[3 + Number(command[2])]);
}

/** Puts a defect into a world's clocks. */
export function plantInWorld(world: World, plant: Plant | undefined): void {
  if (plant !== 'leases on the wall clock') return;
  const began = world.now * 1000;
  world.inside.elapsed = () => world.running.clock.micros() - began;
}

/** Puts a defect between the locks and their client. */
export function plantInClient(client: LockClient, plant: Plant | undefined): LockClient {
  const { sendAll } = client;
  const apart = (commands: readonly RedisCommand[]) =>
    Promise.allSettled(commands.map((each) => client.send(each)));
  if (plant === 'wait sent alone') return { ...client, sendAll: apart };
  if (plant === 'late renewals do not count') return { ...client, send: (each) => inTime(client, each) };
  if (plant === 'refused releases are given up') return { ...client, send: untilRefused(client) };
  if (plant === 'nothing is restored') return { ...client, send: unlessRenewed(client) };
  if (plant !== 'renewals without replicas') return client;
  return {
    ...client,
    sendAll: async (commands) => {
      const [first, wait] = commands;
      if (!first || !wait || !isRenewal(first)) return sendAll(commands);
      return [...(await apart([first])), { status: 'fulfilled', value: wait[1] }];
    },
  };
}

const never = (): Promise<never> => new Promise<never>(() => {});

/** The token and the lease of the first hold that a renewal renews. */
function renewed(command: RedisCommand): [token: string, leaseMs: number] {
  const at = 3 + Number(command[2]);
  return [command[at + 2] as string, Number(command[at + 3])];
}

async function inTime(client: LockClient, command: RedisCommand): Promise<unknown> {
  const sentAt = performance.now();
  const [reply] = await Promise.allSettled([client.send(command)]);
  if (isRenewal(command) && performance.now() - sentAt > renewed(command)[1] / 6) return never();
  if (reply.status === 'rejected') throw reply.reason;
  return reply.value;
}

function untilRefused(client: LockClient): LockClient['send'] {
  let refused = false;
  return (command) => {
    if (!isRelease(command)) return client.send(command);
    if (refused) return never();
    return client.send(command).catch((error: unknown) => {
      refused = error instanceof Error && error.message.startsWith('OOM');
      throw error;
    });
  };
}

/** Requests for a lock that was renewed before restore it. */
function unlessRenewed(client: LockClient): LockClient['send'] {
  const tokens = new Set<string>();
  return (command) => {
    if (isRenewal(command)) tokens.add(renewed(command)[0]);
    const acquires = command[1] === simpleAcquireScript.sha || command[1] === simpleAcquireScript.text;
    return acquires && tokens.has(command[5] as string) ? never() : client.send(command);
  };
}
