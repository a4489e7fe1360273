/** What the user's code gets in a world: its Redis clients, its time, and the resources that its lock protects. */

import { badOption, checkFlag, checkInteger, checkNames, checkString } from '../base/options.ts';
import type { Redis, RedisClusterOptions, RedisOptions } from '../lab/ioredis-types.ts';
import type { Ledger, LedgerClient } from './ledger.ts';
import type { Recording } from './operations/operation.ts';
import type { Entered } from './tasks.ts';
import type { EnterOptions, Visit } from './visit.ts';

/** Options of a protected resource. */
export interface ResourceOptions {
  /** How many permits it has, for semaphores; default 1: a lock. */
  readonly permits?: number;
  /** True for something that must be done once, such as a job or a tick; default false. The promise `once` judges it. */
  readonly once?: boolean;
}

/** What a client does while it is inside a resource. */
export interface InsideResource {
  /**
   * The client changes a resource at a distance: a database, a file store, a service. The write is a message that travels on a
   * new connection, as those to the nodes do, so that a pause of the client, a slow link or a partition makes it late. Exclusion
   * breaks when it arrives after another client has entered, unless the resource refuses its fence. Settles with the answer:
   * false when the resource has seen a larger fence, or when the client had left. Rejects when the connection breaks, so that
   * nobody knows. Not on real servers.
   */
  send(): Promise<boolean>;
  /**
   * The client changes a resource in its own process, at once and without a message. Returns false when the resource refuses,
   * because it has seen a larger fence. Where your code writes to something outside of its process, use `send()`: no fault
   * makes a local write late. A client that stalls while it is inside does harm only if it writes afterwards; a resource that
   * nobody writes to counts every client as inside until it leaves.
   */
  write(): boolean;
  /** The client is done, or has learnt that it lost the lock. Further calls have no effect. */
  leave(): void;
  /** True when the resource refused the entry, because it has seen a larger fence. */
  readonly refused: boolean;
}

/** Something that a lock protects. */
export interface ProtectedResource {
  /**
   * The client has the lock, and begins to use the resource. Throws TypeError for a wrong option, and when the resource was
   * entered with another number of permits.
   */
  enter(options?: EnterOptions): InsideResource;
}

/** What `client` receives. Everything in it lives on the world's virtual time. */
export interface ClientSession {
  /** The client's name: A, B, C and so on. */
  readonly name: string;
  /**
   * True for the probe, which runs your code once the clients are done, to see whether it still gets the lock. Code with roles
   * plays the one of a newcomer then.
   */
  readonly probe: boolean;
  /** An ioredis client that follows the primary; in a cluster, an ioredis `Cluster`. The first one of `servers`. */
  readonly redis: Redis;
  /** One ioredis client for each primary. */
  readonly servers: readonly Redis[];
  /**
   * URLs for clients of other libraries: one for each primary, which leads to the node that is primary when they connect;
   * in a cluster, one for each node. Their host names exist only in the world.
   */
  readonly urls: readonly string[];
  /** Opens another ioredis client, to the first primary or the given one, or to the cluster. Options are ioredis' own. */
  connect(options?: RedisOptions | RedisClusterOptions, primary?: number): Redis;
  /**
   * Opens an ioredis client of a node that is a replica as the world begins, to read from it: what it answers may be old. It stays
   * with that node, also when a failover makes it the primary. Throws RangeError where there is no such replica, in a cluster (there
   * `connect({ scaleReads: 'slave' })` reads from replicas), and on real servers.
   * @param options ioredis' own
   * @param index which replica, from 0
   * @param primary of which primary, from 0
   */
  replica(options?: RedisOptions, index?: number, primary?: number): Redis;
  /** Waits for `ms` virtual milliseconds. */
  sleep(ms: number): Promise<void>;
  /**
   * Keeps the client's process busy for `ms` virtual milliseconds, as a long computation or a synchronous call does: none of its
   * timers, replies and promises run meanwhile. What follows in the same task happens afterwards. Throws TypeError for less than 0.
   */
  block(ms: number): void;
  /** The resource of this name, which all clients share. Throws TypeError for a wrong name or option. */
  resource(name: string, options?: ResourceOptions): ProtectedResource;
  /**
   * An operation begins, on something that clients share: a register, a counter, a queue. Say with `ok` what came back, or with `failed`
   * that it surely did nothing. Otherwise nobody knows whether it took effect, as after an error. Promises such as
   * `linearizable` judge the operations.
   * @param operation such as 'enqueue'
   * @param input what it is given: plain data
   * @param of the name of the object, when there are several
   */
  record(operation: string, input?: unknown, of?: string): Recording;
  /**
   * What all clients of a world share, and nobody else: the rows of a database that your test stands in for, by their keys. Each world
   * begins with an empty one. A change takes effect at once, so await what travels to the database first: `await inside.send()`.
   */
  readonly store: Map<string, unknown>;
  /** Aborts when the world is about to end: leave loops then. */
  readonly signal: AbortSignal;
}

