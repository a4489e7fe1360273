/** Records redis-server 7.0's replies to the corpus: `npx tsx test/protocol/record-corpus.ts`. */
import { writeFileSync } from 'node:fs';
import { RawClient } from '../support/raw-client.ts';
import { startRedisServer } from '../support/redis-server.ts';
import { type Recorded, record } from './conversation.ts';
import { corpus } from './corpus.ts';

const open = await startRedisServer();
const guarded = await startRedisServer({ args: ['--requirepass', 'secret'] });
const golden: Record<string, Recorded> = {};
for (const server of [open, guarded]) {
  const fence = await RawClient.connect({ path: server.path });
  for (const { name, bytes, auth } of corpus) {
    if ((server === guarded) !== (auth ?? false)) continue;
    golden[name] = await record(() => ({ path: server.path }), fence, bytes);
  }
  fence.close();
  await server.stop();
}
writeFileSync('test/golden/protocol-corpus.json', `${JSON.stringify(golden, undefined, 1)}\n`);
