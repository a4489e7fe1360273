/** The first story again, on two real redis-server processes. */
import type { Redis } from 'ioredis';
import { startPair } from '../pair.ts';
import { type Played, StoryRecorder } from './recorder.ts';

const KEY = 'my:lock';

/** Plays the story. Rejects with TypeError when redis-server is not installed. */
export async function realServerFailover(): Promise<Played> {
  await using pair = await startPair({ clock: 'real', nodes: 'redis-server' });
  const lanes = ['A', 'B', 'redis-1', 'redis-2'];
  const recorder = new StoryRecorder(lanes, () => undefined);
  const lock = async (who: 'A' | 'B', client: Redis): Promise<string[]> => {
    const reply = await client.set(KEY, who, 'PX', 30_000, 'NX');
    const isTaken = reply === 'OK';
    recorder.note(who, `SET ${KEY} ${who} NX PX 30000 -> ${reply ?? 'nil'}`, isTaken ? 'good' : 'plain');
    return isTaken ? [who] : [];
  };
  pair.link.hold();
  recorder.note('redis-2', 'the link is held: replication stops here', 'hand');
  const first = await lock('A', pair.client('A'));
  await pair.primary.crash();
  recorder.note('redis-1', 'crash (SIGKILL)', 'hand');
  await pair.promote('redis-2');
  recorder.note('redis-2', 'promoted (REPLICAOF NO ONE)', 'hand');
  const holders = [...first, ...(await lock('B', pair.client('B')))];
  const why = 'Two real redis-server processes do what the lab does.';
  return {
    title: 'Failover, with two real redis-servers',
    lanes,
    events: recorder.events,
    verdict: { holders, safe: holders.length < 2, why },
  };
}
