/** The help of the command line fits on one screen, and names the other commands. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { HELP } from '../../cli/command-line.ts';

test('the help fits on a screen of 50 lines with 120 columns', () => {
  const lines = HELP.trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(50);
  expect(lines.filter((line) => line.length > 120)).toEqual([]);
});

test('the help names every command that the program has', () => {
  const commands = [...readFileSync('cli/command.ts', 'utf8').matchAll(/argv\[0\] === '(\w+)'/g)].map(
    (match) => match[1] ?? '',
  );
  expect(commands).toContain('demo');
  for (const command of commands) expect(HELP).toMatch(new RegExp(`lostlock .*\\b${command}\\b`));
});
