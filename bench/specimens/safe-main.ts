/** `npm run explore:safe`: plays many worlds of the safe forms, in which nothing may be found, and says how long they took. */
import '../../lab/router.ts';
import { parseArgs } from 'node:util';
import { specimens } from './list.ts';
import { search } from './search.ts';

process.setSourceMapsEnabled(false);

const { values } = parseArgs({ options: { worlds: { type: 'string', default: '50000' } } });
/** Forms that several specimens share are played once for each set of faults. Worlds of a cluster take too long. */
const forms = specimens.filter(({ topology }) => topology?.cluster === undefined);
const each = Math.ceil(Number(values.worlds) / forms.length);

let [worlds, findings] = [0, 0];
const begun = performance.now();
const before = process.cpuUsage();
for (const specimen of forms) {
  const report = await search(specimen, specimen.safe, each);
  worlds += report.worlds;
  findings += report.findings.length;
  for (const { story, replay, firstIn } of report.findings)
    console.log(`${story}\nreplay: ${replay} (world ${firstIn})\n`);
}
const { user, system } = process.cpuUsage(before);
const [cpu, seconds] = [(user + system) / 1e6, (performance.now() - begun) / 1000];
const million = (cpu / worlds) * 1e6;
console.log(
  `${worlds} worlds of ${forms.length} safe forms: ${findings} findings, in ${seconds.toFixed(0)} s (${cpu.toFixed(0)} s of CPU); ` +
    `at this rate, a million would take ${(million / 3600).toFixed(1)} hours of CPU`,
);
if (findings > 0) process.exitCode = 1;
