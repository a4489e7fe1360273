/** The data of a report: what an exploration has found and covered, as it is written to files and merged. */
import type { Captured } from './capture.ts';
import type { FaultName } from './faults/index.ts';
import type { LeaseScale } from './search/leases.ts';
import type { FindingEvent } from './visit.ts';

/** One way in which a promise breaks, with the shortest story of it. */
export interface Finding {
  /** The broken promise: one of the known ones, the name of the user's function, or `no-error` when something failed. */
  readonly promise: string;
  /** What breaks it: the kinds of faults of the shortest story, or `no fault`. */
  readonly cause: string;
  /** What was observed. */
  readonly what: string;
  /** What happened, in one sentence. */
  readonly sentence: string;
  /**
   * Ten hexadecimal digits that tell it from other findings: of the resource, the requests that acted, and why the promise broke.
   * Neither the promise nor the faults are in it. `accept` takes it.
   */
  readonly fingerprint: string;
  /** Why the promise broke, without names and times: the text that the fingerprint is made of, beside the resource. */
  readonly reason: string;
  /** The events of the shortest story: those that make the cause, and up to 12 in all those nearest to the breach. */
  readonly events: readonly FindingEvent[];
  /** The story as text. */
  readonly story: string;
  /** Plays this world again: `replay(options, finding.replay)`. Empty when there is no single world to play. */
  readonly replay: string;
  /** True for what `accept: ['lease-limits']` names. Findings that are none come first. */
  readonly isLimit?: boolean;
  /** In how many worlds the promise was broken for this reason. */
  worlds: number;
  /** The number of the first of them. */
  readonly firstIn: number;
  /** The strategy that played the first of them. */
  readonly strategy: string;
  /** Set when the world did not repeat: the first event that differs, and what usually causes that. */
  readonly notRepeatable: string | undefined;
  /** Of programs in real time: how many times the world broke the promise again, of so many. */
  readonly repeats?: { readonly times: number; readonly of: number };
}

/** What an exploration of programs has covered beside that. */
export interface ProgramCoverage {
  /** How many worlds were discarded, because the machine stood still in them for more than a tenth of a lease. */
  readonly discarded: number;
  /** In how many worlds all planned faults struck. */
  readonly struck: number;
  /** In how many worlds a planned fault did not strike. */
  readonly missed: number;
  /** The worlds in which all planned faults struck, in each second. */
  readonly perSecond: number;
  /** How many worlds were played side by side at the end. */
  readonly sideBySide: number;
  /** The time of the processor for each world, of all processes together, in milliseconds; absent where it is not known. */
  readonly cpuMs?: number;
  /** The faults that cannot strike programs, each with the reason. */
  readonly unable: readonly string[];
  /** What broke once, and not again in new processes. */
  readonly unrepeated: readonly {
    readonly fingerprint: string;
    readonly sentence: string;
    readonly story: string;
    readonly replay: string;
    worlds: number;
  }[];
  /** Set when a world was another one in new processes: state of the program has outlived a world. */
  readonly outlived?: string;
}

/** What an exploration has covered. */
export interface Coverage {
  /** In how many worlds each kind of fault struck that was asked for; 0 for those that never did. */
  readonly faults: Partial<Record<FaultName, number>>;
  /** In how many worlds no fault struck. */
  readonly calm: number;
  /** In how many worlds in which a kind of fault struck, or in which none did (`no fault`), each promise was broken. */
  readonly broken: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** How many different states were seen. */
  readonly states: number;
  /** In how many worlds operations of two clients on one key or resource overlapped. */
  readonly contended: number;
  /** How many worlds each strategy played. */
  readonly strategies: Readonly<Record<string, number>>;
  /**
   * How many worlds there are with one fault, how many of them are this shard's, how many of these were played, and how many more
   * were cut off as seen before.
   */
  readonly singles: {
    readonly all: number;
    readonly share: number;
    readonly played: number;
    readonly cut: number;
  };
  /** In how many worlds each promise had something to judge; the user's functions always have. */
  readonly judged: Readonly<Record<string, number>>;
  /** The errors that ended clients before they were told to end, by their texts without numbers: in how many worlds. */
  readonly errors: Readonly<Record<string, number>>;
  /** In how many worlds an error ended a client. */
  readonly gaveUp: number;
  /** In how many worlds a client still waited at the end. */
  readonly waiting: number;
  /** In how many worlds the resource was entered with a fence. */
  readonly fenced: number;
  /** In how many worlds clients recorded operations. */
  readonly recorded: number;
  /** In how many worlds a client went in after it had been refused, or asked again. */
  readonly triedAgain: number;
  /** In how many worlds a lease ended, by time, under a client that had set it and was inside. */
  readonly leaseEnded: number;
  /** The errors that ended clients in the world without faults. */
  readonly calmErrors: readonly string[];
  /** The errors that servers answered with in the world without faults, such as CROSSSLOT, whether or not clients noticed them. */
  readonly calmRefusals: readonly string[];
  /** The errors of the lab itself, which ended worlds. */
  readonly labErrors: readonly string[];
  /** How the modules of the code are loaded: anew for each client and world, or once for all of them, and why. */
  readonly modules?: string;
  /** The leases that the lengths of faults follow: first that of the lock whose holder is inside. */
  readonly leases: readonly LeaseScale[];
  /** The first of them, or what stands for a lease when there is none, in milliseconds. */
  readonly scale: number;
  /** With `corpus`, what became of its plans. */
  readonly corpus?: CorpusCoverage;
  /** With `exhaustive: 2`, how many worlds there are with two faults. */
  readonly pairs?: number;
  /** With `exhaustive: 2`, how many more were cut off as seen before. */
  readonly pairsCut?: number;
  /** Of programs in real time. */
  readonly programs?: ProgramCoverage;
  /** With `exhaustive`, what all worlds are made of. */
  readonly exhaustive?: ExhaustiveCoverage;
}

