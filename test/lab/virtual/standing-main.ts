/** Awaits a command of a world outside of it, with nothing else to do, for standing.realtime.test.ts. */
import '../../../lab/router.ts';
import { Redis } from 'ioredis';
import { startPair } from '../../../lab/start.ts';

const pair = await startPair();
const { redis } = await pair.actor('worker').run(() => ({ redis: new Redis(pair.url) }));
await redis.set('k', 1);
