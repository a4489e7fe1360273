/** How the code of each client of a world ran: when it began, how it ended, and whether it waited in vain. */
import type { LifeEnd } from './stage/controls.ts';

/** One run of the user's code in a client's process. Times are in milliseconds since the clients started. */
export interface ClientLife {
  /** The client's name. */
  readonly client: string;
  /** The number of the life: it grows when the client is killed and started again. */
  readonly life: number;
  /** When the code began. */
  readonly from: number;
  /** When it ended; Infinity while it ran at the end of the world. */
  readonly to: number;
  /** How it ended: it returned, it threw an error, or its process was killed; undefined while it ran at the end of the world. */
  readonly ended: LifeEnd | undefined;
  /** The text of the error that it threw, or of what ended its process by itself. */
  readonly error?: string;
  /**
   * Set when the client waited in vain: since when. It lived when the time for all clients to be served was over, was not
   * inside, had not been inside since the faults ended, and had been inside fewer times than without faults.
   */
  readonly waitedSince?: number;
}

/** How clients fare when nothing goes wrong: what other worlds are compared with. */
export interface CalmWorld {
  /** How often each client is inside; Infinity for one that waits in vain even then. */
  readonly entries: ReadonlyMap<string, number>;
  /**
   * What the clients do that do not end by themselves: wait for somebody who stays inside, or for something else than a lock, such as
   * the next job.
   */
  readonly idle: 'nobody' | 'behind a holder' | 'for no lock';
  /**
   * What a new client does when the others are done: it enters, it returns because nothing is left to do, or it waits for
   * something else than a lock.
   */
  readonly probe: 'enters' | 'returns' | 'waits';
  /** True when some clients run until they are told to end: what they leave behind is then not at rest. */
  readonly stays: boolean;
  /** When the last client was done, in milliseconds since the clients started; 0 when some stay. */
  readonly span: number;
}