/** What became of the plans that are kept from run to run. */
export interface CorpusCoverage {
  /** How many plans earlier runs had kept. */
  readonly read: number;
  /** How many of them do not fit: they name a client, a node or a fault that this exploration does not have. */
  readonly unfit: number;
  /** How many were played. */
  readonly played: number;
  /** How many new ones were kept. */
  readonly kept: number;
}

/** What an exhaustive exploration covers. */
export interface ExhaustiveCoverage {
  /** At how many moments each form of each fault strikes. */
  readonly moments: number;
  /** How many different times they are before and after. */
  readonly events: number;
  /** How many deadlines of leases they are 1 ms before and after. */
  readonly deadlines: number;
  /** How many forms of faults there are, with their lengths. */
  readonly forms: number;
  /** How many messages are late in worlds without a fault, and beside one. */
  readonly late: { readonly alone: number; readonly besideFault: number };
  /** How many other orders of messages there are as far as known, and how many were played. */
  readonly orders: { readonly all: number; readonly played: number };
}

/** What was asked for. */
export interface Asked {
  /** The names of the clients. */
  readonly clients: readonly string[];
  /** The kinds of faults that may strike. */
  readonly faults: readonly FaultName[];
  /** True when the user named them. */
  readonly namesFaults: boolean;
  /** The known promises that the user named. */
  readonly namedPromises: readonly string[];
  /** True with `exhaustive`, and with a budget that the user set: then every world with one fault is to be played. */
  readonly limited: boolean;
  /** The seed of all random choices. */
  readonly seed: number;
  /** The part of the worlds, and of how many parts. */
  readonly shard: { readonly index: number; readonly of: number };
  /** A hash of the options that decide what is played, with the text of the client's code, but without the budget. */
  readonly hash: string;
  /** What is known, and no finding. */
  readonly accept: readonly string[];
  /** The promises that are checked, with the names of the user's functions. */
  readonly promises: readonly string[];
}

/** The version of the format of reports. Those without a version are older than 2. */
export const REPORT_VERSION = 2;

/** The parts of a report that can be written to a file and merged. */
export interface ReportData {
  /** The version of this format: 2. It grows when a reader of an older version would misread the report. */
  readonly version: typeof REPORT_VERSION;
  /** The versions of lostlock and of the runtime that played the worlds. */
  readonly versions: { readonly lostlock: string; readonly node: string };
  /** What was explored. */
  readonly name: string;
  /** What was asked for. */
  readonly asked: Asked;
  /** The broken promises. */
  readonly findings: readonly Finding[];
  /** The broken promises that `accept` names. They are none of the findings. */
  readonly accepted: readonly Finding[];
  /** How many worlds were played, without those that shortened stories. */
  readonly worlds: number;
  /** What was covered. */
  readonly coverage: Coverage;
  /** How long it took, in milliseconds of real time. */
  readonly ms: number;
  /** True when it was stopped before its budget was used up. */
  readonly interrupted: boolean;
  /** What the code under test printed: its first lines, and how many there were. */
  readonly output: Captured;
  /** Set in a test whose runner does not end the exploration: how to bound it. */
  readonly hint?: string;
  /**
   * Set when a world did not repeat: the first event that differs, and the likely source. Findings are played twice, so are
   * some of the worlds that break nothing, and the world without faults.
   */
  readonly notRepeatable?: string;
}