/** Carries a write to a resource. `arrive` is called where and when it arrives, and says whether it is taken. */
export type Carry = (resource: string, arrive: () => boolean) => Promise<boolean>;

/**
 * A resource as one client's process sees it. Throws TypeError for a wrong name or option.
 * @param carry carries what the client sends to the resource
 */
export function resourceFor(
  ledger: Ledger,
  client: LedgerClient,
  carry: Carry,
  name: string,
  options: ResourceOptions = {},
): ProtectedResource {
  checkString('resource', name);
  checkNames(options, ['permits', 'once'], 'resource');
  const { permits = 1, once = false } = options;
  checkFlag('resource.once', once);
  checkInteger('resource.permits', permits, 1, 1e9);
  return {
    enter(how: EnterOptions = {}): InsideResource {
      checkEnter(how, permits);
      const known = ledger.permitsOf(name) ?? permits;
      if (permits !== known)
        throw badOption('resource.permits', permits, `${known}, as when ${name} was entered first`);
      const enter = (entered: Entered): Visit => ledger.enter(client, name, permits, how, once, entered);
      return insideOf(ledger, client, carry, { resource: name, fence: how.fence }, enter);
    },
  };
}

function checkEnter(options: EnterOptions, available: number): void {
  checkNames(options, ['fence', 'shared', 'permits', 'owner', 'key'], 'enter');
  const { fence, permits, shared, owner, key } = options;
  if (key !== undefined) checkString('enter.key', key);
  if (owner !== undefined) checkString('enter.owner', owner);
  if (shared !== undefined) checkFlag('enter.shared', shared);
  if (shared && available > 1)
    throw badOption('enter.shared', shared, 'false for a resource with several permits');
  if (fence !== undefined && !Number.isFinite(fence)) throw badOption('enter.fence', fence, 'a number');
  if (permits === undefined) return;
  checkInteger('enter.permits', permits, 1, 1e9);
  if (permits > 1 && available === 1)
    throw badOption('enter.permits', permits, '1 for a resource with one permit');
}

/** A visit as its client sees it. What a client does that has kept its process busy happens when the world has caught up. */
function insideOf(
  ledger: Ledger,
  client: LedgerClient,
  carry: Carry,
  { resource, fence }: { readonly resource: string; readonly fence: number | undefined },
  enter: (entered: Entered) => Visit,
): InsideResource {
  let visit: Visit | undefined;
  const act = (what: (own: Visit) => void): void => {
    const { ahead = 0 } = client;
    // Later acts come later: the visit is there by then.
    if (ahead > 0 && client.whenReached !== undefined) client.whenReached(() => what(visit as Visit));
    else what(visit as Visit);
  };
  const refuses = ledger.refuses(resource, fence);
  const entered = ledger.tasks.begin();
  act(() => {
    visit = enter(entered);
  });
  return {
    get refused() {
      return visit?.refused ?? refuses;
    },
    write: () => {
      let taken = visit?.ended === undefined && !ledger.refuses(resource, fence);
      act((own) => {
        taken = ledger.write(own, client);
      });
      return taken;
    },
    send: async () => {
      const sent = ledger.now() + (client.ahead ?? 0);
      if (visit?.ended !== undefined) return false;
      act((own) => void ledger.send(own, client));
      try {
        return await carry(resource, () => ledger.arrive(visit as Visit, sent));
      } finally {
        ledger.answered(visit as Visit);
      }
    },
    leave: () => act((own) => ledger.leave(own, client)),
  };
}
