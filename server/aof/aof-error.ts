/** The error of an append-only file that cannot be loaded or written. */

/** The append-only file cannot be used. The message is what redis-server logs before it exits. */
export class AofError extends Error {
  override readonly name = 'AofError';
}

/** Returns the operating system's words for an error, as C's strerror gives them: `No space left on device`. */
export function systemError(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const words = /^E[A-Z0-9]+: ([^,]+)/.exec(message)?.[1] ?? message;
  return words.charAt(0).toUpperCase() + words.slice(1); // tidy bytes: a message, not a byte string
}
