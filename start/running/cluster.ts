/** A running cluster, as `startCluster` returns it without a clock. */

import { badOption } from '../../base/options.ts';
import { fromText } from '../../protocol/bytes.ts';
import { SLOT_COUNT, slotOf } from '../../protocol/slot.ts';
import type { LostlockServer } from './server.ts';

/** A running cluster. */
export class LostlockCluster implements AsyncDisposable {
  /** The nodes, those that began as primaries first. */
  readonly nodes: readonly LostlockServer[];

  readonly #serves: (node: LostlockServer, slot: number) => boolean;

  /** @internal */
  constructor(nodes: readonly LostlockServer[], serves: (node: LostlockServer, slot: number) => boolean) {
    this.nodes = nodes;
    this.#serves = serves;
  }

  /** The nodes that are primaries now, and have not stopped. */
  get primaries(): readonly LostlockServer[] {
    return this.nodes.filter(({ node }) => node.role === 'primary' && !node.stopped);
  }

  /** The nodes that are replicas now. */
  get replicas(): readonly LostlockServer[] {
    return this.nodes.filter(({ node }) => node.role === 'replica' && !node.stopped);
  }

  /** The addresses of all nodes: for ioredis `new Cluster(cluster.addresses)`. */
  get addresses(): { readonly host: string; readonly port: number }[] {
    return this.nodes.map(({ host, port }) => ({ host, port }));
  }

  /** The URLs of all nodes, such as `redis://127.0.0.1:7000`. */
  get urls(): string[] {
    return this.nodes.map(({ url }) => url);
  }

  /**
   * The primary that serves a key, as the nodes that are up see it.
   * @throws RangeError when no node serves it, and TypeError for a key that is not a string
   */
  primaryOf(key: string): LostlockServer {
    if (typeof key !== 'string') throw badOption('key', key, 'a string');
    const slot = slotOf(fromText(key));
    const owner = this.primaries.find((node) => this.#serves(node, slot));
    if (owner === undefined)
      throw new RangeError(`no primary of the cluster serves slot ${slot} of ${SLOT_COUNT}`);
    return owner;
  }

  /** Stops every node. Resolves when no handle is left. A second call has no effect. */
  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
