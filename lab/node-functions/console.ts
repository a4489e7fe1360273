/** Lets the console work outside of the world, because test runners collect its output with timers of their own. */
import { stepOutside } from '../time/current-world.ts';

/** Replaces the methods of the console that print. */
export function replaceConsole(): void {
  for (const name of ['log', 'info', 'debug', 'warn', 'error', 'trace', 'dir', 'table'] as const) {
    const real = console[name].bind(console) as Print;
    console[name] = unseen(stepOutside, real);
  }
}

type Print = (...args: unknown[]) => void;

/**
 * A function that prints between stepping out and stepping back. Jest prints the place of a console.log: the first frame of
 * the stack that is not a nameless function of `<anonymous>`. This function is nameless and of `<anonymous>`, so Jest prints the place of
 * its caller.
 */
function unseen(stepOut: () => () => void, print: Print): Print {
  const code =
    '(stepOut, print) => (0, (...args) => { const back = stepOut(); try { print(...args); } finally { back(); } })';
  // A browser has no such module.
  const vm = process.getBuiltinModule?.('node:vm');
  const make = vm?.runInThisContext(code, { filename: '<anonymous>' }) as typeof plain | undefined;
  // With a receiver, the frame would have the name of its class.
  return (make ?? plain)(stepOut, print).bind(undefined);
}

function plain(stepOut: () => () => void, print: Print): Print {
  return (...args) => {
    const back = stepOut();
    try {
      print(...args);
    } finally {
      back();
    }
  };
}
