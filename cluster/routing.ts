/** Which node serves a request: this one, or another that MOVED or ASK names. */
import type { Keyspace } from '../keyspace/keyspace.ts';
import { asciiLower, type Bytes } from '../protocol/bytes.ts';
import { ReplyError } from '../protocol/reply.ts';
import { slotOf } from '../protocol/slot.ts';
import { ASKING, type Client, READS_REPLICAS } from '../server/clients/client.ts';
import type { ClusterTraits } from '../server/dialects/cluster.ts';
import { type Command, WRITE } from '../server/table/command.ts';
import { findKeys } from '../server/table/info.ts';
import type { Cluster } from './cluster.ts';
import type { Member } from './member.ts';
import { portFor } from './ports.ts';

/** Why a request cannot run on this node, if it cannot. */
export type Redirect =
  | { readonly why: 'moved' | 'ask'; readonly slot: number; readonly to: Member }
  | { readonly why: 'cross slot' | 'unstable' | 'put off' | 'unserved' | 'down' | 'read only' };

const SHARD_PUBSUB: ReadonlySet<Bytes> = new Set(['ssubscribe', 'sunsubscribe', 'spublish']);

const TEXTS: Readonly<Record<Exclude<Redirect['why'], 'moved' | 'ask'>, Bytes>> = {
  'cross slot': "CROSSSLOT Keys in request don't hash to the same slot",
  unstable: 'TRYAGAIN Multiple keys request during rehashing of slot',
  'put off': 'TRYAGAIN Multiple keys request during rehashing of slot',
  unserved: 'CLUSTERDOWN Hash slot not served',
  down: 'CLUSTERDOWN The cluster is down',
  'read only': 'CLUSTERDOWN The cluster is down and only accepts read commands',
};

/** The address at which clients reach a member, as `cluster-preferred-endpoint-type` says; undefined for one unknown. */
export function endpointOf({ server }: Cluster, { ip, hostname }: Member): Bytes | undefined {
  const type = server.settings['cluster-preferred-endpoint-type'];
  if (type === 'ip') return ip;
  if (type === 'hostname') return hostname === '' ? '?' : hostname;
  return undefined;
}

/**
 * The redirection error, such as MOVED or ASK.
 * @param client who is redirected; undefined if its transport does not matter
 */
export function errorOf(cluster: Cluster, redirect: Redirect, client: Client | undefined): ReplyError {
  if (redirect.why !== 'moved' && redirect.why !== 'ask') return new ReplyError(TEXTS[redirect.why]);
  const { why, slot, to } = redirect;
  const kind = why === 'moved' ? 'MOVED' : 'ASK';
  return new ReplyError(
    `${kind} ${slot} ${endpointOf(cluster, to) ?? ''}:${portFor(cluster.server, to, client)}`,
  );
}

/** A command with its words. */
interface Part {
  readonly command: Command;
  readonly argv: readonly Bytes[];
}

/** A request, and what matters of the client that sent it. */
interface Routed extends Part {
  /** The commands of its transaction. */
  readonly queue: readonly Part[] | undefined;
  /** Whether it may change data. */
  readonly writes: boolean;
  /** Its states: ASKING and READS_REPLICAS. */
  readonly states: number;
  /** Its database. */
  readonly db: Keyspace;
}

/** Returns whether a command can name keys. */
export function namesKeys({ spec, name }: Command): boolean {
  return name === 'exec' || (spec.keys ?? []).length > 0 || spec.getKeys !== undefined;
}

/** Where a command's keys are, in the order in which Redis looks at them: a destination comes after the keys that are counted. */
function keysOf(command: Command, argv: readonly Bytes[]): readonly { readonly at: number }[] {
  if (!namesKeys(command)) return [];
  const found = findKeys(command, argv) ?? [];
  const [, second] = command.spec.keys ?? [];
  const isCounted = second !== undefined && second.find !== 'unknown' && 'count' in second.find;
  return isCounted ? [...found.slice(1), ...found.slice(0, 1)] : found;
}

/** MOVE, and COPY to another database than the client's. */
function crossesDatabases({ command, argv }: Part, db: Keyspace): boolean {
  const at = argv.findIndex((word, i) => i > 2 && asciiLower(word) === 'db');
  return command.name === 'move' || (command.name === 'copy' && at > 0 && argv[at + 1] !== String(db.index));
}

/** The commands with keys that a request runs: those of a transaction for EXEC; none for EXEC without MULTI. */
function partsOf({ command, argv, queue = [] }: Routed, { msetexAnywhere }: ClusterTraits): readonly Part[] {
  const parts = command.name === 'exec' ? queue : [{ command, argv }];
  return msetexAnywhere === 'everywhere' ? parts.filter((part) => part.command.name !== 'msetex') : parts;
}

