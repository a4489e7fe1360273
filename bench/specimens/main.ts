/** `npm run explore:specimens`: the explorer finds what breaks each unsafe form, and nothing in the safe ones. Writes docs/specimens.md. */
import '../../lab/router.ts';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { ExploreReport } from '../../explore/index.ts';
import { mistakeOf, withTables } from '../../test/catalogue/pages.ts';
import { specimens } from './list.ts';
import { search } from './search.ts';

process.setSourceMapsEnabled(false);

const { values } = parseArgs({
  options: {
    worlds: { type: 'string', default: '150' },
    most: { type: 'string', default: '10000' },
    only: { type: 'string' },
  },
});
/** How many worlds of a cluster are played for one of other nodes: each takes much longer. */
const CLUSTER = 0.1;

/** What was found: the promise, its cause and the number of the world. */
function foundIn({ findings: [finding], worlds }: ExploreReport): string {
  if (finding === undefined) return `nothing in ${worlds} worlds`;
  return `${finding.promise}, ${finding.cause === 'no fault' ? 'without a fault' : `by ${finding.cause}`}, in world ${finding.firstIn}`;
}

const rows: string[] = [];
let wrong = 0;
for (const specimen of specimens) {
  const { number, cure, unsafe, safe, topology } = specimen;
  const what = mistakeOf(number) ?? 'no mistake';
  const named = { ...specimen, what };
  if (values.only !== undefined && !values.only.split(',').includes(number)) continue;
  const worlds = Math.ceil(Number(values.worlds) * (topology?.cluster === undefined ? 1 : CLUSTER));
  const reports = [await search(named, unsafe, Number(values.most)), await search(named, safe, worlds)];
  const [broken, kept] = reports as [ExploreReport, ExploreReport];
  const isRight = broken.findings.length > 0 && kept.findings.length === 0;
  if (!isRight) wrong++;
  console.log(
    `${isRight ? 'as expected' : 'NOT EXPECTED'}  ${number}: ${what}: ${foundIn(broken)}; safe: ${foundIn(kept)}`,
  );
  for (const { story, replay } of kept.findings) console.log(`${story}\nreplay: ${replay}`);
  rows.push(`| ${number} | ${what} | ${foundIn(broken)} | ${cure} | ${foundIn(kept)} |`);
}
console.log(`${rows.length} specimens, ${wrong} of them not as expected`);
if (values.only === undefined) {
  const page = `# Specimens

\`npm run explore:specimens -- --worlds ${values.worlds}\` made this page. Each row is a mistake from the
catalogue of failures as client code ([scenarios.md](scenarios.md) plays many of them one by one). Three clients run
it. An exploration is given the kinds of faults that matter for the mistake, and has to find out itself at which moment,
and on which client or node, a fault breaks the unsafe form. In the safe form it must find nothing.
[explore.md](explore.md) explains the faults and the promises.

| | mistake | found | safe form | found in it |
|---|---|---|---|---|
${rows.join('\n')}

These failures of the catalogue have no specimen:

<!-- no specimen: made from test/catalogue/failures.ts by npm run docs -->
<!-- end -->
`;
  writeFileSync('docs/specimens.md', withTables('docs/specimens.md', page));
}
if (wrong > 0) process.exitCode = 1;
