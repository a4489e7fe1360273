/** A nightly job that runs on one of several machines. The code under test: replace it by yours. */

/**
 * Runs the job unless another machine has it already. The key stays for longer than clocks differ, and is not deleted after the
 * job: a machine whose clock is late would run it again.
 * @param redis an ioredis client
 * @param night the date, such as '2031-05-06'
 * @param machine a name that no other machine has
 * @returns true if this machine ran it
 */
exports.runNightly = async (redis, night, machine, job) => {
  const key = `ran:report:${night}`;
  const set = await redis.set(key, machine, 'PX', 12 * 3_600_000, 'NX');
  // A SET whose reply was lost is sent again, and refused because of the first one.
  if (set !== 'OK' && (await redis.get(key)) !== machine) return false;
  await job();
  return true;
};
