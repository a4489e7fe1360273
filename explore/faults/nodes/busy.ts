/** A fault: a primary runs a script for longer than it tolerates, and answers BUSY; then the script is killed. */
import { type Fault, primariesOf, setOf } from '../fault.ts';

/** How long a script may go on after SCRIPT KILL before it is killed again, in milliseconds. */
const KILL_AGAIN_AFTER = 100;

export const busy: Fault<never> = {
  sentence: 'a primary runs a long script and answers BUSY',
  strikes: 'a node',
  variants: (among, { leaseMs }) =>
    primariesOf(among).map((on) => ({ on, ms: Math.min(1000, Math.round(0.5 * leaseMs)) })),
  strike: async (context, { on, ms }) => {
    const set = setOf(context, on);
    if (!set.primary.up) return;
    const [runner, killer] = [set.operator(), set.operator()];
    await killer.config('SET', 'busy-reply-threshold', '20').catch(() => undefined);
    const countSteps = set.spareSteps();
    const done = Promise.resolve(runner.eval('while true do end', 0)).catch(() => undefined);
    context.tell(on, `is busy with a script for ${ms} ms`);
    await context.wait(ms);
    // ioredis sends the script again to a node that was restarted in the meantime, perhaps after SCRIPT KILL.
    const over = done.then(() => true);
    do await killer.script('KILL').catch(() => undefined);
    while (!(await Promise.race([over, context.wait(KILL_AGAIN_AFTER).then(() => false)])));
    countSteps();
    for (const redis of [runner, killer]) redis.disconnect();
  },
};
