/** The console in a world: what prints a place, as Jest does, prints the caller's. */
import { expect, test } from 'vitest';
import { replaceConsole } from '../../../lab/node-functions/console.ts';

/** The frames that Jest looks at: it passes over nameless functions of `<anonymous>`. */
function placesOf(stack: string): string[] {
  return stack
    .split('\n')
    .slice(2)
    .filter((line) => !/^\s+at <anonymous>.*$/.test(line));
}

test('the place of a console.log is where the test called it', () => {
  const before = { ...console };
  let stack = '';
  console.log = () => {
    stack = new Error().stack ?? '';
  };
  try {
    replaceConsole();
    const printing = (): void => console.log('a line');
    printing();
  } finally {
    Object.assign(console, before);
  }
  expect(placesOf(stack)[0]).toContain('at printing (');
});
