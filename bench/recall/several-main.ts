/** `npm run explore:several`: in which world an exploration finds what takes two or three faults, with several seeds. */
import '../../lab/router.ts';
import { parseArgs } from 'node:util';
import { defined } from '../../base/defined.ts';
import { explore } from '../../explore/index.ts';
import { severalFaults } from './several-faults.ts';

process.setSourceMapsEnabled(false);

const { values } = parseArgs({
  options: {
    worlds: { type: 'string', default: '5000' },
    seeds: { type: 'string', default: '1,2,3' },
    /** A regular expression for the names of the programs. */
    only: { type: 'string', default: '' },
  },
});
for (const { name, takes, client, clients, topology, faults, promises } of severalFaults) {
  if (!new RegExp(values.only).test(name)) continue;
  const told: string[] = [];
  for (const seed of values.seeds.split(',').map(Number)) {
    const report = await explore({
      ...{ name, seed, client, ...defined({ clients, topology, faults, promises }), stopAtFirst: true },
      budget: { worlds: Number(values.worlds), ms: Infinity },
    });
    const [found] = report.findings;
    const { singles } = report.coverage;
    told.push(
      `${found === undefined ? `none in ${report.worlds}` : `world ${found.firstIn} by ${found.strategy} (${found.cause})`}, ${singles.all} with one fault`,
    );
  }
  console.log(`${takes} faults: ${name}: ${told.join('; ')}`);
}
