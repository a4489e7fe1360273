/** How SENTINEL `MASTER`, REPLICAS and SENTINELS describe an instance. */
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { MapReply, type Reply } from '../../protocol/reply.ts';
import { DataInstance, type Instance, OtherSentinel, Primary, Replica } from '../instances.ts';

/** Returns the fields of an instance, in the order of redis-sentinel. Times are printed as their age. */
export function describeInstance(instance: Instance, now: Millis, showsReboot: boolean): Reply {
  const fields = [...fieldsOf(instance, now, showsReboot)];
  return new MapReply(fields.flatMap(([name, value]) => [name, String(value)]));
}

type Field = readonly [name: string, value: Bytes | number];

function* fieldsOf(instance: Instance, now: Millis, showsReboot: boolean): Iterable<Field> {
  const { link } = instance;
  yield ['name', instance.name];
  yield ['ip', instance.address.host];
  yield ['port', instance.address.port];
  yield ['runid', instance.runId ?? ''];
  yield ['flags', [...flagsOf(instance, showsReboot)].join(',')];
  yield ['link-pending-commands', link.pending];
  yield ['link-refcount', link.users];
  if (instance instanceof Primary && instance.failover.isUnderWay) {
    yield ['failover-state', instance.failover.state];
  }
  yield ['last-ping-sent', link.unansweredSince === 0 ? 0 : now - link.unansweredSince];
  yield ['last-ok-ping-reply', now - link.availableAt];
  yield ['last-ping-reply', now - link.pongAt];
  if (instance.isDown) yield ['s-down-time', now - instance.downSince];
  if (instance instanceof Primary && instance.isAgreedDown) {
    yield ['o-down-time', now - instance.agreedDownSince];
  }
  yield ['down-after-milliseconds', instance.downAfter];
  if (instance instanceof DataInstance) {
    yield ['info-refresh', instance.infoAt === 0 ? 0 : now - instance.infoAt];
    yield ['role-reported', instance.roleReported];
    yield ['role-reported-time', now - instance.roleReportedAt];
  }
  if (instance instanceof Primary) yield* ofPrimary(instance);
  if (instance instanceof Replica) yield* ofReplica(instance);
  if (instance instanceof OtherSentinel) {
    yield ['last-hello-message', now - instance.helloAt];
    yield ['voted-leader', instance.leader ?? '?'];
    yield ['voted-leader-epoch', instance.leaderEpoch];
  }
}

function* ofPrimary(primary: Primary): Iterable<Field> {
  yield ['config-epoch', primary.configEpoch];
  yield ['num-slaves', primary.replicas.size];
  yield ['num-other-sentinels', primary.sentinels.size];
  yield ['quorum', primary.quorum];
  yield ['failover-timeout', primary.failoverTimeout];
  yield ['parallel-syncs', primary.parallelSyncs];
}

function* ofReplica(replica: Replica): Iterable<Field> {
  const { upstream } = replica;
  yield ['master-link-down-time', replica.linkDownFor];
  yield ['master-link-status', upstream.isUp ? 'ok' : 'err'];
  yield ['master-host', upstream.host ?? '?'];
  yield ['master-port', upstream.port];
  yield ['slave-priority', replica.priority];
  yield ['slave-repl-offset', replica.offset];
  yield ['replica-announced', replica.isAnnounced ? 1 : 0];
}

function* flagsOf(instance: Instance, showsReboot: boolean): Iterable<string> {
  if (instance.isDown) yield 's_down';
  if (instance instanceof Primary && instance.isAgreedDown) yield 'o_down';
  yield instance.kind;
  if (instance.link.disconnected) yield 'disconnected';
  if (instance instanceof OtherSentinel && instance.saysDown) yield 'master_down';
  if (instance instanceof Primary && instance.failover.isUnderWay) yield 'failover_in_progress';
  if (instance instanceof Replica && instance.isPromoted) yield 'promoted';
  if (instance instanceof Replica && instance.reconfiguration !== 'none') {
    yield `reconf_${instance.reconfiguration}`;
  }
  if (instance instanceof Primary && instance.failover.isForced) yield 'force_failover';
  if (instance instanceof Primary && instance.failover.isCoordinated) yield 'coordinated_failover';
  if (instance.scriptKillSent) yield 'script_kill_sent';
  if (showsReboot && instance instanceof Primary && instance.rebootedAt !== undefined) yield 'master_reboot';
}
