/** Math.random as a module keeps it that was loaded before the router: what a world cannot seed. */

/** The process' own randomness. */
export const capturedRandom = Math.random;
