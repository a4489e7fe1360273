/**
 * The format of timelines, version 1: what the lab and explorations write and what the page draws. docs/timeline.md
 * describes it. Times are whole microseconds since the run began; bytes are strings of latin1.
 */

export interface TimelineFile {
  readonly format: 'lostlock-timeline';
  /** Grows when a reader of an older version would misread the file. New members alone do not change it. */
  readonly version: 1;
  /** The runs, each on a clock of its own that begins at 0. */
  readonly runs: readonly Timeline[];
  /** The page that the runs belong to, such as a list of them on a site. */
  readonly back?: TimelineBack;
}

/** A link from a page of timelines to the page that it belongs to. */
export interface TimelineBack {
  /** What the link says. */
  readonly text: string;
  /** A relative address, or one that begins with `http://` or `https://`. */
  readonly address: string;
}

/** One run. */
export interface Timeline {
  /** What was played. */
  readonly title: string;
  /** A short name, for links to the run: `failover`. Without it, links use the title. */
  readonly name?: string;
  /** Whether the same seed gives the same run (virtual), or the times are those of the machine (real). */
  readonly clock: 'virtual' | 'real';
  /** What gives the same run again: a seed, or the replay text of an exploration. */
  readonly replay?: string;
  /** The time of the last event. */
  readonly end: number;
  /** The clients, nodes, Sentinels and resources of the run. */
  readonly lanes: readonly TimelineLane[];
  /** How many independent primaries there are, when a lock needs more than half of them, as Redlock does. Missing for one. */
  readonly primaries?: number;
  /** In the order in which they were sent. The index of a message is its name in `cause`, `grant` and `about`. */
  readonly messages: readonly TimelineMessage[];
  /** In the order of time. */
  readonly marks: readonly TimelineMark[];
  /** Which client believed that it held which lock. */
  readonly holds: readonly TimelineHold[];
  /** What the nodes knew about the locks. */
  readonly keys: readonly TimelineKey[];
  /** When two clients believed that they held the same lock. Empty when no lock was lost. */
  readonly overlaps: readonly TimelineOverlap[];
  /** The grants of locks, as long as they stood on the servers, in the order of time. Missing in older files. */
  readonly tenures?: readonly TimelineTenure[];
  /** What happened before is no longer known. Missing when everything is. */
  readonly knownFrom?: number;
  /** The story in words, in the order of time. */
  readonly story: readonly StoryStep[];
  /** How the run ended. Missing when nobody has judged it. */
  readonly verdict?: TimelineVerdict;
}

/** A party: a client, a node, a Sentinel, or a resource that locks protect. */
export interface TimelineLane {
  /** The name by which messages and marks refer to it. */
  readonly name: string;
  /** What the party is. */
  readonly kind: 'client' | 'node' | 'sentinel' | 'resource';
  /** What a node of a cluster is when the run begins. */
  readonly role?: 'primary' | 'replica';
  /** The number of the shard that a node of a cluster is in, from 1. */
  readonly shard?: number;
  /** The slots of its shard: `0-5460`. */
  readonly slots?: string;
}

/**
 * What a message is: a request of a client and its reply, the replication stream and its acknowledgements, and
 * `service` for what connections and nodes do by themselves, such as HELLO, INFO, PING and synchronizations.
 */
export type MessageKind = 'request' | 'reply' | 'stream' | 'ack' | 'service';

/** The bytes of one write to a connection. */
export interface TimelineMessage {
  /** The lane that sent it. */
  readonly from: string;
  /** The lane that it was sent to. */
  readonly to: string;
  /** The connection: the port of the end that dialled. */
  readonly port: string;
  /** What it is. */
  readonly kind: MessageKind;
  /** When it was sent. */
  readonly sent: number;
  /** When it reached the receiver's machine, where a closed gate keeps it waiting. */
  readonly due: number;
  /** When the receiver had it; null when it never did. */
  readonly arrived: number | null;
  /** For a message that did not arrive: lost, or waiting when the run ended. */
  readonly fate?: 'lost' | 'waiting';
  /** When it was lost. */
  readonly died?: number;
  /** Why it came late or never. */
  readonly why?: string;
  /** Its bytes, as latin1. */
  readonly bytes: string;
  /** The commands or replies in it, in short. */
  readonly text: string;
  /** The replication offsets before and after it; for an acknowledgement, the confirmed offset twice. */
  readonly offsets?: readonly [from: number, to: number];
  /** The index of the message that caused it: of a reply, its request; of a part of the stream, the request that wrote it. */
  readonly cause?: number;
}

/** What happened to a party or a link, or what the test did to it. */
export interface TimelineMark {
  /** When it happened. */
  readonly at: number;
  /** The lane that it happened to. */
  readonly lane: string;
  /** The far end, for what happens to a direction of a link. */
  readonly to?: string;
  /** What happened. */
  readonly kind:
    | 'crash'
    | 'restart'
    | 'kill'
    | 'pause'
    | 'resume'
    | 'clock'
    | 'promote'
    | 'follow'
    | 'lost'
    | 'hold'
    | 'release'
    | 'partition'
    | 'heal'
    | 'delay'
    | 'drop'
    | 'reset'
    | 'fault'
    | 'refused'
    | 'note'
    | 'event';
  /** The same in words. */
  readonly text: string;
  /** Of a clock that was set: by how much it is ahead from now on, in microseconds; negative when it is behind. */
  readonly ahead?: number;
  /** Of a clock that was set: how fast it runs from now on; 1 is exact. */
  readonly rate?: number;
}

