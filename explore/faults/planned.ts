/** A fault as a plan has it. */
import type { Anchor } from '../anchors/anchor.ts';

/** One fault of a world. Times are in milliseconds; which of the fields apply depends on the kind. */
export interface Planned<Kind extends string = string, How extends string = string> {
  /** The kind of fault. */
  readonly kind: Kind;
  /** When it strikes, after the clients have started. */
  readonly at: number;
  /** The client or node that it strikes. */
  readonly on: string;
  /** How long it lasts. */
  readonly ms: number;
  /** How strong it is: by how much a clock jumps, a message is late, or a clock's rate differs from 1. */
  readonly by: number;
  /** Which flavour of the fault it is; for faults of connections, the node at their other end, if it is one. */
  readonly how: How | '';
  /** The event after which it strikes; undefined for a fault that strikes at a time, whatever happens. */
  readonly after?: Anchor;
  /** What it found when it struck: who was inside, and what was lost. Undefined where nobody looked. */
  readonly found?: string;
}

/** A form of a fault: a fault without its kind and time. */
export type FaultVariant<How extends string = string> = Partial<
  Omit<Planned<string, How>, 'kind' | 'at' | 'after' | 'found'>
>;
