/** lostlock's own version. The version of the server that a node answers as is its dialect's. */

/** Kept equal to package.json by a test. */
export const LOSTLOCK_VERSION = '0.1.0';
