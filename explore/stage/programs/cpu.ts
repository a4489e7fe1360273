/** How much time of the processor processes have used. Only Linux says so for processes that others have started. */
import { readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second. */
const TICK_MS = 10;

/** The time that a process has used, in milliseconds; undefined when that is not known. */
export function cpuOf(pid: number | undefined): number | undefined {
  if (pid === undefined || process.platform !== 'linux') return undefined;
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program comes second, and may have spaces.
    const words = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(words[11]) + Number(words[12])) * TICK_MS;
  } catch {
    return undefined;
  }
}
