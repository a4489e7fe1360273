/** A fault: an operator moves the slots of keys that are in use to another primary of the cluster. */
import { type Fault, primariesOf, setOf } from '../fault.ts';

/** How long the moving takes, in milliseconds: half of it before the keys move, and half of it after. */
const TAKES = 200;

export const slotMigration: Fault<never> = {
  sentence:
    'in a cluster, an operator moves the slots of keys that are in use to another primary, key by key, as resharding does',
  strikes: 'a node',
  variants: (among) => (among.cluster ? primariesOf(among).map((on) => ({ on, ms: TAKES })) : []),
  strike: async (context, { on, ms }) => {
    const { sets, tell, wait } = context;
    const from = setOf(context, on);
    const to = sets.find((set) => set !== from && set.primary.up);
    if (to === undefined || !from.primary.up) return;
    const [giver, taker] = [from.operator(), to.operator()];
    const ask = async (who: typeof giver, ...words: string[]): Promise<unknown> =>
      await who.call(words[0] as string, ...words.slice(1));
    const assign = async (who: typeof giver, slot: string, how: string, node: string): Promise<unknown> =>
      await ask(who, 'CLUSTER', 'SETSLOT', slot, how, node);
    try {
      const keys = (await ask(giver, 'KEYS', '*')) as string[];
      const slots = new Set<string>();
      for (const key of keys) slots.add(String(await ask(giver, 'CLUSTER', 'KEYSLOT', key)));
      if (slots.size === 0) return;
      const [mine, theirs] = [
        String(await ask(giver, 'CLUSTER', 'MYID')),
        String(await ask(taker, 'CLUSTER', 'MYID')),
      ];
      const [host = '', port = ''] = addressOf(String(await ask(giver, 'CLUSTER', 'NODES')), theirs);
      for (const slot of slots) {
        await assign(taker, slot, 'IMPORTING', mine);
        await assign(giver, slot, 'MIGRATING', theirs);
      }
      tell(on, `begins to move the slots of ${keys.join(', ')} to ${to.primary.name}`);
      await wait(ms / 2);
      for (const slot of slots) {
        const left = (await ask(giver, 'CLUSTER', 'GETKEYSINSLOT', slot, '1000')) as string[];
        if (left.length > 0) await ask(giver, 'MIGRATE', host, port, '', '0', '5000', 'KEYS', ...left);
      }
      await wait(ms / 2);
      for (const slot of slots) {
        await assign(taker, slot, 'NODE', theirs);
        await assign(giver, slot, 'NODE', theirs);
      }
      tell(on, `has moved them to ${to.primary.name}`);
    } finally {
      giver.disconnect();
      taker.disconnect();
    }
  },
};

/** The address of a node in what CLUSTER NODES answers. */
function addressOf(nodes: string, id: string): string[] {
  const line = nodes.split('\n').find((each) => each.startsWith(id)) ?? '';
  return (line.split(' ')[1] ?? '').split('@', 1)[0]?.split(':') ?? [];
}
