/** Sends generated programs to lostlock's Sentinel and to the real one, and reports where the replies or events differ. */
import type { DialectName } from '../../../server/dialects/index.ts';
import { Random } from '../random.ts';
import { sentinelRequest } from './requests.ts';
import { Side } from './sides.ts';

const LENGTH = 40;

/** What a comparison found. */
export interface Comparison {
  readonly commands: number;
  /** One text for each difference. */
  readonly differences: readonly string[];
}

/** Compares until so many commands have been sent, or until `most` programs differ. */
export async function compareSentinels(
  program: string,
  dialect: DialectName,
  { commands, seed, most = 10 }: { commands: number; seed: number; most?: number },
): Promise<Comparison> {
  const random = new Random(seed);
  const differences: string[] = [];
  let sent = 0;
  let sides: Side[] = [];
  const stop = (): Promise<unknown> => Promise.all(sides.map((side) => side.stop()));
  try {
    while (sent < commands && differences.length < most) {
      if (sides.length === 0) sides = await Promise.all([Side.ours(dialect), Side.real(program)]);
      const [ours, real] = sides as [Side, Side];
      const requests = Array.from({ length: LENGTH }, () => sentinelRequest(random));
      const difference = await play(ours, real, requests);
      sent += LENGTH;
      if (difference === undefined) continue;
      differences.push(difference);
      // Epochs may differ from here on.
      await stop();
      sides = [];
    }
  } finally {
    await stop();
  }
  return { commands: sent, differences };
}

async function play(
  ours: Side,
  real: Side,
  requests: readonly (readonly string[])[],
): Promise<string | undefined> {
  const told: string[] = [];
  for (const words of requests) {
    const [mine, theirs] = await Promise.all([ours.ask(words), real.ask(words)]);
    told.push(words.map((word) => JSON.stringify(word)).join(' '));
    if (mine !== theirs) return `${told.join('\n')}\n  ours ${mine}\n  real ${theirs}`;
  }
  const [mine, theirs] = await Promise.all([ours.events(), real.events()]);
  if (mine.join('\n') !== theirs.join('\n')) {
    return `${told.join('\n')}\n  our events\n${mine.join('\n')}\n  real events\n${theirs.join('\n')}`;
  }
  await Promise.all([ours.reset(), real.reset()]);
  await Promise.all([ours.events(), real.events()]);
  return undefined;
}
