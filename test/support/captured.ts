/** Functions captured by a module loaded before the router: a world can neither seed nor move them. */

/** The process' own randomness. */
export const capturedRandom = Math.random;

export const realTimeout = setTimeout;
export const realImmediate = setImmediate;
