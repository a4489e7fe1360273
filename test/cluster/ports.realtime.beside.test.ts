/** The ports that clusters with TLS announce to clients of both transports, as real clusters do. */
import { describe, type ExpectStatic, expect, test } from 'vitest';
import type { DialectName } from '../../server/dialects/index.ts';
import { testBeside } from '../support/beside/each.ts';
import { isLongRun, sampleOf } from '../support/long.ts';
import { RECORDED, readRecording } from './ports/recording.ts';
import { SCENES, type Scene } from './ports/scenes.ts';
import { ours, PortsCluster, real, type Start } from './ports/sides.ts';

/** Two scenes of every dialect, and each of the others in one dialect; all in the long run. */
function sampleFor(dialect: DialectName): readonly Scene[] {
  const turn = RECORDED.indexOf(dialect);
  return SCENES.filter((_, i) => isLongRun || i < 2 || i % RECORDED.length === turn);
}

/** @param check of a test that runs beside others, its own */
async function tellsAsRecorded(
  check: ExpectStatic,
  scene: Scene,
  dialect: DialectName,
  start: Start,
): Promise<void> {
  const cluster = await PortsCluster.start(scene, dialect, start);
  try {
    check(await cluster.tell()).toBe(readRecording(dialect).get(scene.name));
  } finally {
    await cluster.stop();
  }
}

describe.each(RECORDED)('in the dialect %s', { concurrent: true }, (dialect) => {
  test.for(sampleFor(dialect))(
    'a cluster tells each client the ports that a real one does: $name',
    (scene, { expect: own }) => tellsAsRecorded(own, scene, dialect, ours(dialect)),
  );
});

testBeside(
  RECORDED,
  'what was recorded of clusters with TLS is what %s answers',
  async (dialect, program) => {
    for (const scene of SCENES.slice(0, sampleOf(SCENES.length, 2))) {
      await tellsAsRecorded(expect, scene, dialect, real(program));
    }
  },
  180_000,
);