/** From when to when a client believes that it holds a lock, or is inside a resource. */
export interface TimelineHold {
  /** The lane of the client. */
  readonly client: string;
  /** The name of the lock, or of the resource. */
  readonly key: string;
  /** A lock that it holds, or a visit to a resource. */
  readonly kind: 'lock' | 'visit';
  /** When the client learned that it has the lock, or entered. */
  readonly from: number;
  /** When it believed so no more; null when the run ended before. */
  readonly to: number | null;
  /** When its lease ends by its own count; null for a lock without an end. The last renewal counts. */
  readonly lease: number | null;
  /** When the lease was to end before it was extended or shortened for the first time. */
  readonly firstLease?: number | null;
  /** When the lease was extended. */
  readonly renewals: readonly number[];
  /** True when others may have it at the same time: readers of a read-write lock, and permits of a pool. */
  readonly shared?: boolean;
  /** True for a permit of a pool that has several. */
  readonly permit?: boolean;
  /** How it ended: the client released it, its lease ended, the client learned that it has it no more, or it died. */
  readonly ended?: 'released' | 'expired' | 'denied' | 'died';
  /** The fencing token. */
  readonly fence?: number;
  /** The index of the reply that granted it. */
  readonly grant?: number;
}

/** A grant of a lock, as long as it stood on the servers. */
export interface TimelineTenure {
  /** The name of the lock. */
  readonly key: string;
  /** The lane of the client that was granted it. */
  readonly client: string;
  /** The token in the key. */
  readonly holder: string;
  /** The lane of the node that granted it. */
  readonly node: string;
  /** When the node executed the grant. */
  readonly from: number;
  /** The command, in short; or what brought the grant back. */
  readonly what: string;
  /** When the client learned of it; null when it did not. */
  readonly told: number | null;
  /** When it ended on the servers; null when it stood at the end. */
  readonly to: number | null;
  /** What ended it. */
  readonly ended?: 'released' | 'deleted' | 'expired' | 'overwritten' | 'evicted' | 'flushed' | 'lost';
  /** The lane of the client whose command ended it. */
  readonly by?: string;
  /** The command that ended it, or the failover, restart or demotion that did not have it. */
  readonly end?: string;
  /** What the servers did that ended it, when it was no command: which node took over, started again, or has a wrong clock. */
  readonly cause?: TenureCause;
  /** When the lease was extended, and by which client. */
  readonly renewals: readonly { readonly at: number; readonly by: string }[];
  /** True for a grant that nobody knows of. */
  readonly ghost?: boolean;
  /** True when others may have it at the same time. */
  readonly shared?: boolean;
}

/** What ended a grant without a command. */
export interface TenureCause {
  /**
   * `failover`: a replica took over that never received the grant. `restart`: a node started again without it. `demotion`: its
   * node follows another one. `clock`: a node's clock jumped past the lease.
   */
  readonly how: 'failover' | 'restart' | 'demotion' | 'clock';
  /** The node that took over, started again, is followed, or whose clock jumped. */
  readonly node: string;
}

/** What a node knows about a key that is used as a lock. */
export interface TimelineKey {
  /** The lane of the node. */
  readonly node: string;
  /** The key of the lock. */
  readonly key: string;
  /** The value of the key: the token of the holder. */
  readonly holder: string;
  /** When the node took the write. */
  readonly from: number;
  /** When the node knew it no more; null when it still did at the end. */
  readonly to: number | null;
  /** Why the node knows it no more. */
  readonly ended?: 'deleted' | 'expired' | 'replaced' | 'crashed' | 'resynchronized';
  /** Where it was written, the replication offset after it. */
  readonly offset?: number;
  /** True for a permit of a pool that has several: others may have one at the same time. */
  readonly permit?: boolean;
}

/** A time in which two clients believed that they held the same lock. */
export interface TimelineOverlap {
  /** The key of the lock. */
  readonly key: string;
  /** The lanes of the two clients. */
  readonly clients: readonly [string, string];
  /** When the second client believed it too. */
  readonly from: number;
  /** When one of them believed it no more. */
  readonly to: number;
}

/** One sentence of the story. */
export interface StoryStep {
  /** When it happened. */
  readonly at: number;
  /** The lane that the sentence is about. */
  readonly lane: string;
  /** The sentence. */
  readonly text: string;
  /** How to show it: as something that helps, that harms, or that the test did by hand. */
  readonly mood: 'plain' | 'good' | 'bad' | 'hand';
  /** The event that it tells. */
  readonly about?: { readonly message: number } | { readonly mark: number } | { readonly overlap: number };
}

/** How the run ended. */
export interface TimelineVerdict {
  /** False when a lock was lost. */
  readonly safe: boolean;
  /** The clients that believed that they held the lock, at the worst moment. */
  readonly holders: readonly string[];
  /** The reason, in one sentence. */
  readonly why: string;
  /** The same for people who see the page for the first time. Without it, the page makes one of the tenures. */
  readonly sentence?: string;
  /** What would have prevented it. */
  readonly cure?: string;
  /** The index of the run of this file in which it does. */
  readonly cured?: number;
}
