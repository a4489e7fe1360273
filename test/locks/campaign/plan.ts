/** What a world of the campaign is made of: which client locks what with which settings, and which faults happen when. */
import type { LocksOptions } from '../../../locks/index.ts';
import type { KindTitle } from '../../../locks/kinds/index.ts';
import type { Refusal } from './refusing.ts';

/** Every kind of lock; a fenced lock with either of its fences. */
export type KindName = KindTitle | 'fenced by the clock';

/** How a client of Redis is made; each library with its default settings. */
export type Library = 'ioredis' | 'node-redis';

/** One thing that a holder does. Times in milliseconds. */
export type Step =
  | { readonly do: 'work'; readonly ms: number }
  | { readonly do: 'extend'; readonly ms: number | undefined }
  | { readonly do: 'nest'; readonly life: Life };

/** One acquisition and what becomes of it; all of it can be left out of a world without touching the rest. */
export interface Life {
  /** Identifies it in stories, and while a plan is reduced. */
  readonly id: number;
  /** How long its task pauses before it. */
  readonly after: number;
  readonly mode: 'read' | 'write';
  /** Which part of a multi, or all of them. */
  readonly part: number | 'all';
  /** The owner: a name that all tasks of the client share, a name of this task, or none. */
  readonly owner: 'client' | 'task' | undefined;
  readonly leaseMs: number | undefined;
  /** Undefined: for ever. */
  readonly waitMs: number | undefined;
  readonly abortAfter: number | undefined;
  readonly permits: number;
  /** By `using`, not by hand. */
  readonly using: boolean;
  readonly steps: readonly Step[];
  /** `lapse`: holds on until the lock is lost. `leave`: forgets to release it. */
  readonly end: 'release' | 'twice' | 'lapse' | 'leave';
}

/** One task of a client; it runs its lives one after the other. */
export interface TaskPlan {
  readonly client: number;
  readonly lives: readonly Life[];
}

/** What a fault does. Numbers that stand for a client, a node or a replica are taken modulo how many there are. */
export type Deed =
  /** Sentinel's failover. `crash`: what the old primary's disk keeps, `silent`: its connections hang. */
  | {
      readonly do: 'failover';
      readonly crash: 'no' | 'nothing' | 'everything' | 'silent';
      /** How long nobody is primary. */
      readonly after: number;
      /** The old primary restarts after this time; if it stays alive and this is above 0, it stays primary for so long. */
      readonly backAfter: number;
    }
  | { readonly do: 'restart primary'; readonly ms: number; readonly node: number }
  | { readonly do: 'restart replica'; readonly ms: number; readonly node: number; readonly keep: boolean }
  | { readonly do: 'hold replication'; readonly ms: number; readonly node: number; readonly way: Way }
  | {
      readonly do: 'delay replication';
      readonly ms: number;
      readonly node: number;
      readonly way: Way;
      readonly byMs: number;
    }
  | { readonly do: 'hold client'; readonly ms: number; readonly who: Who; readonly way: Way }
  | { readonly do: 'delay client'; readonly ms: number; readonly who: Who; readonly byMs: number }
  /** Delayed messages are lost when the connection breaks. */
  | { readonly do: 'lose messages'; readonly ms: number; readonly who: Who; readonly way: Way }
  | { readonly do: 'reset client'; readonly who: Who }
  | { readonly do: 'kill subscribers' }
  | { readonly do: 'flush scripts' }
  | { readonly do: 'stall client'; readonly ms: number; readonly who: Who }
  | { readonly do: 'stall node'; readonly ms: number; readonly node: number }
  | { readonly do: 'step client clock'; readonly byMs: number; readonly who: Who }
  /** From then on; within what `driftFactor` covers. */
  | { readonly do: 'drift client clock'; readonly rate: number; readonly who: Who }
  | { readonly do: 'step node clocks'; readonly byMs: number }
  | { readonly do: 'client dies'; readonly who: Who }
  /** A holder must bear it: there and back, messages take at most 0.4 of the lease, and less than the client waits for. */
  | { readonly do: 'slow client'; readonly ms: number; readonly who: Who; readonly byMs: number }
  /** The primary answers every release with this error, and executes none. */
  | { readonly do: 'refuse releases'; readonly ms: number; readonly node: number; readonly error: Refusal }
  /** A primary crashes, and comes back without any data. */
  | { readonly do: 'restart empty'; readonly ms: number; readonly node: number }
  /** Breaks every promise: never drawn, only planted to prove that the judge finds it. `permits`: what L has afterwards. */
  | { readonly do: 'lose the locks'; readonly permits?: number };

/** Replaces one replica. */
export const ALL_REPLICAS = 4;

/** Requests, replies, or both. */
export type Way = 'there' | 'back' | 'both';

/** A client, and of several servers which one it is cut off from. */
export interface Who {
  readonly client: number;
  readonly node: number;
}

export interface Fault {
  readonly id: number;
  /** When it strikes, in milliseconds after the first life began. */
  readonly at: number;
  readonly deed: Deed;
}

/** A whole world. The same plan gives the same trace. */
export interface Plan {
  readonly seed: number;
  readonly kind: KindName;
  /** Of a multi: the kinds of its parts. */
  readonly parts: readonly KindName[];
  /** Independent primaries, and the replicas of each. */
  readonly primaries: number;
  readonly replicas: number;
  readonly latency: number;
  readonly jitter: number;
  readonly settings: LocksOptions;
  readonly clients: readonly Library[];
  /** Permits, segments, or what the latch counts. */
  readonly units: number;
  readonly tasks: readonly TaskPlan[];
  readonly faults: readonly Fault[];
}

/** How many acquisitions a plan asks for. */
export function livesOf(plan: Plan): number {
  const count = ({ steps }: Life): number =>
    1 + steps.reduce((sum, step) => sum + (step.do === 'nest' ? count(step.life) : 0), 0);
  return plan.tasks.reduce((sum, task) => sum + task.lives.reduce((own, life) => own + count(life), 0), 0);
}

/** A fault in words. */
export function describeFault({ id, at, deed }: Fault): string {
  const { do: what, ...rest } = deed;
  const more = Object.entries(rest).map(([name, value]) =>
    typeof value === 'object' ? `client ${value.client}, node ${value.node}` : `${name} ${value}`,
  );
  return `fault ${id} at ${at} ms: ${what}${more.length > 0 ? ` (${more.join(', ')})` : ''}`;
}
