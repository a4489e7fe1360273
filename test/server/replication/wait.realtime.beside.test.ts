/** Which of a client's requests WAIT waits for on the real servers: the answers that every dialect has to give. */
import { describe, expect, test } from 'vitest';
import { dialectNames } from '../../../server/dialects/index.ts';
import { cleanUpAfterEachTest, HeldLink, real } from '../../support/nodes.ts';
import { oracleOf } from '../../support/oracles.ts';
import { until } from '../../support/until.ts';
import { answers, expectedOf } from './wait-cases.ts';

cleanUpAfterEachTest();

describe.each(dialectNames.filter((name) => oracleOf(name) !== undefined))('%s', (dialect) => {
  test('WAIT counts the replicas that the dialect counts (needs the real server)', async () => {
    const program = oracleOf(dialect);
    const settings = { 'enable-debug-command': 'yes' };
    const [primary, replica] = [await real(settings, program), await real(settings, program)];
    const link = await new HeldLink(primary.port).listen();
    await replica.follow(link);
    const stage = {
      port: primary.port,
      hold() {
        link.commands.hold();
        link.acks.hold();
      },
      release() {
        link.commands.release();
        link.acks.release();
      },
    };
    const ready = async (): Promise<void> => {
      await until(async () => (await primary.field('slave0'))?.includes('state=online'));
      await primary.ask('SET', 'ready', '1');
      expect(await primary.ask('WAIT', '1', '0')).toBe(1);
    };
    expect(await answers(stage, ready)).toEqual(expectedOf(dialect));
  }, 120_000);
});
