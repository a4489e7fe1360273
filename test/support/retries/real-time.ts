/** The suites on real time: real servers, sockets, child processes or the machine's clock. Only they are retried, and only under CI. */

/**
 * Globs of the files whose tests a crowded machine can fail by chance. Everything else has to give the same result every time:
 * a test that fails there once, such as one of a seed, has found something.
 */
export const realTime: readonly string[] = [
  'test/cli.test.ts',
  'test/golden.test.ts',
  'test/readme.test.ts',
  'test/transcripts.test.ts',
  'test/clients/*.test.ts',
  'test/differential/{failover,replication}.test.ts',
  'test/embed/*.test.ts',
  'test/lab/{demo,pair}.test.ts',
  'test/lab/real/*.test.ts',
  'test/lab/routes/*.test.ts',
  'test/lab/virtual/endings.test.ts',
  'test/locks/{odd-uses,options,wrong-options}.test.ts',
  'test/locks/asking/{hand-over,line,never-held}.test.ts',
  'test/locks/clients/*.test.ts',
  'test/locks/conformance/*.test.ts',
  'test/locks/holding/watchdog.test.ts',
  'test/locks/kinds/{own-holds-real,redlock,redlock-silence,segmented,session}.test.ts',
  'test/locks/lives/soak.test.ts',
  'test/locks/scripts/scripts.test.ts',
  'test/locks/server/*.test.ts',
  'test/packaging/*.test.ts',
  'test/protocol/{corpus,hanging-up}.test.ts',
  'test/scripting/hostile.test.ts',
  'test/server/clients/*.test.ts',
  'test/server/commands/{migrate,shutdown}.test.ts',
  'test/server/data/saving.test.ts',
  'test/server/figures/*.test.ts',
  'test/server/host/*.test.ts',
  'test/server/replication/*.test.ts',
  'test/server/scripts/*.test.ts',
  'test/server/settings/config.test.ts',
  'test/support/redis-server.test.ts',
];
