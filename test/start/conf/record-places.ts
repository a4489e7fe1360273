/** `npx tsx test/start/conf/record-places.ts`: records where the real servers look for their files. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dialectNames } from '../../../server/dialects/index.ts';
import { oracleOf } from '../../support/oracles.ts';
import { PLACES_CASES, PLACES_FILE, type PlacesOutcome, playPlaces } from './places.ts';

type Recorded = Record<string, Record<string, PlacesOutcome>>;

async function main(): Promise<void> {
  const recorded: Recorded = existsSync(PLACES_FILE)
    ? (JSON.parse(readFileSync(PLACES_FILE, 'utf8')) as Recorded)
    : {};
  for (const dialect of dialectNames) {
    const program = oracleOf(dialect);
    if (program === undefined) continue;
    const outcomes: Record<string, PlacesOutcome> = {};
    for (const each of PLACES_CASES) outcomes[each.name] = await playPlaces(each, [program]);
    recorded[dialect] = outcomes;
    console.log(dialect);
  }
  writeFileSync(PLACES_FILE, `${JSON.stringify(recorded, undefined, 2)}\n`);
}

void main();
