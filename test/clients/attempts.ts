/** A second attempt for comparisons that depend on how fast real processes fail over. */

/**
 * Runs a comparison, and once more if it fails or rejects. The line that starts with `retried` is counted by `.ci/run`.
 * @returns whether an attempt went well
 */
export async function onRealTime(name: string, compare: () => Promise<boolean>): Promise<boolean> {
  try {
    if (await compare()) return true;
  } catch (error) {
    console.log(`FAIL ${name}: ${(error as Error).message}`);
  }
  console.log(`retried ${name}`);
  return compare();
}
