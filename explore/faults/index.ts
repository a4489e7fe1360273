/** Every kind of fault by its name. */
import type { PlannedFault } from '../plan.ts';
import { hold, promote } from './hands.ts';
import { connectionReset, delay, late, lostReply, lostRequest, partition } from './network.ts';
import {
  busy,
  clientDeath,
  clientPause,
  clockDrift,
  clockJump,
  nodePause,
  outOfMemory,
  scriptFlush,
} from './processes.ts';
import { failover, failoverBehind, readOnly, restartDisk, restartEmpty } from './roles.ts';
import type { FaultKind } from './scene.ts';

/** The kinds, by name. */
export const faultKinds: Readonly<Record<PlannedFault['kind'], FaultKind>> = {
  failover,
  'failover-behind': failoverBehind,
  'restart-empty': restartEmpty,
  'restart-disk': restartDisk,
  'node-pause': nodePause,
  'client-pause': clientPause,
  'client-death': clientDeath,
  partition,
  delay,
  'lost-request': lostRequest,
  'lost-reply': lostReply,
  'connection-reset': connectionReset,
  'clock-jump': clockJump,
  'clock-drift': clockDrift,
  'script-flush': scriptFlush,
  busy,
  'read-only': readOnly,
  'out-of-memory': outOfMemory,
  late,
  hold,
  promote,
};
