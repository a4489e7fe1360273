/** Records what happens in a world, and when. */
import type { World } from '../../lab/virtual/world.ts';

/** A list, and the function that adds to it with the virtual milliseconds since now. */
export function observe(world: World) {
  const began = world.now;
  const seen: [at: number, what: unknown][] = [];
  const note = (what: unknown): void => void seen.push([world.now - began, what]);
  return { seen, note };
}
