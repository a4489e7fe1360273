/** Defects that the locks once had, put back from outside to prove that the campaign finds them. */
import type { World } from '../../../lab/virtual/world.ts';
import type { LockClient, RedisCommand } from '../../../locks/index.ts';

/**
 * `wait sent alone`: a WAIT whose connection broke is sent again without its grant, and counts.
 * `renewals without replicas`: renewals do not wait for replicas.
 * `leases on the wall clock`: a clock that is set back prolongs them.
 */
export type Plant = 'wait sent alone' | 'renewals without replicas' | 'leases on the wall clock';

export const PLANTS: readonly Plant[] = [
  'wait sent alone',
  'renewals without replicas',
  'leases on the wall clock',
];

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
