/** The short names of runs, as they stand in links: `#run=failover&step=4`. */
import type { Timeline } from './format.ts';

/** A name for each run: its own, or one made of its title. Each is different. */
export function runNames(runs: readonly Pick<Timeline, 'name' | 'title'>[]): string[] {
  const taken = new Set<string>();
  return runs.map(({ name, title }, i) => {
    const first = slug(name ?? title) || `run-${i + 1}`;
    let own = first;
    for (let number = 2; taken.has(own); number++) own = `${first}-${number}`;
    taken.add(own);
    return own;
  });
}

function slug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 80);
}
