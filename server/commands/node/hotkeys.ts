/** HOTKEYS: which keys cost most processor time and network traffic (https://redis.io/docs/latest/commands/hotkeys/). */
import { asciiUpper, type Bytes, parseSafeInteger } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import { MapReply, OK, type Reply } from '../../../protocol/reply.ts';
import { SLOT_COUNT } from '../../../protocol/slot.ts';
import { HotKeys, type HotKeysOptions, type HotMetric } from '../../figures/hot-keys.ts';
import type { Caller, Server } from '../../server.ts';
import { wordAt } from '../../table/arguments.ts';
import type { Argv } from '../../table/command.ts';
import { defineContainer } from '../define.ts';

const MOST_KEYS = 64;
const LONGEST = 1_000_000;
const LARGEST_RATIO = 2 ** 31 - 1;

/** Reads a whole number within bounds. Throws the error for anything else. */
function bounded(word: Bytes, low: number, high: number, error: Bytes): number {
  const value = parseSafeInteger(word);
  return value !== undefined && value >= low && value <= high ? value : fail(`ERR ${error}`);
}

/** Reads METRICS and its words, which come first. Returns the metrics, and the position behind them. */
function readMetrics(argv: readonly Bytes[]): { metrics: Set<HotMetric>; next: number } {
  if (asciiUpper(argv[2] ?? '') !== 'METRICS' || argv.length < 4) fail('ERR METRICS parameter is required');
  const count = bounded(wordAt(argv, 3), 1, 2, 'METRICS count must be > 0 and <= 2');
  const words = argv.slice(4, 4 + count).map((word) => asciiUpper(word));
  if (words.length < count) fail('ERR METRICS count does not match number of metric types provided');
  const metrics = new Set<HotMetric>();
  for (const word of words) {
    const metric = word === 'CPU' ? 'cpu' : word === 'NET' ? 'net' : undefined;
    if (metric === undefined) continue;
    if (metrics.has(metric)) fail(`ERR METRICS ${word} defined more than once!`);
    metrics.add(metric);
  }
  if (metrics.size === 0) fail('ERR METRICS no valid metrics passed. Supported: CPU|NET');
  return { metrics, next: 4 + count };
}

/** Reads the slots behind SLOTS. Throws Redis' error for one that this node does not serve. */
function readSlots({ cluster }: Server, argv: readonly Bytes[], at: number): number[] {
  if (cluster === undefined) fail('ERR SLOTS parameter cannot be used in non-cluster mode');
  const count = bounded(wordAt(argv, at), 1, SLOT_COUNT, `SLOTS count must be between 1 and ${SLOT_COUNT}`);
  if (argv.length < at + 1 + count) fail('ERR not enough slot numbers provided');
  const own = cluster.ownSlots();
  const slots = new Set<number>();
  for (const word of argv.slice(at + 1, at + 1 + count)) {
    const slot = bounded(word, 0, SLOT_COUNT - 1, 'Invalid or out of range slot');
    if (!own.some(([first, last]) => first <= slot && slot <= last))
      fail(`ERR slot ${slot} not handled by this node`);
    if (slots.has(slot)) fail('ERR duplicate slot number');
    slots.add(slot);
  }
  return [...slots].sort((a, b) => a - b);
}

function readOptions(server: Server, argv: readonly Bytes[]): HotKeysOptions {
  const { metrics, next } = readMetrics(argv);
  let [count, duration, sample] = [10, 0, 1];
  let slots: number[] | undefined;
  for (let at = next; at < argv.length; at += 2) {
    const option = asciiUpper(wordAt(argv, at));
    const word = argv[at + 1] ?? fail(SYNTAX);
    if (option === 'COUNT') count = bounded(word, 1, MOST_KEYS, `COUNT must be between 1 and ${MOST_KEYS}`);
    else if (option === 'DURATION')
      duration = 1000 * bounded(word, 1, LONGEST, `DURATION must be between 1 and ${LONGEST}`);
    else if (option === 'SAMPLE') sample = bounded(word, 1, LARGEST_RATIO, 'SAMPLE ratio must be positive');
    else if (option === 'SLOTS') {
      if (slots !== undefined) fail('ERR SLOTS parameter already specified');
      slots = readSlots(server, argv, at + 1);
      at += slots.length;
    } else fail(SYNTAX);
  }
  return { metrics, count, duration, sample, slots };
}

