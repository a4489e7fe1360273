/** What a library is to its exploration, and how its packages are loaded. */
import type { ExploreOptions } from '../../explore/index.ts';

/** A library, and how its lock is used. */
export interface Specimen {
  readonly name: string;
  /** The package to ask for its version; undefined for our own locks. */
  readonly module: string | undefined;
  readonly topology?: ExploreOptions['topology'];
  /** True for a job queue: its jobs must be done once. */
  readonly isQueue?: boolean;
  readonly client: ExploreOptions['client'];
}

// The libraries are used without their types, as far as is needed here.
// biome-ignore lint/suspicious/noExplicitAny: the libraries are loaded by name, and some have no types
export type Untyped = any; // tidy any: see above

/** Loads a package that was installed. */
export type Load = ((name: string) => Untyped) & {
  /** Loads the package with modules of its own, as a process does that has just started. */
  anew(name: string, ...also: string[]): Untyped;
};
