/** Sends generated programs to lostlock's cluster and to a real one, and reports where the replies differ. */
import { type DialectName, dialectNamed } from '../../../server/dialects/index.ts';
import { Random } from '../random.ts';
import { clusterRequest, type NodeRequest } from './requests.ts';
import { ClusterSide } from './sides.ts';

const LENGTH = 50;

/** Compares until so many commands have been sent, or until `most` programs differ. */
export async function compareClusters(
  program: string,
  dialect: DialectName,
  { commands, seed, most = 10 }: { commands: number; seed: number; most?: number },
): Promise<{ readonly commands: number; readonly differences: readonly string[] }> {
  const random = new Random(seed);
  const { cluster: traits } = dialectNamed(dialect);
  const differences: string[] = [];
  let sent = 0;
  const sides: ClusterSide[] = [];
  try {
    sides.push(await ClusterSide.ours(dialect));
    sides.push(await ClusterSide.real(program));
    const [ours, real] = sides as [ClusterSide, ClusterSide];
    while (sent < commands && differences.length < most) {
      const requests = Array.from({ length: LENGTH }, () => clusterRequest(random, traits));
      const difference = await play(ours, real, traits.replicatesSetSlot ? withoutSteps(requests) : requests);
      sent += LENGTH;
      if (difference !== undefined) differences.push(difference);
      await Promise.all([ours.reset(), real.reset()]);
    }
  } finally {
    await Promise.all(sides.map((side) => side.stop()));
  }
  return { commands: sent, differences };
}

/**
 * The requests without SETSLOT in transactions, where Valkey ends with a failed assertion, and without scripts that name keys of
 * two slots in one call, after which 9.1.2 refuses all calls of scripts.
 */
function withoutSteps(requests: readonly NodeRequest[]): NodeRequest[] {
  const open = new Set<number>();
  return requests.filter(({ node, words: [name = '', sub = ''] }) => {
    if (name === 'MULTI') open.add(node);
    if (name === 'EXEC' || name === 'DISCARD') open.delete(node);
    return !(open.has(node) && sub === 'SETSLOT') && !sub.includes("'MGET'");
  });
}

async function play(
  ours: ClusterSide,
  real: ClusterSide,
  requests: readonly NodeRequest[],
): Promise<string | undefined> {
  const told: string[] = [];
  for (const request of requests) {
    const [mine, theirs] = await Promise.all([ours.ask(request), real.ask(request)]);
    told.push(`${request.node}> ${request.words.map((word) => JSON.stringify(word)).join(' ')}   ${theirs}`);
    if (mine !== theirs) return `${told.join('\n')}\n  ours ${mine}\n  real ${theirs}`;
  }
  return undefined;
}
