/** The guided stories of the playground, by the names that the demo has for them (lab/demo/stories.ts). */

/** The names, and what they are about. */
export const STORIES: readonly (readonly [name: string, title: string])[] = [
  ['failover', 'a failover loses the lock'],
  ['wait', 'WAIT tells that no replica has it'],
  ['wait-other-replica', 'WAIT, and the other replica is promoted'],
  ['wait-other-connection', 'WAIT on another connection'],
  ['redlock-restart', 'Redlock, and a node restarts empty'],
  ['redlock-clock', 'Redlock, and a clock jumps'],
  ['fence', 'a fence at the resource'],
  ['fence-rolled-back', 'the fence is rolled back'],
  ['quorum-ap', 'No quorum: answered at once'],
  ['quorum-cp', 'Quorum: answered when a majority has it'],
];
