/**
 * Our own locks, all kinds and forms of the registry, under every promise, and every fault that a lock can survive, those that strike only
 * where they are named among them. A sample; all of it in a long run.
 */
import '../../lab/router.ts';
import { expect, test } from 'vitest';
import { ourLocks, ourReplicated } from '../../bench/recall/ours.ts';
import { explore, FAULTS, type FaultName } from '../../explore/index.ts';
import { isLongRun, sampleOf } from '../support/long.ts';

/** No lock survives these: they remove its key, or its holder works for a hundred leases. */
const DEADLY: readonly FaultName[] = ['flush-all', 'eviction', 'work-hang'];
/** They strike only where something is there to strike: Sentinels, a cluster, or code that asks replicas. */
const ELSEWHERE: readonly FaultName[] = [
  ...(['sentinel-split', 'slot-migration', 'replica-pause', 'replica-crash', 'replica-lag'] as const),
  ...(['failover', 'failover-behind', 'read-only'] as const),
];
/** Those that strike by name only. */
const NAMED: readonly FaultName[] = ['second-deployment', 'one-way-cut', 'script-eviction'];
/** Kinds whose explorations are short. */
const SAMPLE = ['our simple', 'our fenced'];

/** Where a primary has a replica, and fails over. */
const WITH_REPLICA: readonly FaultName[] = [
  ...(['failover', 'failover-behind', 'read-only', 'partition', 'node-pause', 'restart-disk'] as const),
  ...(['replica-pause', 'replica-crash', 'replica-lag', 'misconf', 'lost-reply', 'client-death'] as const),
];

const replicated = [undefined, 1 as const].flatMap((replicas) => ourReplicated(replicas));

test.each(
  replicated
    .filter(({ name }) => isLongRun || name === 'our fenced, replicas: 1')
    .map((each) => [each.name, each] as const),
)(
  'nothing but limits of leases is found in %s on a primary with a replica that fails over',
  async (name, { sound, topology }) => {
    const report = await explore({
      ...{ name, client: sound as NonNullable<typeof sound>, accept: ['lease-limits'] },
      // Only code that asks replicas meets the faults of a replica alone.
      faults: name.includes('replicas')
        ? WITH_REPLICA
        : WITH_REPLICA.filter((kind) => !kind.startsWith('replica-')),
      ...{ topology: topology ?? {}, budget: { worlds: sampleOf(300, 10), ms: Infinity } },
    });
    expect(report.findings.map(({ story }) => story)).toEqual([]);
  },
  600_000,
);

const wanted = ourLocks.filter(({ name }) => isLongRun || SAMPLE.includes(name));

test.each(wanted.map((each) => [each.name, each] as const))(
  'nothing but limits of leases is found in %s',
  async (name, { sound, topology, part = 1 }) => {
    const lives = FAULTS.filter((kind) => !DEADLY.includes(kind) && !ELSEWHERE.includes(kind));
    const report = await explore({
      ...{ name, client: sound as NonNullable<typeof sound>, accept: ['lease-limits'] },
      ...{ faults: isLongRun ? lives : NAMED, topology: { replicas: 0, ...topology } },
      budget: { worlds: Math.ceil(sampleOf(300, 15) * part), ms: Infinity },
    });
    expect(report.findings.map(({ story }) => story)).toEqual([]);
    const idle = (isLongRun ? lives : NAMED).filter((kind) => (report.coverage.faults[kind] ?? 0) === 0);
    expect(isLongRun ? [] : idle).toEqual([]);
  },
  600_000,
);
