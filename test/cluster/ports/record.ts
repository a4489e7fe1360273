/** Records what the nodes of real clusters with TLS announce: `npx tsx test/cluster/ports/record.ts`. */
import { oracleOf } from '../../support/oracles.ts';
import { RECORDED, writeRecording } from './recording.ts';
import { SCENES } from './scenes.ts';
import { PortsCluster, real } from './sides.ts';

for (const dialect of RECORDED) {
  const program = oracleOf(dialect);
  if (program === undefined) {
    console.log(`${dialect} is not installed: its recording stays as it was`);
    continue;
  }
  const told = new Map<string, string>();
  for (const scene of SCENES) {
    const cluster = await PortsCluster.start(scene, dialect, real(program));
    told.set(scene.name, await cluster.tell());
    await cluster.stop();
    console.log(`${dialect}: ${scene.name}`);
  }
  writeRecording(dialect, told);
}
