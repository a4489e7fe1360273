/** The registry of promises: each is one file beside this one, and one line here. Docs, options and judges iterate it. */
import { contended } from './contended.ts';
import { durableAcks } from './durable-acks.ts';
import { everyoneServed } from './everyone-served.ts';
import { fair } from './fair.ts';
import { fencing } from './fencing.ts';
import { linearizableText } from './linearizable.ts';
import { mutualExclusion } from './mutual-exclusion.ts';
import { noLostUpdate } from './no-lost-update.ts';
import { noOrphan } from './no-orphan.ts';
import { once } from './once.ts';
import { permits } from './permits.ts';
import { progress } from './progress.ts';
import type { LockPromise } from './promise.ts';
import { releasedByHolder } from './released-by-holder.ts';

const allPromises = {
  'mutual-exclusion': mutualExclusion,
  fencing,
  'durable-acks': durableAcks,
  permits,
  'no-orphan': noOrphan,
  progress,
  'everyone-served': everyoneServed,
  'released-by-holder': releasedByHolder,
  once,
  'no-lost-update': noLostUpdate,
  fair,
  contended,
} satisfies Record<string, LockPromise>;

/** Something that a lock may promise. docs/explore.md has what each of them says. */
export type PromiseName = keyof typeof allPromises;

/** Every promise that an exploration knows. */
export const PROMISES: readonly PromiseName[] = Object.keys(allPromises) as PromiseName[];

/** Every promise, with its name. */
export const promises: readonly (LockPromise & { readonly name: PromiseName })[] = PROMISES.map((name) => ({
  name,
  ...allPromises[name],
}));

/** The promises that are made for an object, as their users write them. */
export const madePromises: readonly (Pick<LockPromise, 'sentence' | 'nothing'> & {
  readonly name: string;
})[] = [{ name: 'linearizable(object)', ...linearizableText }];
