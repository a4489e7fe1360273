/** Runs every mixed set with as many commands as asked for: `npm run test:mixed -- --commands 20000 --seed 7`. */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    commands: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
  },
});
for (const [name, value] of Object.entries(values)) {
  if (!/^[1-9]\d{0,7}$/.test(value)) throw new Error(`--${name} ${value}: must be from 1 to 99999999`);
}
const env = {
  ...process.env,
  LOSTLOCK_MIXED_COMMANDS: values.commands,
  LOSTLOCK_MIXED_SEED: values.seed,
};
const words = [
  'vitest',
  'run',
  'test/differential/mixed.realtime.beside.test.ts',
  '--mode',
  'long',
  '--disableConsoleIntercept=true',
];
const { status } = spawnSync('npx', words, { stdio: 'inherit', env });
process.exitCode = status ?? 1;
