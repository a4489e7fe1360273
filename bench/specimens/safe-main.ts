/** `npm run explore:safe`: plays many worlds of the safe forms, in which nothing may be found, and says how long they took. */
import '../../lab/router.ts';
import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { WORLD_FLAGS } from '../../cli/explore/workers.ts';
import { mergeReports, type ReportData } from '../../explore/index.ts';
import { safeForms } from './safe-forms.ts';
import { search } from './search.ts';

process.setSourceMapsEnabled(false);

const { values } = parseArgs({
  options: {
    worlds: { type: 'string', default: '50000' },
    workers: { type: 'string', default: String(availableParallelism()) },
    only: { type: 'string' },
    /** Set by the process that starts the workers. */
    worker: { type: 'string' },
  },
});
const workers = Number(values.workers);
const only = values.only?.split(',');
const forms = safeForms.filter(
  ({ number }) => only?.some((each) => number.split(' ').includes(each)) ?? true,
);
const each = Math.ceil(Number(values.worlds) / forms.length / workers);

/** What a worker found in its part of a form's worlds. */
interface Part {
  readonly form: number;
  readonly report: ReportData;
  /** Seconds of CPU. */
  readonly cpu: number;
}

if (values.worker === undefined) await main();
else await work(Number(values.worker));

/** Plays one part of every form's worlds. */
async function work(index: number): Promise<void> {
  // Without the process that started it, nobody would ever stop the worker.
  const orphaned = (): never => process.exit(1);
  process.once('disconnect', orphaned);
  for (const [form, specimen] of forms.entries()) {
    const before = process.cpuUsage();
    const report = await search(specimen, specimen.safe, each, { index, of: workers });
    const { user, system } = process.cpuUsage(before);
    process.send?.({ form, report: { ...report }, cpu: (user + system) / 1e6 } satisfies Part);
  }
  process.off('disconnect', orphaned);
  process.disconnect();
}

async function main(): Promise<void> {
  const begun = performance.now();
  const seconds = (): string => `${((performance.now() - begun) / 1000).toFixed(0)} s`;
  const parts: Part[][] = forms.map(() => []);
  let [worlds, findings, cpu] = [0, 0, 0];

  /** Tells how a form did when all of its parts are played. */
  function take(part: Part): void {
    const all = parts[part.form] as Part[];
    all.push(part);
    if (all.length < workers) return;
    const report = mergeReports(all.map((one) => one.report));
    const spent = all.reduce((sum, one) => sum + one.cpu, 0);
    worlds += report.worlds;
    findings += report.findings.length;
    cpu += spent;
    const { number, what } = forms[part.form] as (typeof forms)[number];
    const pace = `${((spent / report.worlds) * 1000).toFixed(1)} ms of CPU for each`;
    console.log(
      `${seconds()}: ${number} (${what}): ${report.worlds} worlds, ${pace}, ${report.findings.length} findings`,
    );
    for (const { story, replay, firstIn } of report.findings)
      console.log(`${story}\nreplay: ${replay} (world ${firstIn})\n`);
  }

  const children = Array.from({ length: workers }, (_, i) => {
    const args = [...process.argv.slice(2), '--worker', String(i + 1)];
    return fork(fileURLToPath(import.meta.url), args, { execArgv: [...process.execArgv, ...WORLD_FLAGS] });
  });
  await Promise.all(children.map((child) => ended(child.on('message', take))));
  const million = ((cpu / worlds) * 1e6) / 3600;
  console.log(
    `${worlds} worlds of ${forms.length} safe forms: ${findings} findings, in ${seconds()} (${cpu.toFixed(0)} s of CPU); ` +
      `at this rate, a million would take ${million.toFixed(1)} hours of CPU`,
  );
  if (findings > 0) process.exitCode = 1;
}

/** Settles when the worker has ended. Rejects when it failed. */
function ended(worker: ChildProcess): Promise<void> {
  return new Promise((done, fail) => {
    worker.once('exit', (status) => {
      if (status === 0) done();
      else fail(new Error(`a worker ended with status ${status}`));
    });
  });
}
