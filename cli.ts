#!/usr/bin/env node
/** `npx lostlock`: the server for everyone who does not embed it; flags are redis.conf's names. */
import { parseArgs } from 'node:util';
import { startServer } from './index.ts';

const { values } = parseArgs({
  options: { port: { type: 'string', default: '6379' }, bind: { type: 'string', default: '127.0.0.1' } },
});
const server = await startServer({ port: Number(values.port), host: values.bind });
console.log(`Ready to accept connections tcp ${server.port}`);
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    void server.stop().then(() => process.exit(0));
  });
}
