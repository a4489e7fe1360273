/**
 * Stories about one primary and its replicas: a failover loses a lock, and what WAIT, fences and a quorum change about
 * it.
 */
import type { Redis } from 'ioredis';
import { type Pair, startPair } from '../pair.ts';
import type { Failover } from '../replica-group/replica-group.ts';
import { withSends } from '../timeline/resource-sends.ts';
import { type Played, StoryRecorder, type Verdict } from './recorder.ts';

const KEY = 'my:lock';
const LEASE = 30_000;
/** How long a write travels to the store, in milliseconds. */
const TRAVEL = 2;

/** The nodes, clients and recorder of a story. */
interface ReplicatedScene {
  readonly pair: Pair;
  readonly recorder: StoryRecorder;
  readonly a: Redis;
  readonly b: Redis;
}

interface Setting {
  readonly title: string;
  readonly seed: number;
  readonly replicas?: number;
  readonly quorum?: boolean;
  /** Lanes in addition to A, B and the nodes. */
  readonly lanes?: readonly string[];
  play(scene: ReplicatedScene): Promise<Verdict>;
}

async function tell({
  title,
  seed,
  replicas = 1,
  quorum = false,
  lanes = [],
  play,
}: Setting): Promise<Played> {
  await using pair = await startPair({ clock: 'virtual', seed, replicas, quorum });
  const begun = pair.world.elapsed();
  const names = ['A', 'B', ...lanes, ...pair.nodes.map(({ name }) => name)];
  const recorder = new StoryRecorder(names, () => (pair.world.elapsed() - begun) / 1000);
  const scene = { pair, recorder, a: pair.client('A'), b: pair.client('B') };
  const verdict = await play(scene);
  // What is still under way arrives, so that no message ends in the middle of a picture.
  await pair.advance(20);
  const steps = recorder.stepsOf(lanes, begun);
  const data = pair.timelineData({ title, verdict, resources: lanes, steps, from: begun });
  const timeline = withSends(data, recorder.sendsFrom(0));
  return { title, lanes: names, events: recorder.events, verdict, timeline };
}

/** Acquires the lock for a client with SET NX PX. */
async function lock({ recorder }: ReplicatedScene, who: 'A' | 'B', client: Redis): Promise<boolean> {
  const reply = await client.set(KEY, who, 'PX', LEASE, 'NX');
  const request = `SET ${KEY} ${who} NX PX ${LEASE}`;
  recorder.note(who, `${request} -> ${reply ?? 'nil'}`, reply === 'OK' ? 'good' : 'plain');
  return reply === 'OK';
}

function hold({ pair, recorder }: ReplicatedScene, replica: string): void {
  pair.linkTo(replica).hold();
  recorder.note(replica, 'the link is held: replication stops here', 'hand');
}

async function failover({ pair, recorder }: ReplicatedScene, to?: string): Promise<Failover> {
  recorder.note(pair.primary.name, 'crash', 'hand');
  const done = await pair.failover({ crash: true, ...(to !== undefined && { to }) });
  recorder.note(
    done.to,
    `promoted at offset ${done.offset ?? '?'}; ${done.from} was at ${done.oldOffset}`,
    'hand',
  );
  for (const { key, holder, offset } of done.lost) {
    recorder.note(done.to, `never arrived: ${key} = ${holder ?? '?'}, offset ${offset}`, 'bad');
  }
  return done;
}

function becauseLost(done: Failover): string {
  const [write] = done.lost;
  if (write === undefined) return 'Nothing that was acknowledged is lost.';
  return `${done.to} was promoted at offset ${done.offset}. ${write.command.join(' ')} ended at offset ${write.offset} and never reached it, so ${done.to} gave the lock to B as well.`;
}

/** The first story: after a failover two clients hold the lock. */
export function plainFailover(seed: number): Promise<Played> {
  return tell({
    title: 'Failover',
    seed,
    async play(scene) {
      hold(scene, 'redis-2');
      await lock(scene, 'A', scene.a);
      const done = await failover(scene);
      const taken = await lock(scene, 'B', scene.b);
      return { holders: taken ? ['A', 'B'] : ['A'], safe: !taken, why: becauseLost(done) };
    },
  });
}

