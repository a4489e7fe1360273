/** What a played world shows by itself: the messages of its trace and the write logs of its servers. No account is asked. */
import type { PlayedWorld } from '../../explore/played-world.ts';

/** A write of a server's log. Times are in milliseconds since the clients started. */
export interface LoggedWrite {
  readonly at: number;
  readonly node: string;
  readonly client: string | undefined;
  readonly key: string;
  /** The command in capitals. */
  readonly name: string;
  /** True when the key is gone after it, or one of its fields. */
  readonly removes: boolean;
  /** True when it sets the key for somebody, and not only the end of its lease. */
  readonly sets: boolean;
  /** The end of the lease that it sets, by the server's clock; undefined when it sets none. */
  readonly deadline: number | undefined;
  /** The server's clock. */
  readonly clock: number;
}

/** A message of the trace. Times are in milliseconds since the clients started. */
export interface SeenMessage {
  readonly from: string;
  readonly to: string;
  readonly sent: number;
  /** When it arrived; for a lost one, when it was lost. */
  readonly at: number;
  readonly bytes: string;
  readonly lost: boolean;
}

/** What a world shows. */
export interface Evidence {
  /** True for several primaries that know nothing of each other. */
  readonly areIndependent: boolean;
  readonly writes: readonly LoggedWrite[];
  readonly messages: readonly SeenMessage[];
  /** The moments at which nodes were promoted, or started again, or had their clocks changed. */
  readonly changes: readonly { readonly at: number; readonly node: string; readonly what: string }[];
}

/** How far two times of one event may lie apart, in milliseconds: they are sums of fractions. */
const SAME = 0.002;

/** True for two times of one event. */
export function isAt(one: number, other: number): boolean {
  return Math.abs(one - other) < SAME;
}

/** Reads the trace and the logs. Throws for a world on real servers. */
export function evidenceOf({ world, begunAt, events, sets }: PlayedWorld): Evidence {
  if (world === undefined) throw new Error('real servers leave no such evidence');
  const since = (micros: number): number => (micros - begunAt) / 1000;
  const writes = world.writes.map(({ at, node, write }): LoggedWrite => {
    const { key, type, client, command, at: clock } = write;
    const name = (command[0] ?? '').toUpperCase();
    const removes = type === 'none' || name === 'HDEL' || name === 'ZREM';
    const sets = !removes && !/^(?:PEXPIREAT|PERSIST|PUBLISH)$/.test(name);
    const end =
      name === 'PEXPIREAT' ? command[2] : command[command.findIndex((word) => /^pxat$/i.test(word)) + 1];
    const hasEnd = name === 'PEXPIREAT' || command.some((word) => /^pxat$/i.test(word));
    const deadline = hasEnd ? Number(end) : undefined;
    return { at: since(at), node, client, key, name, removes, sets, deadline, clock };
  });
  const message =
    (lost: boolean) =>
    ({ who, at, sent = at, detail }: (typeof events)[number]): SeenMessage => {
      const [from = '', to = ''] = who.split('>').map((end) => end.split(':', 1)[0] as string);
      return { from, to, sent: since(sent), at: since(at), bytes: detail, lost };
    };
  const changes = events
    .filter(({ what }) => ['promote', 'promoted', 'restart', 'clock'].includes(what))
    .map(({ at, who, what }) => ({ at: since(at), node: who, what }));
  return {
    areIndependent: sets.length > 1 && sets.every(({ decides }) => decides !== 'a cluster'),
    writes,
    messages: [
      ...events.filter(({ what }) => what === 'data').map(message(false)),
      ...world.trace.strays.map(message(true)),
    ],
    changes,
  };
}
