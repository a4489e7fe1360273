/** Explores one form of a specimen until something is found. */
import { defined } from '../../base/defined.ts';
import { type ExploreOptions, type ExploreReport, explore } from '../../explore/index.ts';
import type { Specimen } from './list.ts';

/** What the exploration is called. */
interface Named {
  readonly number: string;
  readonly what: string;
}

type Searched = Pick<ExploreOptions, 'topology' | 'promises'>;

/** Explores client code that meets the specimen's faults, until a promise breaks or so many worlds are played. */
export async function search(
  { number, what, topology, promises, faults }: Named & Pick<Specimen, 'faults'> & Searched,
  client: ExploreOptions['client'],
  worlds: number,
  shard: ExploreOptions['shard'] = { index: 1, of: 1 },
): Promise<ExploreReport> {
  const stop = new AbortController();
  return await explore({
    ...{ name: `${number}: ${what}`, client, faults, clients: 3, shard, signal: stop.signal },
    ...defined({ topology, promises }),
    budget: { worlds, ms: Infinity },
    progress: ({ findings }) => {
      if (findings > 0) stop.abort();
    },
  });
}
