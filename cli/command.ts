/** What the command line does: it runs a command, or starts a server. Each loads what it needs. */
import { basename } from 'node:path';
import { LOSTLOCK_VERSION } from '../base/version.ts';
import { isSea, refuseHelpInExecutable, refuseInExecutable } from './executable.ts';
import { systemRefusal } from './usage.ts';

// A script that waits for the ready line may close the pipe afterwards. redis-server keeps running then, and so do we.
process.stdout.on('error', () => {});

/**
 * True for `explore` with a program behind `--`, or one that attaches itself: both need no code of a file. In the single executable,
 * `explore --help` is about programs as well.
 */
function isOfProgram(argv: readonly string[]): boolean {
  return argv.includes('--') || argv.includes('--attach') || (isSea() && argv.includes('--help'));
}

/** Runs the command that the first word names. A function, because the executable is CommonJS, which has no await here. */
async function main(argv: readonly string[]): Promise<void> {
  if (argv[0] === 'demo') {
    await import('../lab/router.ts');
    process.exitCode = await (await import('./demo/command.ts')).demoCommand(argv.slice(1));
  } else if (argv[0] === 'explore' && isOfProgram(argv)) {
    process.exitCode = await (await import('./explore/programs.ts')).exploreProgram(argv.slice(1));
  } else if (argv[0] === 'explore') {
    if (isSea()) refuseInExecutable('explore', '; a program needs none: lostlock explore -- PROGRAM');
    const { exploreAsWorker, exploreCommand } = await import('./explore/command.ts');
    if (process.env.LOSTLOCK_EXPLORE_WORKER !== undefined) exploreAsWorker();
    else process.exitCode = await exploreCommand(argv.slice(1));
  } else if (argv[0] === 'timeline') {
    process.exitCode = await (await import('./timeline.ts')).timelineCommand(argv.slice(1));
  } else if (argv[0] === 'playground') {
    if (isSea()) refuseInExecutable('playground');
    const { playgroundCommand } = await import('./playground.ts');
    process.exitCode = await playgroundCommand(argv.slice(1));
  } else if (argv[0] === 'init') {
    if (isSea()) refuseInExecutable('init');
    process.exitCode = (await import('./init.ts')).initCommand(argv.slice(1));
  } else if (argv[0] === 'help') {
    if (isSea()) refuseHelpInExecutable();
    process.exitCode = (await import('./help.ts')).helpCommand(argv.slice(1));
  } else if (argv.includes('--help') || argv.includes('-h')) {
    console.log((await import('./command-line.ts')).HELP);
  } else if (argv.includes('--version') || argv.includes('-v')) {
    console.log(`lostlock ${LOSTLOCK_VERSION}`);
  } else {
    (await import('./serve.ts')).serverCommand(argv);
  }
}

// A link to this file that is called redis-sentinel starts a Sentinel, as it does for redis-server.
const isSentinel = basename(process.argv[1] ?? '').includes('redis-sentinel');
main([...process.argv.slice(2), ...(isSentinel ? ['--sentinel'] : [])]).catch((error: unknown) => {
  const refusal = systemRefusal(error);
  if (refusal === undefined) throw error;
  console.error(`lostlock: ${refusal}`);
  process.exit(1);
});
