/**
 * LATENCY: latency spikes and the distribution of command durations (https://redis.io/docs/latest/commands/latency/).
 */
import { asciiLower, type Bytes, cString } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import { MapReply, type Reply, Verbatim } from '../../../protocol/reply.ts';
import type { SpikeSeries } from '../../figures/latency.ts';
import type { Caller } from '../../server.ts';
import type { Command } from '../../table/command.ts';
import { defineContainer } from '../define.ts';

const DISABLED =
  'Latency monitoring is off. CONFIG SET latency-monitor-threshold <milliseconds> turns it on.';
const ROWS = 4;
const RULER = '-'.repeat(80);

/** Draws the spikes as columns whose height is the latency, with their age below. */
function graph(event: Bytes, series: SpikeSeries, second: number): Bytes {
  const { spikes, worst } = series;
  const values = spikes.map(({ millis }) => millis);
  const [high, low] = [Math.max(...values), Math.min(...values)];
  const lines = [`${event} - high ${high} ms, low ${low} ms (all time high ${worst} ms)`, RULER];
  const height = (value: number): number =>
    high === low ? 1 : 1 + Math.round(((value - low) / (high - low)) * (ROWS - 1));
  for (let row = ROWS; row >= 1; row--) {
    lines.push(
      values.map((value) => (height(value) === row ? '#' : height(value) > row ? '|' : ' ')).join(''),
    );
  }
  const ages = spikes.map((spike) => age(second - spike.second));
  const longest = Math.max(...ages.map(({ length }) => length));
  lines.push('');
  for (let i = 0; i < longest; i++) lines.push(ages.map((text) => text[i] ?? ' ').join(''));
  return `${lines.join('\n')}\n`;
}

function age(seconds: number): string {
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 86400 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86400)}d`;
}

function doctor(client: Caller): Bytes {
  const { spikes } = client.server.observer;
  if (client.server.settings['latency-monitor-threshold'] === 0) return DISABLED;
  if (spikes.size === 0) return 'No spike of latency has been seen since the last reset.\n';
  const lines = [...spikes].map(([event, { spikes: some, worst }], i) => {
    const average = Math.round(some.reduce((sum, { millis }) => sum + millis, 0) / some.length);
    return `${i + 1}. ${event}: ${some.length} latency spikes (average ${average}ms). Worst all time event ${worst}ms.`;
  });
  return `Spikes of latency have been seen:\n\n${lines.join('\n')}\n`;
}

/** Returns the histograms of the named commands (of a container: its subcommands), or of all, if they were measured. */
function histogram(client: Caller, argv: readonly Bytes[]): Reply {
  const { stats, acl } = client.server;
  const chosen: Command[] = [];
  const add = (command: Command): number => chosen.push(command, ...(command.subcommands?.values() ?? []));
  if (argv.length === 2) acl.commands.forEach(add);
  for (const word of argv.slice(2)) {
    const [name = '', sub] = asciiLower(word).split('|');
    const command = acl.commands.find((each) => each.name === name);
    const found = sub === undefined ? command : command?.subcommands?.get(sub);
    if (found !== undefined) add(found);
  }
  const fields: Reply[] = [];
  for (const { serial, fullName } of chosen) {
    const times = stats.times[serial];
    if (times === undefined) continue;
    const calls = stats.calls[serial]!;
    fields.push(
      fullName,
      new MapReply(['calls', calls, 'histogram_usec', new MapReply(times.steps(calls).flat())]),
    );
  }
  return new MapReply(fields);
}

function reset(client: Caller, argv: readonly Bytes[]): Reply {
  const { spikes } = client.server.observer;
  let count = 0;
  for (const event of argv.length > 2 ? argv.slice(2) : [...spikes.keys()]) if (spikes.delete(event)) count++;
  return count;
}

const FLAGS = ['admin', 'noscript', 'loading', 'stale'] as const;
const TIPS = ['nondeterministic_output', 'request_policy:all_nodes', 'response_policy:special'] as const;
const about = { since: '2.8.13', complexity: 'O(1)', flags: FLAGS, tips: TIPS };

export const latencyCommand = defineContainer(
  'server',
  'latency',
  {
    summary: 'Commands about latency spikes.',
    since: '2.8.13',
    complexity: 'Depends on subcommand.',
    flags: [],
  },
  {
    doctor: {
      summary: 'Describes the spikes of latency in words.',
      ...about,
      arity: 2,
      run: (client) => new Verbatim('txt', doctor(client)),
    },
    graph: {
      summary: 'Draws the spikes of an event.',
      ...about,
      arity: 3,
      run(client, argv) {
        const series = client.server.observer.spikes.get(argv[2]);
        if (series === undefined) fail(`ERR No samples available for event '${cString(argv[2])}'`);
        return new Verbatim('txt', graph(argv[2], series, Math.floor(client.server.now / 1000)));
      },
    },
    histogram: {
      summary: 'Returns the latency histograms of commands.',
      ...about,
      since: '7.0.0',
      complexity: 'O(N) with N the number of commands',
      arity: -2,
      run: histogram,
    },
    history: {
      summary: 'Returns the spikes of an event.',
      ...about,
      arity: 3,
      run: (client, argv) =>
        (client.server.observer.spikes.get(argv[2])?.spikes ?? []).map(({ second, millis }) => [
          second,
          millis,
        ]),
    },
    latest: {
      summary: 'Returns the latest spike of each event.',
      ...about,
      arity: 2,
      run: (client) =>
        [...client.server.observer.spikes].map(([event, { spikes, worst, total, count }]) => {
          const last = spikes.at(-1)!;
          const latest = [event, last.second, last.millis, worst];
          return client.server.dialect.latencySums ? [...latest, total, count] : latest;
        }),
    },
    reset: {
      summary: 'Forgets the spikes of some events, or all.',
      ...about,
      changes: [{ since: '7.2.0', tips: ['request_policy:all_nodes', 'response_policy:agg_sum'] }],
      arity: -2,
      tips: ['request_policy:all_nodes', 'response_policy:all_succeeded'],
      run: reset,
    },
  },
);