function start({ server }: Caller, argv: Argv<-2>): Reply {
  const { observer, host } = server;
  if (observer.hotKeys?.active) fail('ERR hotkey tracking session already in progress');
  observer.hotKeys = new HotKeys(host, readOptions(server, argv));
  observer.configure();
  return OK;
}

/** Slots in ascending order as ranges; one alone is a range of one number. */
function rangesOf(slots: readonly number[]): number[][] {
  const ranges: number[][] = [];
  for (const slot of slots) {
    const range = ranges.at(-1);
    if (range !== undefined && range.at(-1) === slot - 1) range[1] = slot;
    else ranges.push([slot]);
  }
  return ranges;
}

function get({ server }: Caller): Reply {
  const { hotKeys } = server.observer;
  if (hotKeys === undefined) return null;
  const { options, sums, startedAt, lasted } = hotKeys;
  const { metrics, sample, slots } = options;
  const own = server.cluster?.ownSlots() ?? [[0, SLOT_COUNT - 1]];
  const fields: Reply[] = ['tracking-active', hotKeys.active ? 1 : 0, 'sample-ratio', sample];
  fields.push(
    'selected-slots',
    slots === undefined ? own.map((range) => [...new Set(range)]) : rangesOf(slots),
  );
  for (const [metric, prefix, suffix] of [
    ['cpu', '', '-us'],
    ['net', 'net-bytes-', ''],
  ] as const) {
    const { sampled, selected, all } = sums[metric];
    if (slots !== undefined && sample > 1)
      fields.push(`${prefix}sampled-commands-selected-slots${suffix}`, sampled);
    if (slots !== undefined) fields.push(`${prefix}all-commands-selected-slots${suffix}`, selected);
    fields.push(`${prefix}all-commands-all-slots${suffix}`, all);
  }
  fields.push('collection-start-time-unix-ms', startedAt, 'collection-duration-ms', lasted);
  if (metrics.has('cpu')) {
    const { user, system } = server.host.processorTime?.() ?? { user: 0, system: 0 };
    const { processorBefore: before } = hotKeys;
    fields.push('total-cpu-time-user-ms', Math.floor((user - before.user) / 1000));
    fields.push('total-cpu-time-sys-ms', Math.floor((system - before.system) / 1000));
  }
  if (metrics.has('net')) fields.push('total-net-bytes', hotKeys.total('net'));
  if (metrics.has('cpu')) fields.push('by-cpu-time-us', hotKeys.worst('cpu'));
  if (metrics.has('net')) fields.push('by-net-bytes', hotKeys.worst('net'));
  return [new MapReply(fields)];
}

function stop({ server: { observer } }: Caller): Reply {
  if (observer.hotKeys?.stop() !== true) return null;
  observer.configure();
  return OK;
}

function reset({ server: { observer } }: Caller): Reply {
  if (observer.hotKeys?.active) fail('ERR hotkey tracking session in progress, stop tracking first');
  observer.hotKeys = undefined;
  return OK;
}

const ABOUT = {
  since: { redis: '8.6.0' },
  complexity: 'O(1)',
  flags: ['admin', 'noscript'],
  tips: ['request_policy:special'],
} as const;

const hotKeysCommand = defineContainer(
  'server',
  'hotkeys',
  {
    summary: 'Commands that find the keys which cost most.',
    since: { redis: '8.6.0' },
    helpSince: { redis: '8.6.1' },
    complexity: 'Depends on subcommand.',
    flags: [],
  },
  {
    start: { summary: 'Begins to count what keys cost.', ...ABOUT, arity: -2, run: start },
    get: {
      summary: 'Lists the keys that cost most.',
      ...ABOUT,
      complexity: 'O(N*log(N)), N keys that were used',
      arity: 2,
      tips: ['nondeterministic_output', 'request_policy:special', 'response_policy:special'],
      run: get,
    },
    stop: { summary: 'Ends the counting, and keeps what was found.', ...ABOUT, arity: 2, run: stop },
    reset: { summary: 'Forgets what was found.', ...ABOUT, arity: 2, run: reset },
  },
);

export const hotKeysCommands = [hotKeysCommand];
