/** Runs a section: a target, a bystander that watches it, and the lines that both add to the report. */
import { Bystander, type Waits } from './bystander.ts';
import { Target } from './target.ts';

/** A line of the report. */
export interface Finding {
  readonly what: string;
  readonly figures: string;
}

/** Formats a number of megabytes. */
export const megabytes = (value: number): string => `${Math.round(value)} MB`;
/** Formats a number. */
export const count = (value: number): string => value.toLocaleString('en');

/** The bystander's waits as a table cell. */
export function printWaits({ asked, median, p99, worst }: Waits): string {
  return `${count(asked)} questions, median ${median.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, worst ${worst.toFixed(1)} ms`;
}

/**
 * Attacks a fresh server while a bystander watches. The attack may reset the bystander after its own preparation.
 * Throws when the server did not survive.
 */
export async function attack(
  what: string,
  flags: readonly string[],
  run: (target: Target, bystander: Bystander) => Promise<string>,
): Promise<Finding[]> {
  const target = await Target.start(...flags);
  try {
    const bystander = new Bystander(target.port);
    await bystander.ready();
    // The first replies include the time for compilation.
    await new Promise((resolve) => setTimeout(resolve, 500));
    bystander.reset();
    const before = target.memory.now;
    const figures = await run(target, bystander);
    const waits = await bystander.stop();
    const { now, peak } = target.memory;
    if (!target.alive || !/^\+PONG|^-NOAUTH/.test(await target.ask('PING')))
      throw new Error(`${what}: the server died`);
    const failures = target.errors.filter((line) => /Internal error/.test(line));
    if (failures.length > 0) throw new Error(`${what}: ${failures[0]}`);
    return [
      { what, figures },
      {
        what: '– memory',
        figures: `${megabytes(before)} before, ${megabytes(peak)} at most, ${megabytes(now)} after`,
      },
      { what: '– a bystander', figures: printWaits(waits) },
    ];
  } finally {
    await target.stop();
  }
}
