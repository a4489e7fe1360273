/** What the messages of programs reach: a desk that hands out worlds, and the client of a world that a token names. */
import { fail } from '../../../protocol/errors.ts';
import type { EnterChoice } from './enter.ts';

/** The version of the protocol. */
export const PROTOCOL_VERSION = 1;

/** What NEXT answers: one client of a world, which the program plays. */
export interface HandedWorld {
  /** Names the client of this world in all later messages: `w:<world>:<client>:<random>`. */
  readonly token: string;
  /** The client's name. */
  readonly client: string;
  /** A URL for each primary. */
  readonly urls: readonly string[];
  readonly seed: number;
  /** The lease that the program should use, in milliseconds. */
  readonly lease: number;
  /** True for the newcomer who looks whether the lock can be had when the others are done. */
  readonly probe: boolean;
}

/** The client that a token names. Its promises settle only while its process may get an answer: not while it is paused. */
export interface ClientAtDesk {
  /** Waits for so many milliseconds. */
  sleep(ms: number): Promise<void>;
  /** Milliseconds since the clients of the world started. */
  now(): Promise<number>;
  /** The client begins to use a resource. Resolves to the number of the visit. */
  enter(resource: string, how: EnterChoice): Promise<number>;
  /** Sends a write to the resource of a visit. Resolves to whether the resource has taken it. */
  write(visit: number): Promise<boolean>;
  leave(visit: number): Promise<void>;
  /** An operation on what clients share begins. Resolves to its number. @param of the object */
  invoke(operation: string, value: string | undefined, of: string): Promise<number>;
  /** An operation has ended. */
  result(id: number, outcome: 'ok' | 'failed' | 'unknown', value: string | undefined): Promise<void>;
  /** A remark for the story. */
  note(text: string): Promise<void>;
  /** The program's own promise is broken. */
  broken(text: string): Promise<void>;
  /** The program runs. @param late how late its timer was at most since the last message of this kind, in milliseconds */
  beat(late: number): void;
  /** The client's code has ended. @param error the text of what it threw */
  done(error: string | undefined): Promise<void>;
  /** Acts once for each number: a message that comes again gets the answer of the first one. */
  once<T>(number: number, act: () => Promise<T>): Promise<T>;
  /** The answer of an act. Rejects as `worldOver` throws when the world ends first. */
  whileOpen<T>(answer: Promise<T>): Promise<T>;
}

/** Throws the error that a message of an ended world gets. */
export function worldOver(): never {
  return fail('WORLDOVER the world of this token has ended');
}

/** A world that was played, for a process that judges promises of its own. */
export interface JudgedWorld {
  /** Names the world in the verdict. */
  readonly token: string;
  /** Its history, as JSON. */
  readonly history: string;
}

/** The desk. */
export interface ProgramDesk {
  /**
   * Waits for a world. Resolves to undefined when the time is over.
   * @param port at which the program has called; it tells which process it is
   * @param within how long it waits, in milliseconds; undefined for as long as the desk is open
   */
  next(port: number, within: number | undefined): Promise<HandedWorld | undefined>;
  /** The client of this token; undefined when its world has ended, or there is none. */
  clientOf(token: string): ClientAtDesk | undefined;
  /**
   * Waits for a world that was played. Resolves to undefined when there are no more.
   * @param isThere tells whether the process that asks still waits
   */
  judge(isThere: () => boolean): Promise<JudgedWorld | undefined>;
  /** What a judge says of a world, as JSON. Returns false for a world that does not wait. Throws Error for other texts. */
  decided(token: string, verdict: string): boolean;
}
