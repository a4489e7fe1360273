/** Who takes part in the worlds of an exploration: which clients and nodes faults can strike, and which clients are refused without any. */
import { badOption } from '../base/options.ts';
import type { Participants, Scales } from './faults/fault.ts';
import { faults as faultKinds } from './faults/index.ts';
import { historyOf } from './history.ts';
import type { FullOptions } from './options.ts';
import type { PlayedWorld } from './played-world.ts';
import type { StageSet } from './stage/controls.ts';

/** Throws TypeError when a fault is bound to a client or node that no world has. */
export function checkParties({ bounds, clients }: FullOptions, { sets }: PlayedWorld): void {
  const names = [...clients, ...sets.flatMap(({ nodes }) => nodes.map(({ name }) => name))];
  for (const { on } of bounds)
    if (on !== undefined && !names.includes(on)) throw badOption('faults.on', on, names.join(', '));
}

/** True when clients ask replicas: by WAIT or WAITAOF, or by reading from them. */
function asksReplicas(clients: readonly string[], { events, sets }: PlayedWorld): boolean {
  const replicas = new Set(sets.flatMap((set) => set.replicas.map(({ name }) => name)));
  if (replicas.size === 0) return false;
  const isCluster = sets.some(({ decides }) => decides === 'a cluster');
  return events.some(({ what, who, detail }) => {
    const [from = '', to = ''] = who.split('>');
    if (what !== 'data' || !clients.includes(from.split(':')[0] as string)) return false;
    // Clients of a cluster ask its replicas for its shape.
    const reads = !isCluster && replicas.has(to.split(':')[0] as string);
    return reads || /\r\n(?:wait|waitaof)\r\n/i.test(detail);
  });
}

/** Throws TypeError for a fault that was named, and that can strike nothing in this topology. */
export function checkFaults(options: FullOptions, among: Participants, scales: Scales): void {
  if (!options.named.namesFaults) return;
  const able = options.faults.filter((kind) => faultKinds[kind].variants(among, scales).length > 0);
  for (const kind of options.faults)
    if (!able.includes(kind))
      throw badOption(
        'faults',
        kind,
        `faults that can strike this topology and these clients: ${able.join(', ')}`,
      );
}

/** The clients that returned without entering, while others entered: each of them tries once. */
export function refusedIn({ visits, lives, plan }: PlayedWorld): string[] {
  const entered = new Set(visits.map(({ client }) => client));
  if (!plan.clients.some((name) => entered.has(name))) return [];
  return plan.clients.filter(
    (name) =>
      !entered.has(name) && lives.some(({ client, ended }) => client === name && ended === 'returned'),
  );
}

/** What faults can strike. Sets in which no client wrote are alike: the first of them stands for all. */
export function participantsOf({ clients }: FullOptions, world: PlayedWorld): Participants {
  const writes = historyOf(world).writes.filter(({ client }) => client !== undefined);
  const busy = new Set(writes.map(({ node }) => node));
  const isBusy = ({ nodes }: StageSet): boolean => nodes.some(({ name }) => busy.has(name));
  const idle = world.sets.find((set) => !isBusy(set));
  const sets = world.sets.filter((set) => isBusy(set) || set === idle);
  return {
    clients,
    sets: sets.map(({ nodes }) => nodes.map(({ name }) => name)),
    sentinels: sets.some(({ decides }) => decides === 'Sentinels'),
    cluster: sets.some(({ decides }) => decides === 'a cluster'),
    asksReplicas: asksReplicas(clients, world),
  };
}
