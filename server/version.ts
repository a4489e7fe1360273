/** The versions this node claims: Redis' answers it gives, and its own. */

/** The Redis whose answers are given. */
export const VERSION = '7.0.15';

/** lostlock's own version; kept equal to package.json by a test. */
export const LOSTLOCK_VERSION = '0.1.0';
