/** The scripts that a node knows by SHA-1. Some servers forget those that came with EVAL. */
import { asciiLower, type Bytes } from '../../protocol/bytes.ts';
import type { CompiledScript } from '../../scripting/registry.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Statistics } from '../figures/statistics.ts';

/** How many scripts of EVAL stay known, where the server forgets any. */
const KEPT = 500;

/** A script that the node knows. */
export interface KnownScript {
  readonly script: CompiledScript;
  /** When it was last run or added by EVAL: the larger, the later. */
  used: number;
}

/** The known scripts of a node. The 500 that EVAL added and that ran last stay, and all that SCRIPT LOAD added. */
export class KnownScripts {
  readonly #evaluated: Dialect['evaluatedScripts'];
  readonly #stats: Pick<Statistics, 'evictedScripts'>;
  readonly #bySha = new Map<Bytes, KnownScript>();
  /** Those that can be evicted. Only an eviction looks for the oldest, so that a run costs no more than a number. */
  readonly #evictable = new Set<KnownScript>();
  #uses = 0;
  #bytes = 0;

  constructor(evaluated: Dialect['evaluatedScripts'], stats: Pick<Statistics, 'evictedScripts'>) {
    this.#evaluated = evaluated;
    this.#stats = stats;
  }

  /** Returns a script by its SHA-1 in hexadecimal, in either case. */
  get(sha: Bytes): KnownScript | undefined {
    return this.#bySha.get(sha) ?? this.#bySha.get(asciiLower(sha));
  }

  /** SCRIPT LOAD: adds a script that stays until SCRIPT FLUSH. */
  load(script: CompiledScript): void {
    const known = this.#bySha.get(script.sha1);
    if (known === undefined) this.#add(script);
    else if (this.#evaluated === 'the last 500, unless loaded later') this.#evictable.delete(known);
  }

  /** EVAL: adds a script that may be evicted later, unless it is known already. */
  evaluate(script: CompiledScript): KnownScript {
    const known = this.#bySha.get(script.sha1);
    if (known !== undefined) return known;
    if (this.#evaluated === 'all stay') return this.#add(script);
    if (this.#evictable.size >= KEPT) this.#evict();
    const added = this.#add(script);
    this.#evictable.add(added);
    return added;
  }

  /** Notes that the script has run. One that was refused has not. */
  use(known: KnownScript): void {
    known.used = ++this.#uses;
  }

  /** SCRIPT FLUSH. */
  clear(): void {
    this.#bySha.clear();
    this.#evictable.clear();
    this.#bytes = 0;
  }

  get size(): number {
    return this.#bySha.size;
  }

  /** The total length of the scripts' texts, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  #add(script: CompiledScript): KnownScript {
    const added = { script, used: ++this.#uses };
    this.#bySha.set(script.sha1, added);
    this.#bytes += script.size;
    return added;
  }

  #evict(): void {
    let oldest: KnownScript | undefined;
    for (const each of this.#evictable) if (oldest === undefined || each.used < oldest.used) oldest = each;
    if (oldest === undefined) return;
    this.#evictable.delete(oldest);
    this.#bySha.delete(oldest.script.sha1);
    this.#bytes -= oldest.script.size;
    this.#stats.evictedScripts++;
  }
}
