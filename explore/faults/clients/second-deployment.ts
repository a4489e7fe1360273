/** A fault: a second deployment of the code starts beside the first one, and its process has the name of a client that goes on. */
import { clientOf, type Fault } from '../fault.ts';

export const secondDeployment: Fault<'pid'> = {
  sentence:
    "a second deployment starts beside the first: another process runs the code with a client's `name` and host name while that client goes on. In half of the worlds it has the client's process id too, as in containers. An owner id that is made of these names does not survive it",
  strikes: 'a client',
  onRequest: true,
  hows: ['pid'],
  variants: ({ clients }) => clients.flatMap((on) => [{ on }, { on, how: 'pid' as const }]),
  strike: async (context, { on, how }) => {
    if (clientOf(context, on) === undefined) return;
    const name = context.deploy(on, how === 'pid');
    if (name === undefined) return;
    const ids = how === 'pid' ? 'the name, the host name and the process id' : 'the name and the host name';
    context.tell(name, `starts in a second deployment, with ${ids} of ${on}`);
  },
};
