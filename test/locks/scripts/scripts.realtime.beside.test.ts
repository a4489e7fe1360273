/** Every script does what its comment says, and the probes find each of many mutants. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasRedisServer, type RealRedis, startRedisServer } from '../../support/redis-server.ts';
import { allScripts, ScriptBench } from './bench.ts';
import { mutants } from './mutants.ts';
import { exclusiveProbes } from './probes.ts';
import { sharedProbes } from './probes-shared.ts';

const probes = { ...exclusiveProbes, ...sharedProbes };

describe.skipIf(!hasRedisServer)('scripts (needs redis-server)', () => {
  let server: RealRedis;
  let bench: ScriptBench;
  beforeAll(async () => {
    server = await startRedisServer();
    bench = new ScriptBench(server.path);
  });
  afterAll(async () => {
    bench?.close();
    await server?.stop();
  });

  test.each(Object.entries(probes))('the scripts of %s pass their probes', async (_name, probe) => {
    await bench.reset();
    await probe(bench);
  });

  test('every script has mutants, and there are at least forty', () => {
    expect(new Set(mutants.map(({ script }) => script))).toEqual(new Set(allScripts.keys()));
    expect(mutants.length).toBeGreaterThanOrEqual(40);
  });

  test.each(mutants.map((mutant) => [mutant.script, JSON.stringify(mutant.find), mutant] as const))(
    'the mutant of %s at %s is found',
    async (name, _at, mutant) => {
      const original = allScripts.get(name)!;
      expect(original.split(mutant.find).length, `'${mutant.find}' occurs`).toBeGreaterThan(1);
      const text = original.replace(mutant.find, () => mutant.replace);
      await bench.reset({ name, text });
      await expect(probes[mutant.probe]!(bench), `${mutant.find} -> ${mutant.replace}`).rejects.toThrow();
    },
  );
});