async function wait({ recorder }: ReplicatedScene, client: Redis, note = ''): Promise<number> {
  const copies = await client.wait(1, 100);
  recorder.note('A', `WAIT 1 100${note} -> ${copies}`, copies > 0 ? 'good' : 'bad');
  return copies;
}

/** WAIT reports how many replicas have the write, and A relies on it. */
export function withWait(seed: number): Promise<Played> {
  return tell({
    title: 'Failover, A asks WAIT 1 and gives up on 0',
    seed,
    async play(scene) {
      hold(scene, 'redis-2');
      await lock(scene, 'A', scene.a);
      const copies = await wait(scene, scene.a);
      if (copies === 0) {
        await scene.a.del(KEY);
        scene.recorder.note('A', `DEL ${KEY}: not acquired`, 'plain');
      }
      await failover(scene);
      const taken = await lock(scene, 'B', scene.b);
      const holders = [...(copies > 0 ? ['A'] : []), ...(taken ? ['B'] : [])];
      return {
        holders,
        safe: holders.length < 2,
        why: 'A knew that no replica had its lock, and let go of it.',
      };
    },
  });
}

/** One replica confirms WAIT, and the other one is promoted. */
export function waitOfAnotherReplica(seed: number): Promise<Played> {
  return tell({
    title: 'WAIT 1 answers 1, and the other replica is promoted',
    seed,
    replicas: 2,
    async play(scene) {
      hold(scene, 'redis-3');
      await lock(scene, 'A', scene.a);
      await wait(scene, scene.a);
      const done = await failover(scene, 'redis-3');
      const taken = await lock(scene, 'B', scene.b);
      const sentence =
        'redis-1 told A yes, and redis-2 had a copy, so WAIT answered 1. But redis-3, which had none, took over, knew nothing of A, and told B yes.';
      return {
        holders: taken ? ['A', 'B'] : ['A'],
        safe: !taken,
        why: becauseLost(done),
        ...(taken && { sentence }),
      };
    },
  });
}

/** WAIT on another connection: it covers the writes of its own connection only, and that one has written nothing. */
export function waitOnAnotherConnection(seed: number): Promise<Played> {
  return tell({
    title: 'WAIT 1 on another connection of the pool',
    seed,
    async play(scene) {
      const other = scene.pair.client('A');
      await other.ping();
      hold(scene, 'redis-2');
      await lock(scene, 'A', scene.a);
      await wait(scene, other, ' (another connection)');
      await failover(scene);
      const taken = await lock(scene, 'B', scene.b);
      const why =
        'WAIT waits for the writes of its own connection, which had none: the 1 says nothing about the lock.';
      const sentence =
        'A asked WAIT on another connection, which had written nothing, so its 1 said nothing about the lock. The copy of the lock never reached redis-2, which took over, knew nothing of A, and told B yes.';
      return { holders: taken ? ['A', 'B'] : ['A'], safe: !taken, why, ...(taken && { sentence }) };
    },
  });
}

/** A resource that refuses tokens smaller than the largest that it has seen. */
class Resource {
  readonly accepted: { who: string; token: number }[] = [];

  /** A write travels to the store. Settles with what the store makes of it. */
  async write({ recorder, pair }: ReplicatedScene, who: string, token: number): Promise<boolean> {
    const sent = recorder.now() ?? 0;
    await pair.advance(TRAVEL);
    recorder.sends.push({ client: who, resource: 'store', sent, arrived: recorder.now() ?? 0 });
    const last = this.accepted.at(-1)?.token ?? 0;
    const fine = token >= last;
    if (fine) this.accepted.push({ who, token });
    const write = `the write of ${who} with fence ${token}`;
    if (fine) recorder.note('store', `accepts ${write}`, 'good');
    else recorder.note('store', `refuses ${write}: it has seen ${last}`, 'bad');
    return fine;
  }
}

