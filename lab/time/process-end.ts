/** How a program in a world ends by itself: it exits, or something fails in it that nothing catches. */

/** The end of a program. */
export interface ProcessEnd {
  readonly how: 'exit' | 'signal' | 'exception' | 'rejection';
  /** What ended it, in words, such as `process.exit(1)`. */
  readonly text: string;
  /** What was thrown, if anything was. */
  readonly error?: unknown;
}

/** Thrown to stop the code of a program that has ended. It is no failure. */
export class ProcessEnded extends Error {
  constructor() {
    super('this process has ended');
    this.name = 'ProcessEnded';
  }
}

/** An error's name and text. */
export function errorText(thrown: unknown): string {
  return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
}
