/**
 * Records programs about replication on every real server of this machine: `npx tsx test/differential/replicas/record.ts`.
 * The written programs of test/golden/replication/written.txt are recorded anew, and the generated ones are made anew. With
 * a text such as 'replicas lag', only programs that contain it are recorded anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dialectNames } from '../../../server/dialects/index.ts';
import { oracleOf } from '../../support/oracles.ts';
import { seedOf } from '../random.ts';
import { generate } from './generate.ts';
import type { Program } from './program.ts';
import { FIRST, outcomesOn, parseRecording, printRecording, type Recorded } from './recording.ts';
import { LENGTH, playTheirs } from './tester.ts';

/** How many programs are generated, and from which seed. */
const GENERATED = 20;
const SEED = 8;

const folder = new URL('../../golden/replication/', import.meta.url);
const servers = dialectNames.flatMap((name): [string, string][] => {
  const program = oracleOf(name);
  return program === undefined ? [] : [[name, program]];
});
if (!servers.some(([name]) => name === FIRST)) throw new Error(`${FIRST} must be installed`);

/** Plays a program on every server. A server that is not installed keeps what was recorded for it. */
async function record(name: string, program: Program, before?: Recorded): Promise<string> {
  const played = new Map<string, string[][]>();
  for (const [server, path] of servers) played.set(server, await playTheirs(program, path));
  for (const server of before?.outcomes.flatMap((each) => [...each.keys()]) ?? []) {
    if (!played.has(server) && before !== undefined) played.set(server, outcomesOn(before, server));
  }
  console.log(name);
  return printRecording(name, program, played);
}

/** Records those programs of a file anew that contain a text. */
async function renew(file: string, text: string): Promise<void> {
  const place = new URL(file, folder);
  const texts: string[] = [];
  for (const each of parseRecording(readFileSync(place, 'latin1'))) {
    const played = new Map(
      [FIRST, ...each.outcomes.flatMap((step) => [...step.keys()])].map((name) => [
        name,
        outcomesOn(each, name),
      ]),
    );
    const before = printRecording(each.name, each.program, played);
    texts.push(before.includes(text) ? await record(each.name, each.program, each) : before);
  }
  writeFileSync(place, texts.join('\n'), 'latin1');
}

const [, , text] = process.argv;
await renew('written.txt', text ?? '');
if (text !== undefined) await renew('generated.txt', text);
else {
  const generated: string[] = [];
  for (let i = 0; i < GENERATED; i++) {
    generated.push(await record(`seed ${SEED}, program ${i}`, generate(seedOf(SEED, i), LENGTH)));
  }
  writeFileSync(new URL('generated.txt', folder), generated.join('\n'), 'latin1');
}
