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
  o: 'overwritten',
  c: 'type_changed',
  // Reported to clients that watch or cache the key, and never published.
  '': 'opened',
};

const CLASS_OF = new Map<string, string>();
for (const [letter, events] of Object.entries(CLASSES)) {
  for (const event of events.split(' ')) CLASS_OF.set(event, letter);
}

/** The node, as notifications see it. */
interface NotifyingNode {
  readonly pubsub: { publish(channel: Bytes, text: Bytes): number };
}

/** The kinds of channels, by their letters in notify-keyspace-events. */
const CHANNELS = [...'KESTIV'];
/** Those on which events name the fields of a hash (https://redis.io/docs/latest/develop/pubsub/subkeyspace-notifications/). */
const FIELD_CHANNELS = [...'STIV'];

/** Writes names with their lengths: `3:abc,2:xy`. */
function listed(names: readonly Bytes[]): Bytes {
  return names.map((name) => `${name.length}:${name}`).join(',');
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
    return CHANNELS.some((letter) => this.#classes.has(letter));
  }

  /** True if events on hashes are delivered with the names of their fields. */
  get namesFields(): boolean {
    return this.#classes.has('h') && FIELD_CHANNELS.some((letter) => this.#classes.has(letter));
  }

  /** Applies the setting notify-keyspace-events. */
  configure(setting: Bytes): void {
    this.#classes = parseEventClasses(setting) ?? new Set();
  }

  /** Publishes an event on the key's and the event's channel, if its class is enabled. */
  send(db: Keyspace, key: Bytes, event: string, fields?: readonly Bytes[]): void {
    const classes = this.#classes;
    if (!classes.has(CLASS_OF.get(event) ?? 'g')) return;
    const { pubsub } = this.#server;
    if (classes.has('K')) pubsub.publish(`__keyspace@${db.index}__:${key}`, event);
    if (classes.has('E')) pubsub.publish(`__keyevent@${db.index}__:${event}`, key);
    if (fields !== undefined && fields.length > 0) this.#sendFields(db.index, key, event, fields);
  }

  #sendFields(db: number, key: Bytes, event: string, fields: readonly Bytes[]): void {
    const classes = this.#classes;
    const { pubsub } = this.#server;
    const names = listed(fields);
    if (classes.has('S')) pubsub.publish(`__subkeyspace@${db}__:${key}`, `${event}|${names}`);
    if (classes.has('T')) pubsub.publish(`__subkeyevent@${db}__:${event}`, `${listed([key])}|${names}`);
    // A line break separates the key from the field, so there is no such channel for a key that has one.
    if (classes.has('I') && !key.includes('\n')) {
      for (const field of fields) pubsub.publish(`__subkeyspaceitem@${db}__:${key}\n${field}`, event);
    }
    if (classes.has('V')) pubsub.publish(`__subkeyspaceevent@${db}__:${event}|${key}`, names);
  }
}
