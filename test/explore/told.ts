/** What the tests of stories share. */
import { type ExploreOptions, replay } from '../../explore/index.ts';

export type Client = ExploreOptions['client'];

/** What a client does about an error. */
export const none = (): null => null;

/** The story of one world, without the numbers of a trace. @param faults as a replay text has them */
export async function storyOf(
  client: Client,
  clients: string,
  faults: string,
  more: Partial<ExploreOptions> = {},
): Promise<string> {
  const options: ExploreOptions = { name: 'told', topology: { replicas: 1 }, client, ...more };
  const { story } = await replay(options, `2:1:0:${clients}:${faults}:000000000000`);
  return story;
}
