/** What a watchdog in another thread sees of the worlds of this process: that they move, and whose code runs. */

/** The cells of the memory that both threads share. */
export const CELL = {
  /** Grows with every step of a world. */
  beat: 0,
  /** 1 while steps of a world are taken; other code of the process may take as long as it likes. */
  inside: 4,
  /** The number of the actor whose code runs. */
  running: 1,
  /** How long the text is that says which world is played; 0 while none is. */
  text: 2,
  /** How long a step may take, in milliseconds of CPU time. */
  limit: 3,
} as const;

/** The shared cells; undefined while nobody watches. */
export const beats: { cells: Int32Array | undefined } = { cells: undefined };
