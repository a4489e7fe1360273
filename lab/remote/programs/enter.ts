/** Reads how LAB ENTER says that a client enters a resource. */
import type { Bytes } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import { LabArguments } from '../arguments.ts';

/** How a client enters. */
export interface EnterChoice {
  /** How many permits the resource has; 1 for a lock. */
  readonly permits: number;
  /** How many of them the client uses. */
  readonly uses: number;
  readonly fence: number | undefined;
  readonly shared: boolean;
  readonly owner: string | undefined;
  /** An idempotency key: what the resource has done under it, it does not do again. */
  readonly key: string | undefined;
  /** True for something that must be done once. */
  readonly once: boolean;
}

/** The syntax of the words behind the resource. */
export const ENTER_SYNTAX =
  '[FENCE=fence:double] [SHARED] [PERMITS=permits:int] [USES=permits-used:int] [OWNER=owner] [KEY=idempotency-key] [ONCE] [NUMBER=number:int]';

/** Reads the words behind the resource. Throws Redis' errors for wrong ones. */
export function readEnter(words: readonly Bytes[]): { how: EnterChoice; options: LabArguments } {
  const options = new LabArguments(
    words,
    ['FENCE', 'PERMITS', 'USES', 'OWNER', 'KEY', 'NUMBER'],
    ['SHARED', 'ONCE'],
  );
  const [permits, uses] = [options.number('PERMITS') ?? 1, options.number('USES') ?? 1];
  for (const [name, value] of Object.entries({ PERMITS: permits, USES: uses }))
    if (!Number.isInteger(value) || value < 1) fail(`ERR ${name} must be a whole number from 1`);
  if (uses > permits) fail('ERR USES must be at most PERMITS');
  const shared = options.has('SHARED');
  if (shared && permits > 1) fail('ERR SHARED is for a resource with one permit');
  const fence = options.number('FENCE');
  if (fence !== undefined && !Number.isFinite(fence)) fail('ERR FENCE must be a number');
  const [owner, key] = [options.text('OWNER'), options.text('KEY')];
  const how = { permits, uses, fence, shared, owner, key, once: options.has('ONCE') };
  return { how, options };
}