/**
 * Decides where a request must run.
 * @returns why not here, and the slot of its keys; undefined for a request without keys
 */
export function route(
  cluster: Cluster,
  routed: Routed,
): { readonly slot: number | undefined; readonly redirect: Redirect | undefined } {
  const traits = cluster.server.dialect.cluster;
  const parts = partsOf(routed, traits);
  const { myself, owners } = cluster;
  const { comparesSlotsFirst, putsOffCopies } = traits;
  const isShard = parts.some(({ command }) => SHARD_PUBSUB.has(command.name));
  let slot: number | undefined;
  let first: Bytes | undefined;
  let [several, missing, existing] = [false, 0, 0];
  for (const { command, argv } of parts) {
    for (const { at } of keysOf(command, argv)) {
      const key = argv[at] ?? '';
      if (slot === undefined) {
        [slot, first] = [slotOf(key), key];
        if (owners[slot] === undefined && !comparesSlotsFirst) return { slot, redirect: { why: 'unserved' } };
      } else if (key !== first) {
        if (slotOf(key) !== slot) return { slot, redirect: { why: 'cross slot' } };
        several = true;
      }
      if (!isShard && (cluster.migrating.has(slot) || cluster.importing.has(slot))) {
        if (routed.db.peek(key) === undefined) missing++;
        else existing++;
      }
    }
  }
  if (slot === undefined) return { slot, redirect: undefined };
  const owner = owners[slot];
  if (owner === undefined) return { slot, redirect: { why: 'unserved' } };
  const { command, states, writes } = routed;
  const down = cluster.isOk ? undefined : refusedWhenDown(cluster, isShard, writes);
  if (down !== undefined) return { slot, redirect: { why: down } };
  // A replica that has heard of the move redirects its readers as its primary does.
  const isMine = owner === myself || ((states & READS_REPLICAS) !== 0 && owner === myself.head);
  const target = isMine ? cluster.migrating.get(slot) : undefined;
  const imports = target === undefined && myself.isPrimary && cluster.importing.has(slot);
  if (
    (target !== undefined || imports) &&
    putsOffCopies &&
    parts.some((part) => crossesDatabases(part, routed.db))
  )
    return { slot, redirect: { why: 'put off' } };
  if ((target !== undefined || imports) && command.name === 'migrate') return { slot, redirect: undefined };
  if (target !== undefined && missing > 0) {
    if (existing > 0) return { slot, redirect: { why: 'unstable' } };
    return { slot, redirect: { why: 'ask', slot, to: target } };
  }
  if (imports && ((states & ASKING) !== 0 || command.spec.flags.includes('asking'))) {
    return { slot, redirect: several && missing > 0 ? { why: 'unstable' } : undefined };
  }
  const reads = (states & READS_REPLICAS) !== 0 || isShard;
  if (reads && myself.isReplica && !writes && myself.primary === owner) return { slot, redirect: undefined };
  return { slot, redirect: owner === myself ? undefined : { why: 'moved', slot, to: owner } };
}

function refusedWhenDown({ server: { settings } }: Cluster, isShard: boolean, writes: boolean) {
  if (isShard) return settings['cluster-allow-pubsubshard-when-down'] ? undefined : 'down';
  if (!settings['cluster-allow-reads-when-down']) return 'down';
  return writes ? 'read only' : undefined;
}

/** Answers blocked clients whose keys this node no longer serves. */
export function redirectBlocked(cluster: Cluster): void {
  const { blocking } = cluster.server;
  if (blocking.count === 0) return;
  for (const client of [...blocking.clients()]) {
    const { blocked } = client;
    const [key] = blocked?.keys ?? [];
    if (blocked?.kind !== 'key' || key === undefined) continue;
    if (!cluster.isOk) {
      blocking.release(client, new ReplyError(TEXTS.down));
      continue;
    }
    const slot = slotOf(key);
    const owner = cluster.owners[slot];
    const { myself } = cluster;
    const reads =
      client.has(READS_REPLICAS) &&
      ((client.lastCommand?.bits ?? 0) & WRITE) === 0 &&
      owner === myself.primary;
    if (owner === myself || reads || cluster.importing.has(slot)) continue;
    const redirect: Redirect = owner === undefined ? { why: 'unserved' } : { why: 'moved', slot, to: owner };
    const isOwn = cluster.server.dialect.cluster.transport === 'of the connection';
    blocking.release(client, errorOf(cluster, redirect, isOwn ? client : undefined));
  }
}
