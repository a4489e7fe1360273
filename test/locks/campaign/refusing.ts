/** A primary that refuses releases, as one without memory or with a full disk does, or one that is busy or a replica. */
import type { LabNode } from '../../../lab/virtual/node.ts';
import type { ReplicaSet } from '../../../lab/virtual/replica-set.ts';
import type { LockScript } from '../../../locks/scripts/define.ts';
import { fairReleaseScript } from '../../../locks/scripts/fair.ts';
import { permitReleaseScript } from '../../../locks/scripts/permits.ts';
import { queueLeaveScript } from '../../../locks/scripts/queue.ts';
import { readReleaseScript, writeReleaseScript } from '../../../locks/scripts/read-write.ts';
import {
  reentrantFreeScript,
  reentrantHandOverScript,
  reentrantReleaseScript,
} from '../../../locks/scripts/reentrant.ts';
import { segmentPutScript } from '../../../locks/scripts/segmented.ts';
import { semaphoreReleaseScript, semaphoreUndoScript } from '../../../locks/scripts/semaphore.ts';
import { simpleHandOverScript, simpleReleaseScript } from '../../../locks/scripts/simple.ts';
import { misconfigured, OOM, READONLY } from '../../../protocol/errors.ts';
import { ReplyError } from '../../../protocol/reply.ts';
import type { Server } from '../../../server/server.ts';

/** The errors of a server that refuses a release although it would execute it at another time. */
export type Refusal = 'OOM' | 'MISCONF' | 'BUSY' | 'READONLY';

const ERRORS: Record<Refusal, string> = {
  OOM,
  MISCONF: misconfigured('Redis'),
  BUSY: 'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.',
  READONLY,
};

const RELEASES: readonly LockScript[] = [
  simpleReleaseScript,
  simpleHandOverScript,
  reentrantReleaseScript,
  reentrantFreeScript,
  reentrantHandOverScript,
  fairReleaseScript,
  readReleaseScript,
  writeReleaseScript,
  permitReleaseScript,
  queueLeaveScript,
  semaphoreReleaseScript,
  semaphoreUndoScript,
  segmentPutScript,
];

/** Whether a request is a release, by its script's text or hash. */
export function isRelease([name = '', script]: readonly string[]): boolean {
  return /^eval/i.test(name) && RELEASES.some(({ text, sha }) => script === text || script === sha);
}

/** What each server refuses releases with at present. */
const refusing = new WeakMap<Server, Refusal[]>();

/** The set's primary refuses releases until `end` resolves, or it restarts. */
export async function refuseReleases(
  set: ReplicaSet,
  error: Refusal,
  end: () => Promise<void>,
): Promise<void> {
  const { server }: LabNode = set.primary;
  const errors = refusing.get(server) ?? [];
  refusing.set(server, errors);
  errors.push(error);
  server.interceptor = (client, argv) => {
    if (!isRelease(argv)) return false;
    client.reply(new ReplyError(ERRORS[errors[0] as Refusal]));
    return true;
  };
  await end();
  errors.splice(errors.indexOf(error), 1);
  if (errors.length === 0) server.interceptor = undefined;
}
