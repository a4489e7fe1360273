/** Functions as a module keeps them that was loaded before the router: what a world can neither seed nor move. */

/** The process' own randomness. */
export const capturedRandom = Math.random;

export const realTimeout = setTimeout;
export const realImmediate = setImmediate;
