/** Keyspace notifications: the enabled classes of events, and their delivery on the two kinds of channels. */
import type { Keyspace } from '../../keyspace/keyspace.ts';
import type { Bytes } from '../../protocol/bytes.ts';
import { parseEventClasses } from '../settings/event-classes.ts';

/** The events of each class, by its letter in notify-keyspace-events. Events that are not listed are generic. */
const CLASSES: Record<string, string> = {
  $: 'set setrange incrby incrbyfloat append setbit pfadd',
  l: 'lpush rpush lpop rpop linsert lset lrem ltrim sortstore',
  s: 'sadd srem spop sinterstore sunionstore sdiffstore',
  h: 'hset hincrby hincrbyfloat hdel hexpire hexpired hpersist',
  z: 'zadd zincr zrem zremrangebyscore zremrangebyrank zremrangebylex zpopmin zpopmax zinterstore zunionstore zdiffstore zrangestore geosearchstore georadiusstore',
  t: 'xadd xdel xtrim xsetid xgroup-create xgroup-createconsumer xgroup-delconsumer xgroup-destroy xgroup-setid',
  x: 'expired',
  e: 'evicted',
  m: 'keymiss',
  n: 'new',
};

const CLASS_OF = new Map<string, string>();
for (const [letter, events] of Object.entries(CLASSES)) {
  for (const event of events.split(' ')) CLASS_OF.set(event, letter);
}

/** The node, as notifications see it. */
interface NotifyingNode {
  readonly pubsub: { publish(channel: Bytes, text: Bytes): number };
}

/** The keyspace notifications of a node (https://redis.io/docs/latest/develop/use/keyspace-notifications/). */
export class Notifications {
  readonly #server: NotifyingNode;
  #classes: ReadonlySet<string> = new Set();

  constructor(server: NotifyingNode) {
    this.#server = server;
  }

  /** True if events are delivered on at least one kind of channel. */
  get enabled(): boolean {
    return this.#classes.has('K') || this.#classes.has('E');
  }

  /** Applies the setting notify-keyspace-events. */
  configure(setting: Bytes): void {
    this.#classes = parseEventClasses(setting) ?? new Set();
  }

  /** Publishes an event on the key's and the event's channel, if its class is enabled. */
  send(db: Keyspace, key: Bytes, event: string): void {
    const classes = this.#classes;
    if (!classes.has(CLASS_OF.get(event) ?? 'g')) return;
    const { pubsub } = this.#server;
    if (classes.has('K')) pubsub.publish(`__keyspace@${db.index}__:${key}`, event);
    if (classes.has('E')) pubsub.publish(`__keyevent@${db.index}__:${event}`, key);
  }
}
