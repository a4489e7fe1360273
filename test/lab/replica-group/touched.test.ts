/** What an effect of the replication stream touches. */
import { expect, test } from 'vitest';
import { touchedBy } from '../../../lab/replica-group/touched.ts';
import type { Server } from '../../../server/server.ts';
import { key } from '../../../server/table/command.ts';

test('a command that a user added writes the key that it declares; if it only reads that, any key may differ', () => {
  const touched = (flags: string) => {
    const command = { fullName: 'own', spec: { flags: ['write'], keys: key(flags) } };
    return touchedBy({ commands: new Map([['own', command]]) } as unknown as Server, {
      db: 3,
      argv: ['OWN', 'k', 'v'],
    });
  };
  expect(touched('RW UPDATE')).toMatchObject({ keys: [{ db: 3, key: 'k' }], databases: [] });
  expect(touched('RO ACCESS')).toMatchObject({ keys: [], databases: [3], fate: 'unknown' });
});
