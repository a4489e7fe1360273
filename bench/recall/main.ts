/**
 * `npm run explore:recall`: plays all specimens, modelled reports and programs with the default options, and prints for each whether its
 * defect was found, missed, or something was found where nothing is wrong. Fails when a result is worse than in the baseline.
 */
import '../../lab/router.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Baseline, worseThan } from './baseline.ts';
import type { RecallCase } from './case.ts';
import { leftOut, recallCases } from './list.ts';
import { playSound, playUnsafe, type RecallResult, WORLDS } from './play.ts';

process.setSourceMapsEnabled(false);

const BASELINE = new URL('baseline.json', import.meta.url);

const { values } = parseArgs({
  options: {
    /** In how many worlds a defect must be found. */
    worlds: { type: 'string', default: String(WORLDS) },
    /** How many worlds of each sound form are played. */
    'sound-worlds': { type: 'string', default: String(WORLDS) },
    /** A regular expression for the names of the cases. */
    only: { type: 'string' },
    /** Only the forms with a defect, or only the sound ones. */
    forms: { type: 'string', default: 'unsafe,sound' },
    /** Writes the results to the baseline. */
    update: { type: 'boolean', default: false },
  },
});
const wanted = new RegExp(values.only ?? '');
const baseline = JSON.parse(readFileSync(BASELINE, 'utf8')) as Baseline;
const results: Record<string, RecallResult> = {};
let worse = 0;

const seconds = (): string => `${Math.round(performance.now() / 1000)} s`.padStart(6);

function tell(key: string, result: RecallResult): void {
  const { verdict, world, what, accepted, story } = result;
  results[key] = result;
  const where = verdict === 'found' ? `in world ${world}` : `in ${world} worlds`;
  const isWorse = worseThan(baseline[key], verdict);
  if (isWorse) worse++;
  console.log(
    `${seconds()}  ${`${verdict} ${where}`.padEnd(24)} ${key}${what === '' ? '' : `: ${what}`}${isWorse ? '  WORSE than the baseline' : ''}`,
  );
  for (const text of accepted) console.log(`${''.padEnd(33)}accepted: ${text}`);
  if (story !== undefined) console.log(`${story}\n`);
}

async function play(each: RecallCase): Promise<void> {
  if (each.unsafe !== undefined && values.forms.includes('unsafe'))
    tell(`${each.group} ${each.name}`, await playUnsafe(each, Number(values.worlds)));
  if (each.sound !== undefined && values.forms.includes('sound'))
    tell(`sound ${each.group} ${each.name}`, await playSound(each, Number(values['sound-worlds'])));
}

for (const each of recallCases()) if (wanted.test(each.name)) await play(each);

const count = (verdict: RecallResult['verdict']): number =>
  Object.values(results).filter((result) => result.verdict === verdict).length;
const [found, missed, clean, alarms] = [
  count('found'),
  count('missed'),
  count('clean'),
  count('false alarm'),
];
const reports = Object.entries(results).filter(([key]) => key.startsWith('report '));
const told = reports.filter(([, { verdict }]) => verdict === 'found').length;
console.log(
  `${found} of ${found + missed} defects found, ${told} of ${reports.length} of the reports; ${alarms} false alarms in ` +
    `${clean + alarms} sound forms; ${worse} worse than the baseline`,
);
for (const { name, why } of leftOut) console.log(`left out: ${name}: ${why}`);
if (values.update) {
  const verdicts = Object.entries(results).map(([key, { verdict }]) => [key, verdict]);
  writeFileSync(BASELINE, `${JSON.stringify({ ...baseline, ...Object.fromEntries(verdicts) }, null, 2)}\n`);
} else if (worse > 0) process.exitCode = 1;
