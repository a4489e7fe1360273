/** Writes for the watchdog which world is played, and whose the code is that runs in it. */
import { beats, CELL } from '../lab/time/beats.ts';

/** Where the text begins in the shared memory, and how long it may be, in bytes. */
export const TEXT = 64;
const LONGEST = 64 * 1024;

/** Which world is played. */
interface WatchedWorld {
  /** What plays it again. */
  readonly replay: string;
  /** The names of the clients by the numbers of their actors. */
  readonly clients: Readonly<Record<number, string>>;
}

let memory: Uint8Array | undefined;

/** Makes the memory that this thread and the watchdog's share. */
export function shareMemory(): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(TEXT + LONGEST);
  memory = new Uint8Array(buffer, TEXT);
  beats.cells = new Int32Array(buffer, 0, TEXT / 4);
  return buffer;
}

/** A world is played. Its clients are known once they are there. */
export function watchWorld(world: WatchedWorld): void {
  const { cells } = beats;
  if (cells === undefined || memory === undefined) return;
  Atomics.store(cells, CELL.text, 0);
  // Where there is a watchdog there is a Buffer, and in Jest's jsdom no TextEncoder.
  const text = Buffer.from(JSON.stringify(world));
  if (text.length > LONGEST) return;
  memory.set(text);
  Atomics.store(cells, CELL.text, text.length);
}

/** No world is played. */
export function watchNothing(): void {
  if (beats.cells !== undefined) Atomics.store(beats.cells, CELL.text, 0);
}
