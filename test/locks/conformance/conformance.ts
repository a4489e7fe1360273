/** What every lock must do on every server: one suite, run on the real redis-server and on ours. */
import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import { basicCases } from './basic.ts';
import { Bench, type ServerUnderTest } from './bench.ts';
import { type Around, declareInside } from './conformance-test.ts';
import { countingCases, readWriteCases, reentryCases } from './shared.ts';
import { compositeCases, orderCases } from './special.ts';

const everything = [basicCases, reentryCases, readWriteCases, countingCases, orderCases, compositeCases];

/** Declares the suite for one server. */
export function lockConformance(name: string, open: () => Promise<ServerUnderTest>): void {
  describe(name, () => {
    let server: ServerUnderTest;
    let bench: Bench;
    const inside: Around = (body) => (server.run ? server.run(body) : body());
    beforeAll(async () => {
      server = await open();
      await inside(async () => {
        bench = new Bench(server);
      });
    });
    beforeEach(() => inside(() => bench.tidyUp()));
    afterAll(async () => {
      if (bench) await inside(() => bench.end());
      await server?.stop();
    });
    declareInside(inside);
    for (const cases of everything) cases(() => bench);
  });
}
