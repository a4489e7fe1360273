/** After any sequence of writes, cuts, holds, crashes and promotions, healing makes all nodes equal, and losses are counted correctly. */
import { expect, test } from 'vitest';
import type { Value } from '../../keyspace/value.ts';
import { type Pair, startPair } from '../../lab/pair.ts';
import type { Random } from '../../lab/time/random.ts';
import type { LabNode } from '../../lab/virtual/node.ts';
import type { Server } from '../../server/server.ts';
import { isLongRun, sampleOf } from '../support/long.ts';

const SEEDS = Array.from({ length: sampleOf(200, 6) }, (_, i) => i + 1);
/** Of each seed. */
const COMMANDS = sampleOf(20_000, 700);
const KEYS = 40;

type Client = ReturnType<Pair['client']>;

/** One random command on one of a few keys, each of which keeps its type. */
function command(client: Client, random: Random): Promise<unknown> {
  const n = random.between(0, KEYS);
  const value = String(random.between(0, 1000));
  switch (random.between(0, 16)) {
    case 0:
      return client.set(`s${n}`, value, 'PX', random.between(1, 5000));
    case 1:
      return client.set(`s${n}`, value, 'NX');
    case 2:
      return client.pexpire(`s${n}`, random.between(1, 3000));
    case 3:
      return client.incrby(`n${n}`, random.between(-9, 9));
    case 4:
      return client.hset(`h${n}`, value, '1');
    case 5:
      return client.hdel(`h${n}`, value);
    case 6:
      return client.rpush(`l${n}`, value);
    case 7:
      return client.lpop(`l${n}`);
    case 8:
      return client.sadd(`t${n}`, value);
    case 9:
      return client.spop(`t${n}`);
    case 10:
      return client.multi().set(`s${n}`, value).incr(`n${n}`).exec();
    case 11:
      return client.call('HPEXPIRE', `h${n}`, random.between(0, 3000), 'FIELDS', 1, value);
    case 12: {
      const how = random.pick([['PX', random.between(1, 3000)], ['KEEPTTL'], []]);
      return client.call('HSETEX', `h${n}`, ...how, 'FIELDS', 2, value, 'x', 'counter', 1);
    }
    case 13:
      return client.hincrbyfloat(`h${n}`, 'counter', 0.5);
    case 14:
      return client.call('HGETEX', `h${n}`, 'PERSIST', 'FIELDS', 2, 'counter', value);
    default:
      return client.del(`s${n}`, `n${n}`, `h${n}`, `l${n}`, `t${n}`);
  }
}

/** Keys with their values and deadlines, read independently of the lab's own comparison. */
function dataset({ server }: LabNode): Map<string, string> {
  const now = server.host.clock.now();
  const found = new Map<string, string>();
  const db = server.db(0);
  for (const [key, entry] of db.entries) {
    const value = entry.read();
    const expiresAt = db.expiresAt(entry);
    if (expiresAt !== undefined && expiresAt < now) continue;
    const held = content(value, now);
    if (held !== undefined) found.set(key, JSON.stringify([expiresAt ?? null, held]));
  }
  return found;
}

/** undefined: a hash that has only expired fields. */
function content(value: Value, now: number): unknown {
  if (typeof value === 'string') return value;
  if (value.type === 'list') return value.range(0, value.size - 1);
  if (value.type === 'set') return { members: [...value.values()].sort() };
  if (value.type !== 'hash') throw new Error(`no ${value.type} was written`);
  const fields = [...value.entries()].map(([field, text]) => [
    field,
    text,
    value.times?.endOf(field) ?? null,
  ]);
  const live = fields.filter(([, , at]) => at === null || (at as number) >= now).sort();
  return live.length === 0 ? undefined : live;
}

function differences(a: Map<string, string>, b: Map<string, string>): string[] {
  return [...new Set([...a.keys(), ...b.keys()])].filter((key) => a.get(key) !== b.get(key)).sort();
}

