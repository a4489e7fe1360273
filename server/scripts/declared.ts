/** Decides whether a script or a function may run, by the flags that it declares (`#!lua flags=...`). */
import type { Bytes } from '../../protocol/bytes.ts';
import { fail, OOM } from '../../protocol/errors.ts';
import { type Client, PRIMARY_LINK } from '../clients/client.ts';
import { GATE_LIMITED_MEMORY, GATE_MIN_REPLICAS } from '../gates.ts';
import type { Membership } from '../membership.ts';
import type { Gated } from '../ports.ts';

/** The node, as far as flags depend on its state. */
export interface DeclaredNode extends Gated {
  readonly cluster: Membership | undefined;
  readonly eviction: { readonly outOfMemory: boolean };
  readonly replication: { readonly good: { readonly enough: boolean } };
  /** True while a replica has lost its primary and may not serve old data. */
  isStale(): boolean;
  readOnlyReplica(): boolean;
}

/** Throws if the flags that a function or script declares do not allow it to run in the node's current state. */
export function checkDeclared(
  server: DeclaredNode,
  client: Client,
  flags: ReadonlySet<Bytes>,
  readonly: boolean,
): void {
  if (server.cluster !== undefined && flags.has('no-cluster')) {
    fail("ERR Can not run script on cluster, 'no-cluster' flag is set.");
  }
  if (server.isStale() && !flags.has('allow-stale')) {
    fail(
      "MASTERDOWN Link with MASTER is down, replica-serve-stale-data is set to 'no' and 'allow-stale' flag is not set on the script.",
    );
  }
  if (!flags.has('no-writes')) {
    if (server.readOnlyReplica() && !client.has(PRIMARY_LINK))
      fail('READONLY Can not run script with write flag on readonly replica.');
    if (readonly) fail('ERR Can not execute a script with write flag using *_ro command.');
    if ((server.state & GATE_MIN_REPLICAS) !== 0 && !server.replication.good.enough) {
      fail('NOREPLICAS Not enough good replicas to write.');
    }
  }
  const limited =
    (server.state & GATE_LIMITED_MEMORY) !== 0 && !flags.has('allow-oom') && !flags.has('no-writes');
  if (limited && server.eviction.outOfMemory) fail(OOM);
}
