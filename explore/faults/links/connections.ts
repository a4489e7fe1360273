/** What the faults of a client's connections have in common: which connections they strike, and how a message is lost. */
import { type FaultContext, type Participants, setOf } from '../fault.ts';
import type { FaultVariant, Planned } from '../planned.ts';

/** How long a fault waits for a message that it can strike, in milliseconds. */
const WAITS_FOR_MESSAGE = 60;

/** Each client with each server, and with several servers with all of them at once. */
export function clientsByServers({ clients, sets }: Participants): FaultVariant[] {
  const servers = sets.length === 1 ? [''] : ['', ...sets.map(([primary]) => primary as string)];
  return clients.flatMap((on) => servers.map((how) => ({ on, how })));
}

/** The nodes at the far end: the primary of one set, or the primaries of all. */
export function farEnds(context: FaultContext, how: string): string[] {
  const sets = how === '' ? context.sets : [setOf(context, how)];
  return sets.map(({ primary }) => primary.name);
}

/** Holds the lanes until a message waits, and breaks the connections: the message is lost with them. */
export async function lose(
  context: FaultContext,
  { on, how }: Planned,
  what: 'request' | 'reply',
): Promise<void> {
  const { network, struckAfter, tell, wait } = context;
  const nodes = farEnds(context, how);
  const lanes = nodes.map((node) => (what === 'request' ? network.lane(on, node) : network.lane(node, on)));
  for (const lane of lanes) lane.hold();
  // What waits earlier than the message that was lost in the world whose order is kept is left alone.
  if (struckAfter > 0) await wait(struckAfter);
  const isEmpty = (): boolean => lanes.every(({ waiting }) => waiting === 0);
  for (let waited = 0; waited < WAITS_FOR_MESSAGE && isEmpty(); waited++) await wait(1);
  if (!isEmpty()) {
    for (const node of nodes) network.reset(on, node);
    tell(on, `its connection to ${nodes.join(', ')} breaks, and a ${what} is lost`);
  }
  for (const lane of lanes) lane.release();
}