async function fence(scene: ReplicatedScene, who: 'A' | 'B', client: Redis): Promise<number> {
  const token = await client.incr(`${KEY}:fence`);
  scene.recorder.note(who, `INCR ${KEY}:fence -> ${token}`);
  return token;
}

/** A token that grows with each grant, checked by the resource. */
export function withFence(seed: number): Promise<Played> {
  return tell({
    title: 'A fencing token, checked at the resource',
    seed,
    lanes: ['store'],
    async play(scene) {
      const resource = new Resource();
      const first = await fence(scene, 'A', scene.a);
      await scene.a.wait(1, 1000);
      hold(scene, 'redis-2');
      await lock(scene, 'A', scene.a);
      await failover(scene);
      await lock(scene, 'B', scene.b);
      const second = await fence(scene, 'B', scene.b);
      await resource.write(scene, 'B', second);
      const late = await resource.write(scene, 'A', first);
      return {
        holders: ['A', 'B'],
        safe: !late,
        why: 'The store has seen the larger fence of B, and refuses the write of A.',
      };
    },
  });
}

/** The fence's counter is on the node that the failover rolls back. */
export function fenceRolledBack(seed: number): Promise<Played> {
  return tell({
    title: 'The fencing counter is rolled back by the failover',
    seed,
    lanes: ['store'],
    async play(scene) {
      const resource = new Resource();
      hold(scene, 'redis-2');
      await lock(scene, 'A', scene.a);
      const first = await fence(scene, 'A', scene.a);
      const done = await failover(scene);
      await lock(scene, 'B', scene.b);
      const second = await fence(scene, 'B', scene.b);
      await resource.write(scene, 'B', second);
      const late = await resource.write(scene, 'A', first);
      const why = `Both were given fence ${first}, because the INCR at offset ${done.lost.at(-1)?.offset} was lost too: the store cannot tell them apart.`;
      const sentence =
        'redis-1 told A yes, and gave it fence 1. No copy of either reached redis-2, which took over, told B yes, and gave B fence 1 as well: the store cannot tell A from B.';
      return { holders: ['A', 'B'], safe: !late, why, ...(late && { sentence }) };
    },
  });
}

/** The same failover without and with a quorum, which give up different things: a lock, or an answer. */
export function quorum(seed: number, cp: boolean): Promise<Played> {
  return tell({
    title: cp ? 'Quorum: answered only when a majority has it' : 'No quorum: answered at once',
    seed,
    replicas: 2,
    quorum: cp,
    async play(scene) {
      const { pair, recorder, a } = scene;
      hold(scene, 'redis-2');
      hold(scene, 'redis-3');
      const patience = 500;
      const begun = pair.world.now;
      const told = await pair.run(() =>
        Promise.race([
          a.set(KEY, 'A', 'PX', LEASE, 'NX').catch(() => 'connection lost'),
          new Promise((resolve) => setTimeout(resolve, patience, 'no answer')),
        ]),
      );
      const acquired = told === 'OK';
      // The client gives up by disconnecting. Otherwise ioredis would send the request again, to the new primary.
      if (!acquired) {
        a.disconnect();
        pair.note('A', `gives up: it has had no answer for ${patience} ms`);
      }
      recorder.note(
        'A',
        `SET ${KEY} A NX PX ${LEASE} -> ${told} after ${pair.world.now - begun} ms`,
        acquired ? 'good' : 'plain',
      );
      const done = await failover(scene);
      const taken = await lock(scene, 'B', scene.b);
      const holders = [...(acquired ? ['A'] : []), ...(taken ? ['B'] : [])];
      const why = cp
        ? `No replica confirmed A's write, so redis-1 did not answer. A gave up after ${patience} ms, although nobody had the lock: that is the price of the quorum. Later only B was told yes.`
        : `The price is mutual exclusion: A was answered at once. ${becauseLost(done)}`;
      return { holders, safe: holders.length < 2, why };
    },
  });
}
