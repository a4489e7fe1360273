/** Bounds that a user sets to faults: which client or node they strike, and for how long. */
import { badOption, checkInteger, checkNames, checkString } from '../../base/options.ts';
import type { PlannedFault } from '../faults/index.ts';
import { FAULTS, type FaultKind, type FaultName } from '../faults/index.ts';
import type { FaultVariant } from '../faults/planned.ts';

/** A fault with bounds. */
export interface FaultBound {
  /** Which fault. */
  readonly kind: FaultName;
  /** The client or node that it strikes; by default any. */
  readonly on?: string;
  /** How long it lasts, in milliseconds, or how late messages are (`delay`), or how far a clock is set (`clock-jump`). */
  readonly ms?: number;
  /** The most that this length may be: the lease of the lock whose holder is inside, or so many milliseconds. */
  readonly longest?: 'lease' | number;
}

/** A form of a fault that a bound allows. */
interface BoundedForm {
  readonly kind: FaultName;
  readonly variant: FaultVariant;
  readonly longest?: number;
}

/** How long a form lasts, and how strong it is. */
type Length = Pick<FaultVariant, 'ms' | 'by'>;

/** The faults whose length is what `by` says; that of the others is `ms`. */
const BY: readonly string[] = [
  'delay',
  'clock-jump',
  'server-clock-jump',
  'client-clock-jump',
  'work-hang',
] satisfies FaultName[];

/** Throws TypeError unless it is a fault with bounds. */
export function checkBound(bound: unknown): void {
  checkNames(bound as object, ['kind', 'on', 'ms', 'longest'], 'faults');
  const { kind, on, ms, longest } = bound as Partial<FaultBound>;
  if (kind === undefined || !FAULTS.includes(kind)) throw badOption('faults.kind', kind, FAULTS.join(', '));
  if (on !== undefined) checkString('faults.on', on);
  if (ms !== undefined) checkInteger('faults.ms', ms, 1, 86_400_000);
  if (longest !== undefined && longest !== 'lease') checkInteger('faults.longest', longest, 1, 86_400_000);
  if (ms !== undefined && longest !== undefined)
    throw badOption('faults.longest', longest, 'no value together with faults.ms');
}

/** The forms that the bounds of this kind allow; all of them without a bound. */
export function bounded(
  kind: FaultName,
  variants: readonly FaultVariant[],
  bounds: readonly FaultBound[],
  leaseMs: number,
): BoundedForm[] {
  const own = bounds.filter((bound) => bound.kind === kind);
  if (own.length === 0) return variants.map((variant) => ({ kind, variant }));
  return own.flatMap(({ on, ms, longest }) =>
    variants
      .filter((variant) => on === undefined || variant.on === on)
      .map((variant): BoundedForm => {
        const most = ms ?? (longest === 'lease' ? leaseMs : longest);
        if (most === undefined) return { kind, variant };
        const exact = ms === undefined ? variant : { ...variant, ...lengthened(kind, variant, ms) };
        return { kind, variant: { ...exact, ...shortened(kind, exact, most) }, longest: most };
      }),
  );
}

/** The fault's length, if it is longer than that, cut down to it. */
export function shortened(kind: FaultKind, { ms, by }: Length, most: number): Length {
  if (BY.includes(kind)) {
    const cut = by === undefined ? undefined : Math.sign(by) * Math.min(Math.abs(by), most);
    return { ...(ms !== undefined && { ms }), ...(cut !== undefined && { by: cut }) };
  }
  return { ...(ms !== undefined && { ms: Math.min(ms, most) }), ...(by !== undefined && { by }) };
}

/** True when the bounds of its kind allow this fault; without one, any is allowed. */
export function isWithin(
  { kind, on, ms, by }: PlannedFault,
  bounds: readonly FaultBound[],
  leaseMs: number,
): boolean {
  const own = bounds.filter((bound) => bound.kind === kind);
  return (
    own.length === 0 ||
    own.some((bound) => {
      if (bound.on !== undefined && bound.on !== on) return false;
      const most = bound.ms ?? (bound.longest === 'lease' ? leaseMs : bound.longest);
      if (most === undefined) return true;
      const cut = shortened(kind, { ms, by }, most);
      return cut.ms === ms && cut.by === by;
    })
  );
}

/** A fault that has a length, with this one. */
function lengthened(kind: FaultKind, { ms = 0, by = 0 }: Length, length: number): Length {
  if (BY.includes(kind)) return { by: Math.sign(by) * length };
  return ms === 0 ? {} : { ms: length };
}