/** Does something to the nodes or links; compares the losses that a failover reports with the difference of the datasets. */
async function disturb(pair: Pair, random: Random): Promise<void> {
  const { network } = pair.world;
  const replica = random.pick(pair.replicas);
  const link = pair.linkTo(replica.name);
  switch (random.between(0, 10)) {
    case 0:
      return link.hold();
    case 1:
      return link.release();
    case 2:
      return link.acks[random.next() < 0.5 ? 'hold' : 'release']();
    case 3:
      return network.reset(pair.primary.name, replica.name);
    case 4:
      return link[random.next() < 0.5 ? 'partition' : 'heal']();
    case 5:
      return replica.crash({ keep: random.pick(['nothing', 'everything'] as const) });
    case 6:
      for (const node of pair.nodes) if (!node.up) pair.restart(node.name);
      return;
    default:
      if (pair.replicas.some(({ up }) => up)) await failOver(pair, random);
  }
}

const seen = { answered: 0, failovers: 0, lost: 0, unanswered: 0, returned: 0, partial: 0, full: 0 };

async function failOver(pair: Pair, random: Random): Promise<void> {
  const old = pair.primary;
  const crash = random.next() < 0.7;
  const { to, lost, unanswered, returned, offset } = await pair.failover({ crash });
  seen.failovers++;
  seen.lost += lost.length;
  seen.unanswered += unanswered.length;
  seen.returned += returned.length;
  if (offset !== undefined) {
    const gone = new Set([...lost, ...unanswered, ...returned].map(({ key }) => key));
    // Demotion leaves the data as it was until the resync has arrived over a link, and a crash leaves it for ever.
    expect([...gone].sort()).toEqual(differences(dataset(old), dataset(pair.node(to))));
  }
}

/** Counts the resyncs that each process of each node has granted. */
function countResyncs(pair: Pair, servers: Set<Server>): void {
  for (const { server } of pair.nodes) servers.add(server);
}

async function story(seed: number): Promise<Pair> {
  const pair = await startPair({ clock: 'virtual', seed, replicas: 2 });
  const random = pair.world.stream('story');
  const clients = ['A', 'B', 'C'].map((name) => pair.client(name, { maxRetriesPerRequest: 0 }));
  const servers = new Set<Server>();
  await pair.run(async () => {
    for (let i = 0; i < COMMANDS; i++) {
      command(random.pick(clients), random).then(
        () => seen.answered++,
        () => {},
      );
      if (random.next() < 0.3) await pair.advance(random.between(0, 20));
      if (random.next() >= 0.05) continue;
      await disturb(pair, random);
      countResyncs(pair, servers);
    }
  }, 1e9);
  for (const { name } of pair.nodes) {
    for (const other of pair.nodes) pair.world.network.lane(name, other.name).release();
    if (!pair.node(name).up) pair.restart(name);
  }
  pair.world.network.heal();
  await pair.advance(5000);
  await pair.synchronize();
  countResyncs(pair, servers);
  for (const { replication } of servers) {
    seen.full += replication.counters.full;
    seen.partial += replication.counters.partial;
  }
  return pair;
}

test('all nodes end with the same data, offset and id, after any sequence of faults', async () => {
  for (const seed of SEEDS) {
    const pair = await story(seed);
    const { primary } = pair;
    for (const { name, server } of pair.replicas) {
      const where = `seed ${seed}, ${name}`;
      expect(differences(dataset(primary), dataset(pair.node(name))), where).toEqual([]);
      expect(server.replication.offset, where).toBe(primary.offset);
      expect(server.replication.id, where).toBe(primary.server.replication.id);
    }
    expect(primary.server.stats.internalErrors).toBe(0);
    await pair.close();
  }
  // Without these the test would prove nothing.
  const { returned, ...often } = seen;
  expect(returned).toBeGreaterThanOrEqual(isLongRun ? 1 : 0);
  for (const count of Object.values(often)) expect(count).toBeGreaterThan(0);
  expect(often.answered).toBeGreaterThan((SEEDS.length * COMMANDS) / 4);
});
