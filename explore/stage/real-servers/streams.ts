/** Holds up what a replica never received in the virtual world: all that came before must reach it, and nothing else. */
import type { RealServerNode } from '../../../lab/real-servers/node.ts';
import type { StreamLoss } from './milestones.ts';
import { networkOf } from './nodes.ts';
import type { Order } from './order.ts';
import type { ServersSet } from './sets.ts';

/** The stream of one primary to one replica. */
interface LosingStream {
  readonly from: string;
  readonly to: string;
  readonly losses: readonly StreamLoss[];
  /** The offset up to which the replica is to have it; undefined before it is held up. */
  end: number | undefined;
}

/** The streams of one play from which something is lost. */
export class Streams {
  readonly #sets: readonly Pick<ServersSet, 'nodes' | 'network'>[];
  readonly #order: Order;
  readonly #streams: LosingStream[] = [];

  constructor(
    sets: readonly Pick<ServersSet, 'nodes' | 'network'>[],
    order: Order,
    losses: readonly StreamLoss[],
  ) {
    this.#sets = sets;
    this.#order = order;
    for (const { from, to } of losses) {
      const isOwn = (each: Pick<StreamLoss, 'from' | 'to'>): boolean => each.from === from && each.to === to;
      if (!this.#streams.some(isOwn))
        this.#streams.push({ from, to, losses: losses.filter(isOwn), end: undefined });
    }
  }

  /** Holds each stream up when everything before its first loss has happened, until a fault has taken the rest. */
  look(): void {
    for (const stream of this.#streams) {
      const { from, to, losses } = stream;
      const waits = losses.some(({ sent, at }) => this.#order.hasReached(sent) && !this.#order.hasPassed(at));
      const lane = networkOf(this.#sets, from, to).lane(from, to);
      if (waits !== lane.suspended) waits ? lane.suspend() : lane.proceed();
      const late = waits ? this.#late(stream) : 0;
      if (late > 0) lane.letWaitingPass(late);
    }
  }

  /** How many bytes of what came before are still to arrive. A busy server sends its stream long after its replies. */
  #late(stream: LosingStream): number {
    const [primary, replica] = [this.#node(stream.from).mirror, this.#node(stream.to).mirror];
    stream.end ??= primary.offset;
    return primary.id === replica.id ? stream.end - replica.received : 0;
  }

  #node(name: string): RealServerNode {
    return this.#sets.flatMap(({ nodes }) => nodes).find((node) => node.name === name) as RealServerNode;
  }
}
