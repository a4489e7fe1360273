/** A corpus on disk: a folder with one file for each plan that is worth playing again. Copied together, two corpora are one. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { badOption } from '../base/options.ts';
import type { FullOptions } from './options.ts';
import { decodePlan, encodePlan, NO_HASH, type WorldPlan } from './plan.ts';
import { type KeptFor, type PlanStore, planId } from './search/corpus.ts';

const FILE = /^(finding|state)-[0-9a-f]{16}\.txt$/;

/**
 * The corpus that the options name; undefined without one. It is made when it is not there. Throws TypeError when it cannot be read or
 * made.
 */
export function corpusOf({ corpus, name }: Pick<FullOptions, 'corpus' | 'name'>): PlanStore | undefined {
  if (corpus === undefined) return undefined;
  const folder = join(corpus, folderName(name));
  try {
    mkdirSync(folder, { recursive: true });
    return new KeptPlans(corpus, folder);
  } catch (error) {
    throw badOption('corpus', corpus, `a folder for plans: ${(error as Error).message}`);
  }
}

/** The exploration's part of a corpus: its name as far as files may have it, and a hash of all of it. */
function folderName(name: string): string {
  const plain = name.replace(/[^\w-]+/g, '-').slice(0, 60);
  return `${plain}-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}

class KeptPlans implements PlanStore {
  readonly name: string;
  readonly #folder: string;
  readonly #plans: readonly WorldPlan[];
  readonly #files: Set<string>;

  constructor(name: string, folder: string) {
    this.name = name;
    this.#folder = folder;
    // The names are hashes: their order is the same wherever the files were copied. "finding" comes before "state".
    const files = readdirSync(folder)
      .filter((file) => FILE.test(file))
      .sort();
    this.#files = new Set(files);
    this.#plans = files.flatMap((file) => {
      const text = readFileSync(join(folder, file), 'utf8');
      const plan = decodePlan(text)?.plan;
      if (plan === undefined) throw new Error(`${file} has no plan: ${text.slice(0, 60)}`);
      return [plan];
    });
  }

  read(): readonly WorldPlan[] {
    return this.#plans;
  }

  keep(plan: WorldPlan, why: KeptFor): boolean {
    const file = `${why}-${planId(plan)}.txt`;
    if (this.#files.has(file) || this.#files.has(`finding-${planId(plan)}.txt`)) return false;
    this.#files.add(file);
    const path = join(this.#folder, file);
    if (existsSync(path)) return false;
    // Other processes may read the folder, and write the same plan, at the same time.
    const draft = `${path}.${process.pid}`;
    writeFileSync(draft, `${encodePlan(plan, NO_HASH)}\n`);
    renameSync(draft, path);
    return true;
  }
}
