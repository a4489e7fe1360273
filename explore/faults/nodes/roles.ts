/** What the faults of roles have in common: one of them at a time, a failover, and a restart. */

import type { CrashKeeps, StageSet } from '../../stage/controls.ts';
import { type FaultContext, nodeOf, setOf } from '../fault.ts';
import type { Planned } from '../planned.ts';

/** How long a crashed node stays away, in milliseconds. */
const AWAY = 400;

/** How a primary is replaced. */
export type FailoverForm = 'crash' | 'empty' | 'demote' | 'forced';

/** Runs work that changes the roles of a set, unless something else is changing them. */
export async function alone(
  { changing }: FaultContext,
  set: StageSet,
  work: () => Promise<void>,
): Promise<void> {
  if (changing.has(set)) return;
  changing.add(set);
  try {
    return await work();
  } finally {
    changing.delete(set);
  }
}

/** Breaks the connections of all clients to a node. */
export function resetClients({ clients, network }: FaultContext, node: string): void {
  for (const { name } of clients) network.reset(name, node);
}

/**
 * Replaces the primary. `how` says what happens: it crashes, with its disk kept or `empty`; it hands over (`demote`); or it
 * crashes, and an operator promotes a replica before the nodes of the cluster would (`forced`).
 */
export async function failOver(
  context: FaultContext,
  set: StageSet,
  how: FailoverForm | '',
  after: number,
): Promise<void> {
  const old = set.primary;
  if (!old.up || set.replicas.every((node) => !node.up || node.paused)) return;
  const before = set.failovers.length;
  const lostBefore = set.lost.length;
  const crash = how !== 'demote';
  if (crash) {
    await set.crash(old.name, how === 'empty' ? 'nothing' : 'everything');
    context.tell(old.name, 'crashes');
  }
  const promoted = (): void => {
    if (set.primary !== old) context.tell(set.primary.name, `is promoted${lostText(set, lostBefore)}`);
  };
  if (set.decides === 'the run') {
    await context.wait(after);
    await set.failover().catch((error: Error) => context.tell(old.name, `is not replaced: ${error.message}`));
    promoted();
  } else {
    if (how === 'forced') await context.wait(after);
    if (!crash || how === 'forced') await set.failover().catch(() => undefined);
    await set.decision(before, context.wait, promoted);
  }
  resetClients(context, old.name);
  if (crash) {
    await context.wait(AWAY);
    await set.restart(old.name);
    context.tell(old.name, 'is back');
  }
}

/** What the promotion has lost. @param before how many writes had been lost before it */
function lostText(set: StageSet, before: number): string {
  const lost = set.lost.slice(before);
  const { length } = lost;
  if (length === 0) return '';
  const [one = '', two = ''] = lost.map(({ command }) => shorten(command.join(' ')));
  if (length === 1) return `; an acknowledged write is lost: ${one}`;
  return `; ${length} acknowledged writes are lost: ${one}${length === 2 ? ` and ${two}` : `, ${two} and others`}`;
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/** A node crashes and comes back, before anybody replaces it. */
export async function restart(context: FaultContext, { on, ms }: Planned, keep: CrashKeeps): Promise<void> {
  const set = setOf(context, on);
  return alone(context, set, async () => {
    const node = nodeOf(context, on);
    if (!node?.up) return;
    await set.crash(on, keep);
    context.tell(on, 'crashes');
    await context.wait(ms);
    if (!node.up) await set.restart(on);
    context.tell(on, keep === 'nothing' ? 'is back without its data' : 'is back with its data');
  });
}
